"""The passages that are shown: cut down to the places that match, with their pages, the same for every backend."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from uuid import UUID

import orjson

from indexer.search.backend import HitPassage
from indexer.search.highlight import highlight
from indexer.search.terms import Terms

MOST_PASSAGES = 3
"""Of one hit."""


class Piece(NamedTuple):
    """A row (rows.py) of a document that may be shown.

    `breaks` holds (offset, page) one after the other, `headings` is JSON of [offset, heading].
    """

    document_id: UUID
    page: int | None
    breaks: Sequence[int]
    member: str | None
    headings: str | None
    body: str

    def page_at(self, offset: int) -> int | None:
        """The page that has this offset of the text."""
        begun = zip(self.breaks[::2], self.breaks[1::2], strict=True)
        return [self.page, *(page for start, page in begun if start <= offset)][-1]

    def heading_at(self, offset: int) -> str | None:
        """The heading that this offset of the text stands under."""
        begun: list[tuple[int, str]] = orjson.loads(self.headings) if self.headings else []
        return ["", *(heading for start, heading in begun if start <= offset)][-1] or None


def marked(terms: Terms, pieces: Iterable[Piece]) -> dict[UUID, list[HitPassage]]:
    """The passages of each document, of the first pieces first; one where nothing matches shows how it begins."""
    shown = list(pieces)
    found: dict[UUID, list[HitPassage]] = {}
    windows = highlight(terms, [piece.body for piece in shown])
    for piece, places in zip(shown, windows, strict=True):
        passages = [
            HitPassage(piece.page_at(place.start), piece.member, piece.heading_at(place.start), place.html)
            for place in places
        ]
        found[piece.document_id] = [*found.get(piece.document_id, []), *passages][:MOST_PASSAGES]
    return found
