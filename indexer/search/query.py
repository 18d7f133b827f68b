"""What a person typed, understood: words, "phrases", -word and OR. Whatever the input, there is no syntax error.

A quoted phrase must be in the document; of the words as many as possible. `a OR b c` means (a or b) and c.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from indexer.search.text import pairs, runs, search_text, spaced
from pipeline.errors import Invalid
from pipeline.sanitise import clean_text

MOST_CHARACTERS = 2000
LONGEST_WORD_BYTES = 2000
"""PostgreSQL indexes no word over 2,046 bytes and refuses to look one up."""
LONGEST_RUN = 4
"""A longer run of a script without spaces is a sentence, of which some pairs will do."""
MOST_EXCLUDED = 100
"""An engine may refuse a query of more than a thousand clauses."""

_PART = re.compile(r'(-?)"([^"]*)(?:"|$)|([^\s"]+)')
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»「」『』〝〞〟", '"'))


@dataclass(frozen=True, slots=True)
class Atom:
    """What is looked up as one: a word, or words that follow each other. `quoted` means as it stands."""

    words: tuple[str, ...]
    quoted: bool = False

    def operand(self, words: Iterable[str]) -> str:
        """The operand for to_tsquery with these forms of its words, which hold neither quotes nor backslashes."""
        return " <-> ".join(f"'{word}'" for word in words) + (":*" if self.is_beginning else "")

    @property
    def is_beginning(self) -> bool:
        """Whether the last word stands for all that begin with it, as a lone character of some scripts does."""
        return _is_lone(self.words[-1])


@dataclass(frozen=True, slots=True)
class Query:
    """Alternatives, of as many as possible of which one shall be there, and what must not be there."""

    clauses: tuple[tuple[Atom, ...], ...]
    excluded: tuple[Atom, ...]


def parse(text: str) -> Query:
    """Understands a query. Raises Invalid when it is too long, excludes too much or looks for nothing."""
    if len(text) > MOST_CHARACTERS:
        raise Invalid("query_too_long", f"The query has {len(text)} characters; the most is {MOST_CHARACTERS}.")
    clauses: list[tuple[Atom, ...]] = []
    excluded: list[Atom] = []
    joining = False
    for part, minus, quoted in _parts(text):
        if part == "OR" and not quoted and not minus:
            joining = bool(clauses)
            continue
        if minus:
            excluded += _phrase(part, quoted=quoted)
        elif joining and (atoms := _phrase(part, quoted=quoted)):
            clauses[-1] += tuple(atoms)
        else:
            clauses += [(atom,) for atom in (_phrase(part, quoted=True) if quoted else _words(part))]
        joining = False
    if not clauses:
        detail = "The query only says what must not be there." if excluded else "The query has no word to look for."
        raise Invalid("query_only_excludes" if excluded else "query_empty", detail)
    unwanted = tuple(dict.fromkeys(excluded))
    if len(unwanted) > MOST_EXCLUDED:
        raise Invalid("query_too_long", f"The query excludes {len(unwanted)} words; the most is {MOST_EXCLUDED}.")
    return Query(tuple(dict.fromkeys(clauses)), unwanted)


def _parts(text: str) -> Iterator[tuple[str, bool, bool]]:
    """(text, whether a minus stood before it, whether it was quoted)."""
    for minus, phrase, word in _PART.findall(unicodedata.normalize("NFKC", clean_text(text).translate(_QUOTES))):
        if word:
            yield (word[1:], True, False) if word[0] == "-" else (word, False, False)
        else:
            yield phrase, bool(minus), True


def _phrase(text: str, *, quoted: bool) -> list[Atom]:
    """The words of a text, to be found next to each other."""
    words = [word for word in search_text(text).split() if len(word.encode()) <= LONGEST_WORD_BYTES]
    if len(words) > 1 and _is_lone(words[-1]) and len(words[-2]) == 2 and words[-2][1] == words[-1]:
        words.pop()  # the end of a run, which goes on in some texts
    return [Atom(tuple(words), quoted)] if words else []


def _words(text: str) -> Iterator[Atom]:
    """The parts of an unquoted word that may also stand apart."""
    parts = [part for word in spaced(text).split() for part in runs(word)]
    if not any(unspaced for _, unspaced in parts):
        yield from _phrase(text, quoted=False)
        return
    for part, unspaced in parts:
        if unspaced and len(part) > LONGEST_RUN:
            yield from (Atom((pair,)) for pair in pairs(part).split()[:-1])
        else:
            yield from _phrase(part, quoted=False)


def _is_lone(word: str) -> bool:
    """A single character of a script without spaces begins all the pairs that have it first."""
    return len(word) == 1 and runs(word)[0][1]
