"""The normal form of text in which words are indexed and looked up, the same on both sides.

It holds words and spaces only, so that the parser of PostgreSQL, which sees hosts, paths and tags in running text,
has nothing to guess: `report-2024.pdf` is three words. Scripts that are written without spaces between words become
overlapping pairs: 東京都 is indexed as 東京 京都 都, so that every pair and every single character begins a word.
"""

import re
import unicodedata

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai and Lao, Myanmar, Khmer
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # Hiragana, Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"  # Hangul
)
"""Characters of scripts that are written without spaces, for a character class."""
_RUN = re.compile(f"[{UNSPACED}]+")
_ODD = re.compile(r"[^\w ]")
_MARKS = {"Mn", "Mc"}  # vowel signs and accents belong to their word
UNSEEN = "Cf"
"""The category of soft hyphens, joiners and the like, which part no word."""
_ASCII = {code: " " for code in range(128) if not chr(code).isalnum()}


def search_text(text: str) -> str:
    """The normal form of a text."""
    return _RUN.sub(lambda run: f" {pairs(run[0])} ", spaced(text)) if not text.isascii() else spaced(text)


def spaced(text: str) -> str:
    """Words and spaces only, in lower case; scripts without spaces are left as they are."""
    if text.isascii():
        return text.translate(_ASCII).lower()
    return _without_odd(unicodedata.normalize("NFKC", text).lower())


def pairs(run: str) -> str:
    """The overlapping pairs of a run of characters, and its last character."""
    return " ".join(run[at : at + 2] for at in range(len(run)))


def runs(word: str) -> list[tuple[str, bool]]:
    """The parts of a spaced word, each with whether its script is written without spaces."""
    parts, end = [], 0
    for run in _RUN.finditer(word):
        parts += [(word[end : run.start()], False), (run[0], True)]
        end = run.end()
    return [(part, unspaced) for part, unspaced in [*parts, (word[end:], False)] if part]


def _without_odd(text: str) -> str:
    """The text with a space for every character that is no part of a word, and without those that nobody sees."""
    text = text.replace("_", " ")
    for odd in set(_ODD.findall(text)):
        if (category := unicodedata.category(odd)) not in _MARKS:
            text = text.replace(odd, "" if category == UNSEEN else " ")
    return text
