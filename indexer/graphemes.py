"""Where a text may be cut: between characters as people see them, which may be several to Unicode."""

import re
import unicodedata

_JOINER = "\u200d"
_MARKS = frozenset({"Mn", "Mc", "Me"})
"""Accents, vowel signs, variation selectors."""
_JOINED = re.compile(  # vowels and ends of Korean syllables, voicing of narrow kana, Thai and Lao am, skin tones, tags
    "[\u1160-\u11ff\ud7b0-\ud7ff\uff9e\uff9f\u0e33\u0eb3\u200c\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
)
_FLAG_LETTERS = re.compile("[\U0001f1e6-\U0001f1ff]+$")
_FARTHEST = 64
"""A longer heap of accents is cut anywhere."""


def boundary(text: str, at: int) -> int:
    """The last place up to `at` where no character that people see is cut in two."""
    place = at
    while at - _FARTHEST < place and 0 < place < len(text) and _is_inside(text, place):
        place -= 1
    return place if place > 0 and at - _FARTHEST < place else at


def _is_inside(text: str, at: int) -> bool:
    after = text[at]
    if after.isascii():
        return after == "\n" and text[at - 1] == "\r"
    if text[at - 1] == _JOINER or _JOINED.match(after) or unicodedata.category(after) in _MARKS:
        return True
    if _FLAG_LETTERS.match(after) is None:
        return False
    letters = _FLAG_LETTERS.search(text, max(0, at - 2 * _FARTHEST), at)
    return letters is not None and len(letters[0]) % 2 == 1  # two of them are a flag
