"""The places of a passage that match, as HTML: escaped text with <mark> around the words, and nothing else.

Words of the passages that have a stem in common with a wanted one, in any of the languages that were asked in, become
one pattern for each atom of the query. It looks for them in the normal form and marks them in the text as it was.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

from indexer.graphemes import boundary
from indexer.search.folding import folded
from indexer.search.query import Atom
from indexer.search.stems import stemmer
from indexer.search.terms import Terms
from indexer.search.text import UNSPACED, search_text

WINDOW = 300
"""Characters of a passage that are shown."""
LEAD = 60
"""Characters before the first marked word."""
MOST_WINDOWS = 2

_LETTER = re.compile(rf"(?![{UNSPACED}])[^\W_]")
_UNSPACED = re.compile(f"[{UNSPACED}]")


class Window(NamedTuple):
    """A part of a passage as HTML, and where in the passage its first marked word is."""

    html: str
    start: int


class _Mark(NamedTuple):
    """A place to mark, and the number of the atom that is there."""

    start: int
    end: int
    atom: int


def highlight(terms: Terms, bodies: Sequence[str]) -> list[list[Window]]:
    """For each body its best windows, at most MOST_WINDOWS. It is shown as it is, whatever its normal form."""
    atoms = [term.atom for term in terms.terms]
    patterns = _patterns(atoms, _forms({word for atom in atoms for word in atom.words}, terms.languages, bodies))
    return [_windows(body, sorted(_marks(body, patterns))) for body in bodies]


def _forms(wanted: set[str], languages: Iterable[str], bodies: Sequence[str]) -> Mapping[str, Collection[str]]:
    """The forms of each wanted word that occur in the bodies. Characters without spaces stand for themselves."""
    spaced = {word for word in wanted if not _UNSPACED.match(word)}
    words = {word for body in bodies for word in search_text(body).split()} if spaced else set()
    forms: dict[str, set[str]] = {word: {word} & words for word in spaced} | {word: {word} for word in wanted - spaced}
    for stem in map(stemmer, languages):
        alike: dict[str, list[str]] = {}
        for word in spaced:
            alike.setdefault(stem(word), []).append(word)
        for form, its_stem in zip(words, map(stem, words), strict=True):
            for word in alike.get(its_stem, ()):
                forms[word].add(form)
    return forms


def _patterns(atoms: Sequence[Atom], forms: Mapping[str, Collection[str]]) -> list[re.Pattern[str] | None]:
    """What matches each atom; None where one of its words is in none of the bodies."""
    return [
        re.compile(_pattern(atom, forms)) if all(forms.get(word) for word in atom.words) else None for atom in atoms
    ]


def _pattern(atom: Atom, forms: Mapping[str, Collection[str]]) -> str:
    """Quick to compile and to run; whether words begin and end at its ends is asked afterwards."""
    pattern, before = "", ""
    for word in atom.words:
        after_run = bool(before) and _UNSPACED.match(before) is not None
        if not _UNSPACED.match(word):
            any_form = "|".join(map(re.escape, sorted(forms[word], key=len, reverse=True)))
            pattern += ("" if not before else r"[\W_]*" if after_run else r"[\W_]+") + f"(?:{any_form})"
        elif after_run and before[-1] == word[0]:
            pattern += re.escape(word[1:])  # the pairs of one run overlap
        else:
            pattern += (r"[\W_]*" if before else "") + re.escape(word)
        before = word
    return pattern


def _marks(body: str, patterns: Sequence[re.Pattern[str] | None]) -> Iterator[_Mark]:
    form = folded(body)
    for number, pattern in enumerate(patterns):
        for found in pattern.finditer(form.text) if pattern is not None else ():
            start, end = found.span()
            if _is_between(form.text, start) and _is_between(form.text, end):
                yield _Mark(*form.place(start, end), number)


def _is_between(folded: str, at: int) -> bool:
    """Whether a word may begin or end here: not with letters of a script with spaces on both sides."""
    return not (0 < at < len(folded) and _LETTER.match(folded, at - 1) and _LETTER.match(folded, at))


def _windows(body: str, marks: list[_Mark]) -> list[Window]:
    """The best window, then the best among the marks outside of it; the beginning when nothing is marked."""
    if not marks:
        return [Window(_html(body, 0, _end(body, 0), []), 0)]
    windows: list[Window] = []
    while marks and len(windows) < MOST_WINDOWS:
        first = marks[_best(marks)].start
        start = _between_words(body, max(0, first - LEAD))
        end = _end(body, start)
        windows.append(Window(_html(body, start, end, marks), first))
        marks = [mark for mark in marks if mark.end <= start - WINDOW or mark.start >= end + LEAD]
    return windows


def _best(marks: list[_Mark]) -> int:
    """The mark from which on a window holds the most different atoms, then the most marks."""
    best, choice, end = (0, 0), 0, 0
    inside: Counter[int] = Counter()
    for first, mark in enumerate(marks):
        while end < len(marks) and marks[end].end <= mark.start + WINDOW - LEAD:
            inside[marks[end].atom] += 1
            end += 1
        if (worth := (len(+inside), inside.total())) > best:
            best, choice = worth, first
        inside[mark.atom] -= 1
    return choice


def _end(body: str, start: int) -> int:
    return _between_words(body, start + WINDOW) if start + WINDOW < len(body) else len(body)


def _between_words(body: str, at: int) -> int:
    """The place after the nearest space before `at`, or `at` when there is none near; no character is cut."""
    return max(body.rfind(" ", max(0, at - LEAD // 2), at) + 1, 0) or boundary(body, at)


def _html(body: str, start: int, end: int, marks: list[_Mark]) -> str:
    """The part of a body from `start` to `end`, escaped, with the marks in it."""
    html = ["…" if start else ""]
    at = start
    for mark in marks:
        if mark.end > at and mark.start >= start and mark.end <= end:
            html += [escape(body[at : mark.start]), "<mark>", escape(body[max(at, mark.start) : mark.end]), "</mark>"]
            at = mark.end
    html += [escape(body[at:end]), "…" if end < len(body) else ""]
    return "".join(html).replace("</mark><mark>", "")
