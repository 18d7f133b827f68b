"""The source of an RTF file in tokens: runs of words, stretches of text, braces, what is not RTF, and signs."""

import re
from functools import lru_cache

from indexer.extract.rtf.words import AROUND, ASIDES, READ_THOUGH_STARRED, SIGNS, UNREAD

_WORD = re.compile(r"\\([a-zA-Z]{1,32})(-?[0-9]{1,10})?")
TOKEN = re.compile(
    r"""((?:\\(?!bin(?![a-zA-Z]))[a-zA-Z]{1,32}(?:-?[0-9]{1,10})?\ ?){1,32}+)  # words with their numbers
    |((?:[^\\{}\r\n\x00]++|\\'[0-9a-fA-F]{2})+)                              # text, and bytes of it
    |([{}])
    |\\bin(-?[0-9]{1,10})?\ ?                                                # behind it stands no RTF
    |\\(.)                                                                   # a sign
    |[\r\n\x00]+
    |.""",
    re.VERBOSE | re.DOTALL,
)
RUN, TEXT, BRACE, BINARY, SIGN = range(1, 6)
"""The group of a match of TOKEN, which tells what it is."""

_MEANT = (
    UNREAD | READ_THOUGH_STARRED | ASIDES | AROUND | SIGNS.keys()
    | {"u", "par", "sect", "page", "uc", "f", "fcharset", "ansicpg", "mac", "pc", "pca", "deleted", "plain", "pard"}
    | {"outlinelevel", "title", "fldinst"}
)  # fmt: skip
_RUNS_REMEMBERED = 2048


@lru_cache(_RUNS_REMEMBERED)
def meant(run: str) -> tuple[tuple[str, int | None], ...]:
    """The words with their numbers that mean something here; '' for some that only say what something looks like.

    Programs write the same runs again and again.
    """
    words: list[tuple[str, int | None]] = []
    for word, number in _WORD.findall(run):
        if word in _MEANT:
            words.append((word, int(number) if number else None))
        elif not words or words[-1][0]:
            words.append(("", None))
    return tuple(words)


def with_bytes(text: str) -> str:
    """A stretch of text with its bytes in the places of their escapes, as Latin-1."""
    return text.replace("\\'", "\\x").encode("latin-1").decode("unicode_escape") if "\\" in text else text
