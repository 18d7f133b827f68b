"""The normal form of a shown text, with the way back: where in the text each of its characters comes from."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from indexer.search.text import UNSEEN

_NOT_ASCII = re.compile("[\x00-\x7f]?[^\x00-\x7f]+")  # with a letter that accents may follow
_CLUSTER = re.compile("(?s:.)(?:[\u0300-\u036f\u3099\u309a\uff9e\uff9f\u1160-\u11ff\u0591-\u05c7\u064b-\u0655])*")


class Folded(NamedTuple):
    """A text in its normal form and small letters: as long as `starts`, if that is not None.

    The n-th character comes from text[starts[n]:ends[n]]; without them it is the n-th of the text.
    """

    text: str
    starts: Sequence[int] | None = None
    ends: Sequence[int] | None = None

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where a stretch, which is not empty, is in the text that was folded."""
        if self.starts is None or self.ends is None:
            return start, end
        return self.starts[start], self.ends[end - 1]


def folded(text: str) -> Folded:
    """Folds a text. Most texts are in the normal form already."""
    if text.isascii() or _is_plain(text):
        return Folded(text.lower())
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end, part, is_plain in _parts(text):
        parts.append(part)
        if is_plain:
            starts += range(start, end)
            ends += range(start + 1, end + 1)
        else:
            starts += [start] * len(part)
            ends += [end] * len(part)
    return Folded("".join(parts), starts, ends)


def _parts(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """Stretches that fold by themselves: (start, end, folded, whether each character is one again)."""
    at = 0
    for run in _NOT_ASCII.finditer(text):
        yield at, run.start(), text[at : run.start()].lower(), True
        at = run.end()
        if _is_plain(run[0]):
            yield run.start(), at, run[0].lower(), True
            continue
        for cluster in _CLUSTER.finditer(text, run.start(), at):
            part = unicodedata.normalize("NFKC", cluster[0]).lower()
            yield *cluster.span(), "".join(one for one in part if unicodedata.category(one) != UNSEEN), False
    yield at, len(text), text[at:].lower(), True


def _is_plain(text: str) -> bool:
    """Whether its normal form is the text itself, but for small letters."""
    return (
        unicodedata.is_normalized("NFKC", text)
        and len(text.lower()) == len(text)
        and (text.isprintable() or not any(unicodedata.category(one) == UNSEEN for one in set(text)))
    )
