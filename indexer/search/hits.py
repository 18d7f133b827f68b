"""The page that is shown: what is known of each document, and its best passages with the words marked."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple, Self
from unicodedata import normalize
from uuid import UUID

from sqlalchemy import Connection, Row, text

from indexer.search.backend import Hit, HitPassage
from indexer.search.highlight import highlight
from indexer.search.query import Atom

MOST_PASSAGES = 3
"""Of one hit."""

_DOCUMENTS = text("""
    SELECT e.document_id, d.input_version, e.version, c.name AS collection, e.key, e.title, s.media_type, e.accepted_at
    FROM entries e JOIN shelves s USING (shelf_id) JOIN collections c ON c.collection_id = s.collection_id
    LEFT JOIN documents d ON d.document_id = e.document_id
    WHERE e.document_id = ANY(:document_ids) AND NOT e.tombstone
""")
_PASSAGES = text("""
    SELECT p.document_id, p.page, p.breaks, p.member, p.body
    FROM unnest(CAST(:document_ids AS uuid[]), CAST(:ns AS integer[])) WITH ORDINALITY AS wanted (document_id, n, place)
    JOIN passages p USING (document_id, n) ORDER BY place
""")


class Found(NamedTuple):
    """A document to show, with the numbers of its passages that match best; none when only its title does."""

    document_id: UUID
    score: Decimal
    ns: Sequence[int]


class _Shown(NamedTuple):
    """A passage to show: its text in normal form, and where its pages begin."""

    document_id: UUID
    member: str | None
    body: str
    pages: list[tuple[int, int | None]]

    @classmethod
    def of(cls, row: Row[tuple[Any, ...]]) -> Self:
        """Normalises page by page, so that each knows where it begins afterwards."""
        breaks = row.breaks or []
        starts = [0, *breaks[::2], len(row.body)]
        body, pages = "", []
        for start, end, page in zip(starts, starts[1:], [row.page, *breaks[1::2]], strict=False):
            pages.append((len(body), page))
            body += normalize("NFKC", row.body[start:end])
        return cls(row.document_id, row.member, body, pages)

    def page_at(self, offset: int) -> int | None:
        """The page that has this offset of the text."""
        return [page for start, page in self.pages if start <= offset][-1]


def show(connection: Connection, atoms: Sequence[Atom], found: Sequence[Found]) -> list[Hit]:
    """The hits in the order of `found`; a document that was deleted a moment ago is left out."""
    ids = [one.document_id for one in found]
    documents = {row.document_id: row for row in connection.execute(_DOCUMENTS, {"document_ids": ids})}
    passages = _passages(connection, atoms, found)
    return [
        _hit(documents[one.document_id], one, passages.get(one.document_id, []))
        for one in found
        if one.document_id in documents
    ]


def _passages(connection: Connection, atoms: Sequence[Atom], found: Sequence[Found]) -> dict[UUID, list[HitPassage]]:
    """The passages of each document; a title's match shows how the text begins."""
    wanted = [(one.document_id, n) for one in found for n in one.ns or (1,)]
    parameters = {"document_ids": [document_id for document_id, _ in wanted], "ns": [n for _, n in wanted]}
    pieces = [_Shown.of(row) for row in connection.execute(_PASSAGES, parameters)]
    shown: dict[UUID, list[HitPassage]] = {}
    for piece, windows in zip(pieces, highlight(connection, atoms, [piece.body for piece in pieces]), strict=True):
        passages = [HitPassage(piece.page_at(window.start), piece.member, window.html) for window in windows]
        shown[piece.document_id] = [*shown.get(piece.document_id, []), *passages][:MOST_PASSAGES]
    return shown


def _hit(row: Row[tuple[Any, ...]], found: Found, passages: list[HitPassage]) -> Hit:
    return Hit(
        document_id=row.document_id,
        input_version=row.input_version,
        published_version=row.version,
        collection=row.collection,
        key=row.key,
        title=row.title,
        media_type=row.media_type,
        accepted_at=row.accepted_at,
        score=float(found.score),
        passages=passages,
    )
