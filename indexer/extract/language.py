"""Which language a text is in: by its script, and within a script by the small words that every sentence needs.

Only a sample is looked at, taken from all over the text. There is no model: a table of a few thousand words is as sure
on running text, costs microseconds, and always says the same (docs/decisions/0019).
"""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from struct import Struct
from typing import NamedTuple, TypeVar

from indexer.extract.function_words import FUNCTION_WORDS, TELLING_LETTERS
from indexer.extract.types import Block, Passage

SAMPLES = (300, 1200)
"""Characters that are looked at: few, and more only where those do not tell."""
STRETCHES = 4
_CUT = "\0"
"""Between two stretches: makes one word, that no language has, of the two that they cut."""
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
_LEAST_OF_LATIN = 0.25
"""So much weighs a Latin letter beside another script at least."""
_ASCII = bytes(range(128))
_NO_ASCII_LETTERS = bytes(code for code in range(256) if code > 127 or not chr(code).isalpha())
# What parts words: all of ASCII but letters, and in UTF-8 the spaces, quotation marks and dashes of Latin-1 and of
# general punctuation; neither the dot of Catalan nor the joiners of Persian.
_APART = bytes(code if chr(code).isalpha() or code > 127 or chr(code) == _CUT else 32 for code in range(256))
_SIGN = re.compile(rb"\xc2[\x80-\xb6\xb8-\xbf]|\xe2\x80[\x80-\x8b\x8e-\xbf]")
_SHARED = frozenset({"Latin", "Cyrillic", "Arabic", "Devanagari", "Hebrew"})
"""Scripts in which several languages are written."""


def language_of(blocks: Sequence[Block | Passage]) -> Language | None:
    """The language that most of a document is in; None where the text does not tell."""
    return next((told for size in SAMPLES if (told := language_in(sample(blocks, size)))), None)


def language_in(text: str) -> Language | None:
    """The language of a short text."""
    data = text.lower().encode("utf-8", "replace")
    beyond_ascii = {} if data.isascii() else Counter(data.translate(None, _ASCII).decode())
    letters = _letters(len(data.translate(None, _NO_ASCII_LETTERS)), beyond_ascii)
    if sum(letters.values()) < FEWEST_LETTERS:
        return None
    unshared = not letters.keys() <= _SHARED
    if unshared and (told := _by_script(letters)):
        return told
    words = set((_SIGN.sub(b" ", data) if beyond_ascii else data).translate(_APART).split())
    small_words = _votes(_BY_WORD, words)
    if unshared and (told := _by_script(_weighed(letters, words, max(_counted(small_words))))):
        return told
    return _by_words(words, small_words, _votes(_BY_LETTER, beyond_ascii))


def _by_script(letters: Mapping[str, float]) -> Language | None:
    """The language that alone is written in the script of most letters."""
    script = max(letters, key=letters.__getitem__)
    return None if script in _SHARED else _told(script, letters[script] / sum(letters.values()))


def _weighed(letters: Mapping[str, float], words: Iterable[bytes], most: int) -> Mapping[str, float]:
    """Latin letters beside a script of one language are often names and code: they weigh as far as they are a text."""
    share = most / max(1, sum(map(bytes.isascii, words)))
    return {**letters, "Latin": letters["Latin"] * max(_LEAST_OF_LATIN, share)}


def _by_words(words: Collection[bytes], small_words: int, letters: int) -> Language | None:
    """The language that has most of the small words, each counted once, so that a column of `or` is not English."""
    found = _counted(small_words + letters)
    most = max(found)
    at = found.index(most)
    of = len(words) if _CODES[at] in _LATIN else len(words) - sum(map(bytes.isascii, words))
    if most - _counted(letters)[at] < max(1, _FEWEST_OF_WORDS * of):
        return None
    found[at] = 0
    # The more of them the next language lacks, the surer it is.
    return _told(_CODES[at], 1 / (1 + math.exp(max(found) - most)))


def sample(blocks: Sequence[Block | Passage], size: int) -> str:
    """About `size` characters: all of a short text, else stretches from all over it."""
    texts = [block.text for block in blocks]
    ends = list(accumulate(map(len, texts)))
    total = ends[-1] if ends else 0
    if total <= size:
        return " ".join(texts)
    length = size // STRETCHES
    return _CUT.join(_stretch(texts, ends, total * n // STRETCHES, length) for n in range(STRETCHES))


def _stretch(texts: list[str], ends: list[int], start: int, length: int) -> str:
    """So many characters from this offset on; what a text has less, its followers make up for."""
    at = bisect_right(ends, start)
    begin = start - ends[at] + len(texts[at])
    stretch = texts[at][begin : begin + length]
    while len(stretch) < length and (at := at + 1) < len(texts):
        stretch += texts[at][: length - len(stretch)]
    return stretch


def _told(code: str, confidence: float) -> Language | None:
    return Language(code, round(confidence, 2)) if code and confidence >= SURE else None


def _letters(ascii_letters: int, beyond_ascii: Mapping[str, int]) -> Mapping[str, int]:
    """How many letters are of each script, or of the language that alone is written in it."""
    if not beyond_ascii:
        return {"Latin": ascii_letters}
    letters = Counter(Latin=ascii_letters)
    for character, count in beyond_ascii.items():
        if (script := _script(character)) is not None:
            letters[script] += count * _DENSE.get(script, 1)
    if letters["Han"]:
        letters["ja" if letters["ja"] > _KANA_SHARE * letters["Han"] else "zh"] += letters.pop("Han")
    return letters


@lru_cache(1 << 12)
def _script(character: str) -> str | None:
    """That of a letter, or the language that alone is written in it; None of what is no letter."""
    return _SCRIPTS[bisect_right(_BEGINNINGS, ord(character)) - 1][1] if character.isalpha() else None


_CODES = [*dict.fromkeys([*FUNCTION_WORDS, *TELLING_LETTERS])]
_Thing = TypeVar("_Thing", str, bytes)
_BALLOT = Struct(f"<{len(_CODES)}H")
"""Votes for all languages as one number, in two bytes for each, so that adding two such numbers adds all votes at once.
None is carried over to the next language: none has as many words as two bytes can count."""


def _votes(table: Mapping[_Thing, int], things: Iterable[_Thing]) -> int:
    """The votes of these words or letters, each of which comes once."""
    return sum(filter(None, map(table.get, things)))


def _counted(votes: int) -> list[int]:
    """How many each language of `_CODES` has."""
    return [*_BALLOT.unpack(votes.to_bytes(_BALLOT.size, "little"))]


def _table(units: Mapping[str, Iterable[str]]) -> dict[str, int]:
    """For each word or letter a ballot with one vote for every language that has it."""
    table: dict[str, int] = {}
    for code, things in units.items():
        vote = 1 << 16 * _CODES.index(code)
        for thing in set(things):
            table[thing] = table.get(thing, 0) + vote
    return table


_BY_WORD = {
    word.encode(): vote
    for word, vote in _table({code: words.split() for code, words in FUNCTION_WORDS.items()}).items()
}
_BY_LETTER = _table(TELLING_LETTERS)
_LATIN = {code for code, words in FUNCTION_WORDS.items() if words < "\u0250"}
