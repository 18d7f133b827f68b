"""The places of a passage that match, as HTML: escaped text with <mark> around the words, and nothing else.

PostgreSQL is asked once which of the passages' words are forms of the wanted ones; these become one pattern for each
atom of the query. (ts_headline marks up what it does not escape, and reads megabytes to show a line.)
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

from sqlalchemy import Connection, text

from indexer.search.query import Atom
from indexer.search.text import UNSPACED, search_text

WINDOW = 300
"""Characters of a passage that are shown."""
LEAD = 60
"""Characters before the first marked word."""
MOST_WINDOWS = 2

_LEXEMES = text("""
    SELECT word, lexeme FROM unnest(CAST(:words AS text[])) AS w (word)
    CROSS JOIN LATERAL (SELECT (tsvector_to_array(to_tsvector('fencepost', word)))[1]) AS l (lexeme)
""")
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


def highlight(connection: Connection, atoms: Sequence[Atom], bodies: Sequence[str]) -> list[list[Window]]:
    """For each body, which is in NFKC, its best windows, at most MOST_WINDOWS."""
    patterns = _patterns(atoms, _forms(connection, {word for atom in atoms for word in atom.words}, bodies))
    return [_windows(body, sorted(_marks(body, patterns))) for body in bodies]


def _forms(connection: Connection, wanted: set[str], bodies: Sequence[str]) -> Mapping[str, Collection[str]]:
    """The forms of each wanted word that occur in the bodies. Characters without spaces stand for themselves."""
    spaced = {word for word in wanted if not _UNSPACED.match(word)}
    beginnings = {_beginning(word) for word in spaced}
    words = {word for body in bodies for word in search_text(body).split()} if spaced else set()
    candidates = {word for word in words if _beginning(word) in beginnings}
    rows = connection.execute(_LEXEMES, {"words": sorted(spaced | candidates)}) if candidates else ()
    lexemes = {row.word: row.lexeme for row in rows}
    same = {word: [form for form in candidates if lexemes[form] == lexemes[word]] for word in spaced & lexemes.keys()}
    return same | {word: [word] for word in wanted - spaced}


def _beginning(word: str) -> str:
    """What the stemmer leaves alone, but for y and i: dying and die begin alike."""
    return word[:2].replace("y", "i")


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
    folded = body.lower()
    if len(folded) != len(body):
        folded = "".join(small if len(small := character.lower()) == 1 else character for character in body)
    for number, pattern in enumerate(patterns):
        for found in pattern.finditer(folded) if pattern is not None else ():
            start, end = found.span()
            if _is_between(folded, start) and _is_between(folded, end):
                yield _Mark(start, end, number)


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
    """The place after the nearest space before `at`, or `at` when there is none near."""
    return max(body.rfind(" ", max(0, at - LEAD // 2), at) + 1, 0) or at


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
