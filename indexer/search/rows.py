"""The rows of `passages`: stretches of a document's text that are ranked as one, with the pages they run over.

Small passages share a row, since every row costs its own postings: of documents of 5 KB, one row each is published
faster than four and ranked no worse. A passage that would not fit into a tsvector (16,383 positions) is cut.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from uuid import UUID

from indexer.search.backend import Entry, Passage
from indexer.search.text import search_text

ROW_CHARACTERS = 6000
"""Of a row's text. Even as many words of one letter are far below the limits of a tsvector."""


class Row(NamedTuple):
    """A row of `passages`. `breaks` holds (offset in the body, page) one after the other, as an array of PostgreSQL."""

    document_id: UUID
    n: int
    shelf_id: int
    page: int | None
    breaks: str | None
    length: int
    member: str | None
    body: str
    words: str


class _Piece(NamedTuple):
    text: str
    page: int | None
    member: str | None


def rows_of(entry: Entry, shelf_id: int) -> Iterator[Row]:
    """The rows of an entry, numbered from 1; a tombstone has none."""
    pieces = () if entry.tombstone else (piece for passage in entry.passages for piece in _pieces(passage))
    for n, group in enumerate(_groups(pieces), start=1):
        body = "".join(piece.text for piece in group)
        words = search_text(body)
        first = group[0]
        length = words.count(" ") + 1
        yield Row(entry.document_id, n, shelf_id, first.page, _breaks(group), length, first.member, body, words)


def _pieces(passage: Passage) -> Iterator[_Piece]:
    """A passage by pages, cut where it is too long for a row, between words if there is a gap."""
    starts = [(0, passage.page), *passage.breaks]
    ends = [*(offset for offset, _ in passage.breaks), len(passage.text)]
    for (start, page), end in zip(starts, ends, strict=True):
        for text in _cut(passage.text[start:end]):
            yield _Piece(text, page, passage.member)


def _cut(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > ROW_CHARACTERS:
        gap = text.rfind(" ", start + ROW_CHARACTERS // 2, start + ROW_CHARACTERS)
        end = gap + 1 or start + ROW_CHARACTERS
        yield text[start:end]
        start = end
    yield text[start:]


def _groups(pieces: Iterable[_Piece]) -> Iterator[list[_Piece]]:
    """Pieces that follow each other in one member, as many as fit into a row."""
    group: list[_Piece] = []
    size = 0
    for piece in pieces:
        if group and (piece.member != group[0].member or size + len(piece.text) > ROW_CHARACTERS):
            yield group
            group, size = [], 0
        if group and piece.page != group[-1].page and not group[-1].text[-1:].isspace():
            group[-1] = group[-1]._replace(text=group[-1].text + "\n")  # no word runs over a page
        group.append(piece)
        size += len(piece.text)
    if group:
        yield group


def _breaks(group: Sequence[_Piece]) -> str | None:
    """Where the next pages begin."""
    breaks: list[int] = []
    offset, page = 0, group[0].page
    for piece in group:
        if piece.page is not None and piece.page != page:
            breaks += (offset, piece.page)
            page = piece.page
        offset += len(piece.text)
    return "{" + ",".join(map(str, breaks)) + "}" if breaks else None
