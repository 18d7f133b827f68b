"""The places of a passage that match, as HTML: escaped text with <mark> around the words, and nothing else."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from html import escape
from typing import NamedTuple

from sqlalchemy import Connection, text

from indexer.search.query import Atom, is_lone
from indexer.search.text import placed_words

WINDOW = 300
"""Characters of a passage that are shown."""
MOST_WINDOWS = 2
LEAD = 60
"""Characters before the first marked word."""

_LEXEMES = text("""
    SELECT word, lexeme FROM unnest(CAST(:words AS text[])) AS w (word)
    CROSS JOIN LATERAL (SELECT (tsvector_to_array(to_tsvector('fencepost', word)))[1]) AS l (lexeme)
    WHERE CAST(:only AS text[]) IS NULL OR lexeme = ANY(CAST(:only AS text[]))
""")


class Window(NamedTuple):
    """A part of a passage as HTML, and where in the passage its first marked word is."""

    html: str
    start: int


class _Word(NamedTuple):
    """A word of an atom, and its lexeme."""

    word: str
    lexeme: str


class _Mark(NamedTuple):
    """A place to mark, and the number of the atom that is there."""

    start: int
    end: int
    atom: int


def highlight(connection: Connection, atoms: Sequence[Atom], bodies: Sequence[str]) -> list[list[Window]]:
    """For each body its best windows, at most MOST_WINDOWS. PostgreSQL is asked once which words mean the same."""
    placed = [list(placed_words(body)) for body in bodies]
    wanted = _lexemes(connection, {word for atom in atoms for word in atom.words})
    beginnings = {_beginning(lexeme) for lexeme in wanted.values()}
    candidates = {word for words in placed for _, _, word in words if _beginning(word) in beginnings}
    present = _lexemes(connection, candidates, only=set(wanted.values()))
    sequences = [[_Word(word, wanted.get(word, word)) for word in atom.words] for atom in atoms]
    marks = [sorted(_marks(words, present, sequences)) for words in placed]
    return [_windows(body, found) for body, found in zip(bodies, marks, strict=True)]


def _lexemes(connection: Connection, words: set[str], only: set[str] | None = None) -> dict[str, str]:
    """The lexeme of each word, or of those words whose lexeme is one of `only`."""
    parameters = {"words": sorted(words), "only": None if only is None else sorted(only)}
    return {row.word: row.lexeme for row in connection.execute(_LEXEMES, parameters)}


def _marks(
    placed: list[tuple[int, int, str]], present: dict[str, str], sequences: list[list[_Word]]
) -> Iterator[_Mark]:
    """Every place where the words of an atom follow each other."""
    starts: dict[str, list[int]] = defaultdict(list)
    for number, (first, *_) in enumerate(sequences):
        starts[first.word if is_lone(first.word) else first.lexeme].append(number)
    for at, (start, _, word) in enumerate(placed):
        lexeme = present.get(word)
        if lexeme is None and word[0] not in starts:
            continue
        for number in {*starts.get(lexeme or "", ()), *starts.get(word[0], ())}:
            found = placed[at : at + len(sequences[number])]
            if len(found) == len(sequences[number]) and all(map(partial(_same, present), found, sequences[number])):
                end = found[-1][0] + 1 if is_lone(sequences[number][-1].word) else found[-1][1]
                yield _Mark(start, end, number)


def _beginning(word: str) -> str:
    """What the stemmer leaves alone, but for y and i: dying and die begin alike."""
    return word[:2].replace("y", "i")


def _same(present: dict[str, str], placed: tuple[int, int, str], wanted: _Word) -> bool:
    """Whether a placed word is the wanted one, or begins with it where that is a single character."""
    word = placed[2]
    return word[0] == wanted.word if is_lone(wanted.word) else present.get(word) == wanted.lexeme


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


def _end(body: str, start: int) -> int:
    return _between_words(body, start + WINDOW) if start + WINDOW < len(body) else len(body)


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


def _between_words(body: str, at: int) -> int:
    """The place after the nearest space before `at`, or `at` when there is none near."""
    return max(body.rfind(" ", max(0, at - LEAD // 2), at) + 1, 0) or at
