"""The rows of an index: stretches of a document's text that are ranked as one, with the pages they run over.

Small passages share a row, since every row costs its own postings: of documents of 5 KB, one row each is published
faster than four and ranked no worse. A passage that would not fit into a tsvector (16,383 positions) is cut. A document
has at most MOST_ROWS, since OpenSearch takes no more than 10,000: a very long text gets longer rows, and of thousands
of small members several share a row that names the first and the last.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from indexer.graphemes import boundary
from indexer.search.backend import Entry, Passage
from indexer.search.stems import stems
from indexer.search.text import search_text

ROW_CHARACTERS = 6000
"""Of a row's text. Even as many words of one letter are far below the limits of a tsvector."""
MOST_ROWS = 5000
NAME_CHARACTERS = 4000
"""Of a title, as words to search for."""
MEDIA_TYPE_CHARACTERS = 255
HEADING_CHARACTERS = 500


class Row(NamedTuple):
    """A stretch of text, and the stems of its words.

    `breaks` holds offsets in the body and the pages that begin there, in turn, `headings` offsets with the headings
    that begin there; `length` is in words.
    """

    n: int
    page: int | None
    breaks: tuple[int, ...]
    length: int
    member: str | None
    headings: tuple[tuple[int, str], ...]
    body: str
    words: str


class _Piece(NamedTuple):
    text: str
    page: int | None
    member: str | None
    heading: str | None


class _Limits(NamedTuple):
    characters: int
    mixed: bool  # whether members may share a row


def name_words(entry: Entry) -> str:
    """The stems of the words of an entry's title and key."""
    return stems(search_text(f"{entry.title[:NAME_CHARACTERS]} {entry.key or ''}"), entry.language)


def rows_of(entry: Entry) -> Iterator[Row]:
    """The rows of an entry, numbered from 1; a tombstone has none."""
    passages = () if entry.tombstone else entry.passages
    pieces = (piece for passage in passages for piece in _pieces(passage))
    for n, group in enumerate(_groups(pieces, _limits(passages)), start=1):
        body = "".join(piece.text for piece in group)
        words = stems(search_text(body), entry.language)
        yield Row(n, group[0].page, _breaks(group), words.count(" ") + 1, _member(group), _headings(group), body, words)


def _limits(passages: Sequence[Passage]) -> _Limits:
    """Two rows that follow each other in one member have more than `characters` together: so there are few enough."""
    total = sum(len(passage.text) for passage in passages)
    members = 1 + sum(one.member != other.member for one, other in pairwise(passages))
    mixed = members > MOST_ROWS // 2
    return _Limits(max(ROW_CHARACTERS, 2 * total // (MOST_ROWS - (1 if mixed else members))), mixed)


def _pieces(passage: Passage) -> Iterator[_Piece]:
    """A passage by pages, cut where it is too long for a row, between words if there is a gap."""
    starts = [(0, passage.page), *passage.breaks]
    ends = [*(offset for offset, _ in passage.breaks), len(passage.text)]
    for (start, page), end in zip(starts, ends, strict=True):
        for text in _cut(passage.text[start:end]):
            yield _Piece(text, page, passage.member, passage.heading)


def _cut(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > ROW_CHARACTERS:
        gap = text.rfind(" ", start + ROW_CHARACTERS // 2, start + ROW_CHARACTERS)
        end = gap + 1 or boundary(text, start + ROW_CHARACTERS)
        yield text[start:end]
        start = end
    yield text[start:]


def _groups(pieces: Iterable[_Piece], limits: _Limits) -> Iterator[list[_Piece]]:
    """Pieces that follow each other, of one member unless there are too many, as many as fit into a row."""
    group: list[_Piece] = []
    size = 0
    for piece in pieces:
        is_other = bool(group) and piece.member != group[-1].member
        if group and (size + len(piece.text) > limits.characters or (is_other and not limits.mixed)):
            yield group
            group, size = [], 0
        elif group and (is_other or piece.page != group[-1].page) and not group[-1].text[-1:].isspace():
            group[-1] = group[-1]._replace(text=group[-1].text + "\n")  # no word runs over a page
        group.append(piece)
        size += len(piece.text)
    if group:
        yield group


def _member(group: Sequence[_Piece]) -> str | None:
    """The member, or the first and the last of several."""
    first, last = group[0].member, group[-1].member
    return first if first == last else f"{first or ''} … {last or ''}"


def _breaks(group: Sequence[_Piece]) -> tuple[int, ...]:
    """Where the next pages begin."""
    breaks: list[int] = []
    offset, page = 0, group[0].page
    for piece in group:
        if piece.page is not None and piece.page != page:
            breaks += (offset, piece.page)
            page = piece.page
        offset += len(piece.text)
    return tuple(breaks)


def _headings(group: Sequence[_Piece]) -> tuple[tuple[int, str], ...]:
    """Where the text under each heading begins; none where there are no headings."""
    found: list[tuple[int, str]] = []
    offset, heading = 0, ""
    for piece in group:
        if (piece.heading or "") != heading:
            heading = piece.heading or ""
            found.append((offset, heading[:HEADING_CHARACTERS]))
        offset += len(piece.text)
    return tuple(found)
