"""How large the rectangle around a sheet's cells is, told before the native reader makes room for all of it.

A file of a kilobyte may have one cell in each of two far corners. What is written well is measured by patterns, at low
cost; whatever these find too large or cannot measure is parsed.
"""

import re
import struct
from collections.abc import Iterator

from indexer.extract.compound import Compound
from indexer.extract.markup import parse
from pipeline.errors import Permanent

_SMALL = 1024 * 1024  # at no cost worth avoiding
_ROW = re.compile(rb'<row r="(\d+)')
_CELLS = (b"<c ", b"<c>", b":c ", b":c>")
_REFERRING_CELL = b'<c r="'
_WIDE_COLUMN = re.compile(rb'<c r="([A-Z]{2,})')
_LETTERS = 26
_PLACE = re.compile(rb"""[\s"']([A-Za-z]{0,3})(\d{1,9})[\s"']""")
_REFERENCE = re.compile(r"([A-Za-z]*)(\d*)")

# Records of the binary format: a row's header, and the cells that have a value; each begins with its row or column.
_ROW_RECORD = 0
_VALUE_RECORDS = frozenset(range(2, 12))

# The format before 2007: kind, size, and of cells also row and column; those with a value, in its several generations.
_OLD_RECORD = struct.Struct("<HHHH")
_OLD_STREAMS = ("Workbook", "Book")
_OLD_BEGINNINGS = frozenset({0x009, 0x209, 0x409, 0x809})
_OLD_VALUES = frozenset({0x02, 0x03, 0x04, 0x05, 0x06, 0x7E, 0xD6, 0xFD, 0x203, 0x204, 0x205, 0x206, 0x27E, 0x406})
_OLD_RUN_OF_NUMBERS = 0xBD


def of_xml(part: bytes, name: str, most: int) -> int:
    """Cells in the rectangle from A1 to the last row and column; exact if that is more than `most`."""
    if len(part) > _SMALL and 0 <= (cells := _by_patterns(part)) <= most:
        return cells
    return _by_parsing(part, name)


def of_binary(part: bytes) -> int:
    """The same of a sheet of an xlsb file."""
    row = rows = columns = 0
    for kind, _, at, _ in records(part):
        if kind == _ROW_RECORD:
            row = int.from_bytes(part[at : at + 4], "little") + 1
        elif kind in _VALUE_RECORDS:
            rows, columns = max(rows, row), max(columns, int.from_bytes(part[at : at + 4], "little") + 1)
    return rows * columns


def records(part: bytes) -> Iterator[tuple[int, int, int, int]]:
    """The records of a part of an xlsb file: kind, where it begins, where its content does, and the size of that."""
    at = 0
    while at + 2 <= len(part):
        start = at
        kind, at = _number(part, at, 2)
        size, at = _number(part, at, 4)
        yield kind, start, at, size
        at += size


def of_old_workbook(content: bytes) -> int:
    """The largest extent of a sheet in the format before 2007; 0 where its stream of records is not found."""
    try:
        file = Compound(content)
        name = next((name for name in _OLD_STREAMS if name in file.folder.streams), "")
        stream = file.read(file.folder.streams[name]) if name else b""
    except Permanent:  # it is damaged, which the native reader will say
        return 0
    return max((rows * columns for rows, columns in _old_extents(stream)), default=0)


def _old_extents(stream: bytes) -> Iterator[tuple[int, int]]:
    rows = columns = at = 0
    while at + 8 <= len(stream):
        kind, size, row, column = _OLD_RECORD.unpack_from(stream, at)
        if kind in _OLD_BEGINNINGS:
            yield rows, columns
            rows = columns = 0
        elif kind in _OLD_VALUES:
            rows, columns = max(rows, row + 1), max(columns, column + 1)
        elif kind == _OLD_RUN_OF_NUMBERS:
            rows, columns = max(rows, row + 1), max(columns, column + size // 6)
        at += 4 + size
    yield rows, columns


def _number(part: bytes, at: int, most: int) -> tuple[int, int]:
    """A number in groups of seven bits, and where it ends."""
    value = 0
    for n, byte in enumerate(part[at : at + most]):
        value |= (byte & 0x7F) << (7 * n)
        if byte < 0x80:  # no more follow
            return value, at + n + 1
    return value, at + most


def _by_patterns(part: bytes) -> int:
    """At least the extent of a sheet whose rows and cells all say their places, as programs write them; else -1."""
    rows = _ROW.findall(part)
    if sum(map(part.count, _CELLS)) != part.count(_REFERRING_CELL) or part.count(b"<row") != len(rows):
        return -1
    columns = max((_column(name.decode()) for name in set(_WIDE_COLUMN.findall(part))), default=_LETTERS)
    return max((_whole(row.decode()) for row in rows), default=0) * columns


def _by_parsing(part: bytes, name: str) -> int:
    extent = _Extent()
    try:
        parse([part], extent, name)
    except Permanent:
        if b"<!ENTITY" in part:
            raise
        return _by_force(part)
    return extent.rows * extent.columns


def _by_force(part: bytes) -> int:
    """Whatever looks like a place: of what is not well-formed, the native reader may yet make something."""
    places = [(_column(letters.decode()), _whole(digits.decode())) for letters, digits in set(_PLACE.findall(part))]
    columns = max((column for column, _ in places), default=0)
    return max(1, columns) * max((row for _, row in places), default=0)


def _column(letters: str) -> int:
    number = 0
    for letter in letters[:5].upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


class _Extent:
    """Follows rows and cells; cells without a value do not count, as no reader makes room for these."""

    def __init__(self) -> None:
        self.rows = self.columns = 0
        self._row = self._column = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        match name.rpartition("}")[2]:
            case "row":
                self._row = _whole(attributes.get("r", "")) or self._row + 1
                self._column = 0
            case "c":
                self._column += 1
                if found := _REFERENCE.match(attributes.get("r", "")):
                    self._column = _column(found[1]) or self._column
                    self._row = _whole(found[2]) or self._row
            case "v" | "is":
                self.rows, self.columns = max(self.rows, self._row), max(self.columns, self._column)

    def end(self, name: str) -> None:
        """Nothing ends."""

    def text(self, text: str) -> None:
        """The words are of no concern."""


def _whole(digits: str) -> int:
    return int(digits[:9]) if digits.isascii() and digits.isdigit() else 0
