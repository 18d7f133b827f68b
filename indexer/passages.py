"""Cuts a document's text into passages: what the index ranks, and what a reader sees of a hit.

A passage is about as long as a paragraph or three, ends where a paragraph, a sentence or at least a word ends, keeps
its page, and never mixes members. Nothing is lost: the passages joined are the text.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from indexer.extract.types import Block, Passage
from indexer.graphemes import boundary

TARGET = 1200
"""Characters of a passage, unless the document is very long."""

MOST_PASSAGES = 5000
"""A document has no more; a longer one gets larger passages."""

_SLACK = 1.25  # a passage may grow by this much when that makes it end at a better place
# Each matches from the first offset to the last place of its kind, which greed finds from behind.
_ENDS = (
    re.compile(r".*\n[ \t]*\n\s*", re.DOTALL),  # a paragraph
    re.compile(
        r".*[.!?…؟۔।॥።။។。．！？]"  # noqa: RUF001 - CJK
        r"(?:[\"'”’»)\]]*\s+|(?<=[。．！？])[」』”’）]*\s*)",  # noqa: RUF001
        re.DOTALL,
    ),  # a sentence
    re.compile(r".*[\s、，；：\u200b]", re.DOTALL),  # a word, or a part of a CJK sentence  # noqa: RUF001 - CJK
)

_BROKEN_WORD = re.compile(
    r"(?:[\ufffe\x02](?:[ \t]*+\r?\n)?"  # PDFium's mark for a hyphen at the end of a line
    r"|\u00ad[ \t]*+\r?\n"
    r"|(?<=[^\W\d_])-[ \t]*+\r?\n)[ \t]*+(?=(\w))"
)


def cut(blocks: Sequence[Block]) -> list[Passage]:
    """The passages of a document, at most MOST_PASSAGES; pages share one only when there are too many of them.

    Of thousands of members each has its own, and they may be more.
    """
    passages = list(_cut(blocks, TARGET, _page))
    if len(passages) <= MOST_PASSAGES:
        return passages
    total = sum(len(block.text) for block in blocks)
    size = max(1, total // (MOST_PASSAGES // 2))
    members = sum(1 for _ in groupby(blocks, _member))
    most = MOST_PASSAGES if members <= MOST_PASSAGES // 2 else MOST_PASSAGES + members
    while len(passages) > most and size <= 2 * total:
        passages = list(_cut(blocks, size, _member))
        size *= 2
    return passages


def join_broken_words(text: str) -> str:
    """The text with words joined that were broken at the end of a line, if a small letter follows."""
    return _BROKEN_WORD.sub(_join, text)


def _join(end: re.Match[str]) -> str:
    if end[1].islower() or end[0].startswith("\u00ad"):
        return ""
    return end[0] if end[0].startswith("-") else "-"


def _page(block: Block) -> object:
    return block.member, block.page


def _member(block: Block) -> object:
    return block.member


def _cut(blocks: Sequence[Block], size: int, together: Callable[[Block], object]) -> Iterator[Passage]:
    for _, group in groupby(blocks, together):
        yield from _cut_group(group, size)


def _cut_group(blocks: Iterable[Block], size: int) -> Iterator[Passage]:
    """Small blocks share a passage, large ones are cut."""
    waiting: list[Block] = []
    length = 0
    for block in blocks:
        if length + len(block.text) > size * _SLACK:
            yield from _joined(waiting)
            waiting, length = [], 0
        if len(block.text) > size * _SLACK:
            for piece in _pieces(block.text, size):
                yield Passage(piece, block.page, block.member, block.heading)
        else:
            waiting.append(block)
            length += len(block.text)
    yield from _joined(waiting)


def _joined(blocks: list[Block]) -> Iterator[Passage]:
    if not blocks:
        return
    first = blocks[0]
    breaks = []
    offset, page = 0, first.page
    for block in blocks:
        if block.page is not None and block.page != page:
            page = block.page
            breaks.append((offset, page))
        offset += len(block.text)
    yield Passage("".join(block.text for block in blocks), first.page, first.member, first.heading, tuple(breaks))


def _pieces(text: str, size: int) -> Iterator[str]:
    start = 0
    while len(text) - start > size * _SLACK:
        end = _best_end(text, start + size // 2, start + int(size * _SLACK))
        yield text[start:end]
        start = end
    yield text[start:]


def _best_end(text: str, first: int, last: int) -> int:
    """Where to cut between two offsets: after the last paragraph, else sentence, else word, else anywhere in a run."""
    for ends in _ENDS:
        if found := ends.match(text, first, last):
            return found.end()
    return max(first + 1, boundary(text, last))
