"""The page of hits in PostgreSQL: what is known of each document, with its best passages."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Connection, Row, text

from indexer.search.backend import Hit, HitPassage
from indexer.search.hits import Piece, marked
from indexer.search.terms import Terms

_DOCUMENTS = text("""
    SELECT e.document_id, d.input_version, e.version, c.name AS collection, e.key, e.title, s.media_type,
           s.language, e.accepted_at
    FROM entries e JOIN shelves s USING (shelf_id) JOIN collections c ON c.collection_id = s.collection_id
    LEFT JOIN documents d ON d.document_id = e.document_id
    WHERE e.document_id = ANY(:document_ids) AND NOT e.tombstone
""")
_PASSAGES = text("""
    SELECT p.document_id, p.page, p.breaks, p.member, p.headings, p.body
    FROM unnest(CAST(:document_ids AS uuid[]), CAST(:ns AS integer[])) WITH ORDINALITY AS wanted (document_id, n, place)
    JOIN passages p USING (document_id, n) ORDER BY place
""")


class Found(NamedTuple):
    """A document to show, with the numbers of its passages that match best; none when only its title does."""

    document_id: UUID
    score: Decimal
    ns: Sequence[int]


def show(connection: Connection, terms: Terms, found: Sequence[Found]) -> list[Hit]:
    """The hits in the order of `found`; a document that was deleted a moment ago is left out."""
    ids = [one.document_id for one in found]
    documents = {row.document_id: row for row in connection.execute(_DOCUMENTS, {"document_ids": ids})}
    passages = marked(terms, _pieces(connection, found))
    return [
        _hit(documents[one.document_id], one, passages.get(one.document_id, []))
        for one in found
        if one.document_id in documents
    ]


def _pieces(connection: Connection, found: Sequence[Found]) -> list[Piece]:
    """The best rows of each document; a title's match shows how the text begins."""
    wanted = [(one.document_id, n) for one in found for n in one.ns or (1,)]
    parameters = {"document_ids": [document_id for document_id, _ in wanted], "ns": [n for _, n in wanted]}
    rows = connection.execute(_PASSAGES, parameters)
    return [Piece(row.document_id, row.page, row.breaks or (), row.member, row.headings, row.body) for row in rows]


def _hit(row: Row[tuple[Any, ...]], found: Found, passages: list[HitPassage]) -> Hit:
    return Hit(
        document_id=row.document_id,
        input_version=row.input_version,
        published_version=row.version,
        collection=row.collection,
        key=row.key,
        title=row.title,
        media_type=row.media_type,
        language=row.language or None,
        accepted_at=row.accepted_at,
        score=float(found.score),
        passages=passages,
    )
