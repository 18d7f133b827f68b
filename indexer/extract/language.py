"""Which language a text is in: by its script, and within a script by the small words that every sentence needs.

Only a sample is looked at, taken from all over the text. There is no model: a table of a few thousand words is as sure
on running text, costs microseconds, and always says the same (docs/decisions/0019).
"""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from indexer.extract.function_words import FUNCTION_WORDS, TELLING_LETTERS
from indexer.extract.types import Block, Passage

SAMPLE = 600
"""Characters that are looked at."""
STRETCHES = 4
FEWEST_LETTERS = 20
"""Less text tells nothing."""
SURE = 0.8
"""A less likely language is not told."""


class Language(NamedTuple):
    """An ISO 639-1 code, and how likely it is, up to 1."""

    code: str
    confidence: float


_SCRIPTS = (  # where each begins, with the language if only one of note is written in it; "" is written in none
    (0x0000, ""), (0x0041, "Latin"), (0x0250, ""), (0x0370, "el"), (0x0400, "Cyrillic"), (0x0530, "hy"),
    (0x0590, "Hebrew"), (0x0600, "Arabic"), (0x0700, ""), (0x0750, "Arabic"), (0x0780, ""), (0x0900, "Devanagari"),
    (0x0980, "bn"), (0x0A00, "pa"), (0x0A80, "gu"), (0x0B00, "or"), (0x0B80, "ta"), (0x0C00, "te"), (0x0C80, "kn"),
    (0x0D00, "ml"), (0x0D80, "si"), (0x0E00, "th"), (0x0E80, "lo"), (0x0F00, "bo"), (0x1000, "my"), (0x10A0, "ka"),
    (0x1100, "ko"), (0x1200, "am"), (0x1380, ""), (0x1780, "km"), (0x1800, ""), (0x1E00, "Latin"), (0x1F00, "el"),
    (0x2000, ""), (0x3041, "ja"), (0x3100, ""), (0x3130, "ko"), (0x3190, ""), (0x3400, "Han"), (0xA000, ""),
    (0xAC00, "ko"), (0xD7B0, ""), (0xF900, "Han"), (0xFB00, ""), (0xFB1D, "Hebrew"), (0xFB50, "Arabic"), (0xFE00, ""),
    (0xFE70, "Arabic"), (0xFF00, ""), (0xFF66, "ja"), (0xFFA0, ""), (0x20000, "Han"), (0x30000, ""),
)  # fmt: skip
_BEGINNINGS = [start for start, _ in _SCRIPTS]
_DENSE = {"Han": 3, "ja": 3, "ko": 2}
"""Scripts of which one character says as much as so many letters."""
_KANA_SHARE = 0.05
"""Japanese has more of it among its Chinese characters."""
_FEWEST_OF_WORDS = 1 / 12
"""Lists of names and numbers have some words by chance; a language has many more."""
_MOST_OF_ONE = 4
"""How often one word counts, so that a column of `or` is not English."""
_APART = bytes(code if chr(code).isalpha() or code > 127 else 32 for code in range(256))  # what else parts words
_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())
_SHARED = frozenset({"Latin", "Cyrillic", "Arabic", "Devanagari", "Hebrew"})
"""Scripts in which several languages are written."""


def language_of(blocks: Sequence[Block | Passage]) -> Language | None:
    """The language that most of a document is in; None where the text does not tell."""
    return language_in(sample(blocks))


def language_in(text: str) -> Language | None:
    """The language of a short text."""
    text = text.lower()
    characters = Counter("" if text.isascii() else text)
    script, share, letters = _script(text, characters)
    if letters < FEWEST_LETTERS:
        return None
    if script not in _SHARED:
        return _told(script, share)
    code, confidence = _by_words(_words(text), characters)
    return _told(code, share * confidence)


def sample(blocks: Sequence[Block | Passage]) -> str:
    """Up to SAMPLE characters: all of a short text, else stretches from all over it."""
    total = sum(len(block.text) for block in blocks)
    if total <= SAMPLE:
        return " ".join(block.text for block in blocks)
    starts = [total * n // STRETCHES for n in range(STRETCHES)]
    return " ".join(_stretches(blocks, starts, SAMPLE // STRETCHES))


def _stretches(blocks: Sequence[Block | Passage], starts: list[int], length: int) -> Iterator[str]:
    """So many characters from each of these offsets on; what a block has less, its followers make up for."""
    wanted = iter([*starts, None])
    start, missing, offset = next(wanted), 0, 0
    for block in blocks:
        end = offset + len(block.text)
        at = offset
        while at < end:
            if missing == 0:
                if start is None or start >= end:
                    break
                at, missing, start = max(at, start), length, next(wanted)
            yield (stretch := block.text[at - offset : at - offset + missing])
            at, missing = at + len(stretch), missing - len(stretch)
        offset = end


def _told(code: str, confidence: float) -> Language | None:
    return Language(code, round(confidence, 2)) if code and confidence >= SURE else None


def _script(text: str, characters: Counter[str]) -> tuple[str, float, int]:
    """The script of most letters, or the language that alone is written in it; its share, and how many letters."""
    if text.isascii():
        return "Latin", 1.0, len(text.encode().translate(None, _NO_LETTERS))
    letters: Counter[str] = Counter()
    for character, count in characters.items():
        if character.isalpha():
            script = _SCRIPTS[bisect_right(_BEGINNINGS, ord(character)) - 1][1]
            letters[script] += count * _DENSE.get(script, 1)
    if letters["Han"]:
        letters["ja" if letters["ja"] > _KANA_SHARE * letters["Han"] else "zh"] += letters.pop("Han")
    (script, most), *_ = letters.most_common(1) or [("", 0)]
    total = letters.total()
    return script, most / total if total else 0.0, total


def _words(text: str) -> list[str]:
    return text.encode("utf-8", "replace").translate(_APART).decode().replace("’", " ").split()  # noqa: RUF001 - apostrophe


def _by_words(words: list[str], characters: Counter[str]) -> tuple[str, float]:
    """The language whose small words and letters are the most; the more of them others lack, the surer it is."""
    found: dict[str, int] = defaultdict(int)
    for table, things in ((_BY_WORD, words), (_BY_LETTER, characters.elements())):
        for thing, times in Counter(filter(table.__contains__, things)).items():
            count = min(times, _MOST_OF_ONE)
            for code in table[thing]:
                found[code] += count
    (next_most, _), (most, code) = [(0, ""), (0, ""), *sorted(zip(found.values(), found, strict=True))][-2:]
    if most < _FEWEST_OF_WORDS * len(words):
        return "", 0.0
    return code, 1 / (1 + math.exp(next_most - most))


def _table(units: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Which languages have each word, or letter."""
    table: dict[str, list[str]] = defaultdict(list)
    for code, things in units.items():
        for thing in set(things):
            table[thing].append(code)
    return dict(table)


_BY_WORD = _table({code: words.split() for code, words in FUNCTION_WORDS.items()})
_BY_LETTER = _table(TELLING_LETTERS)
