"""The passages that are shown: cut down to the places that match, with their pages, the same for every backend."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from unicodedata import normalize
from uuid import UUID

from sqlalchemy import Connection

from indexer.search.backend import HitPassage
from indexer.search.highlight import highlight
from indexer.search.query import Atom

MOST_PASSAGES = 3
"""Of one hit."""


class Piece(NamedTuple):
    """A row (rows.py) of a document that may be shown; `breaks` holds (offset, page) one after the other."""

    document_id: UUID
    page: int | None
    breaks: Sequence[int]
    member: str | None
    body: str


class _Shown(NamedTuple):
    """A piece in normal form, and where its pages begin there."""

    body: str
    pages: list[tuple[int, int | None]]

    def page_at(self, offset: int) -> int | None:
        """The page that has this offset of the text."""
        return [page for start, page in self.pages if start <= offset][-1]


def marked(connection: Connection, atoms: Sequence[Atom], pieces: Iterable[Piece]) -> dict[UUID, list[HitPassage]]:
    """The passages of each document, of the first pieces first; one where nothing matches shows how it begins."""
    pieces = list(pieces)
    shown = [_shown(piece) for piece in pieces]
    found: dict[UUID, list[HitPassage]] = {}
    windows = highlight(connection, atoms, [one.body for one in shown])
    for piece, one, places in zip(pieces, shown, windows, strict=True):
        passages = [HitPassage(one.page_at(place.start), piece.member, place.html) for place in places]
        found[piece.document_id] = [*found.get(piece.document_id, []), *passages][:MOST_PASSAGES]
    return found


def _shown(piece: Piece) -> _Shown:
    """Normalises page by page, so that each knows where it begins afterwards."""
    starts = [0, *piece.breaks[::2], len(piece.body)]
    body, pages = "", []
    for start, end, page in zip(starts, starts[1:], [piece.page, *piece.breaks[1::2]], strict=False):
        pages.append((len(body), page))
        body += normalize("NFKC", piece.body[start:end])
    return _Shown(body, pages)
