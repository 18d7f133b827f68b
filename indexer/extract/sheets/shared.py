"""Strings that many cells share: a sheet ends where these make more text of it than anybody may keep.

The native reader copies them into each cell, so that a million cells with one long string would fill any memory. What
cannot be told for sure counts as the longest string.
"""

import re
from collections.abc import Iterator

from indexer.extract.markup import parse
from indexer.extract.sheets.extent import records
from pipeline.errors import Permanent

PART = re.compile(r".*sharedstrings\.(?:xml|bin)", re.IGNORECASE)
"""The name of the part that has the strings of a workbook."""

_CELL = re.compile(
    rb"""["']s["'](?:(?:\s+[\w:.-]+=(?:"[^"<>]*"|'[^'<>]*'))*\s*>\s*"""
    rb"""<(?:\w+:)?v>(\d{1,9})</(?:\w+:)?v>\s*</(?:\w+:)?c>)?"""
)
_END_OF_XML = b"</row></sheetData></worksheet>"  # the native reader minds no prefixes
_ITEM_RECORD = 19
_CELL_RECORD = 7
_SMALLEST_CELL = 14
_END_OF_BINARY = b"\x92\x01\x00\x82\x01\x00"  # of the cells, and of the sheet


class Strings:
    """How long the strings of a workbook are."""

    def __init__(self, parts: list[bytes]) -> None:
        self._size = sum(map(len, parts))
        self._part = parts[0] if len(parts) == 1 else b""
        self._lengths: list[int] | None = None
        self._longest = self._size

    def cut(self, sheet: bytes, most: int, *, binary: bool) -> tuple[bytes, bool]:
        """A sheet up to the cell whose shared string makes it longer than `most` characters, and whether it was cut."""
        cells = len(sheet) // _SMALLEST_CELL if binary else sheet.count(b'"s"') + sheet.count(b"'s'")
        if cells * self._size <= most:
            return sheet, False
        left = most
        for at, index in (_binary_cells if binary else _xml_cells)(sheet):
            left -= self._length(index, binary=binary)
            if left < 0:
                return sheet[:at] + (_END_OF_BINARY if binary else _END_OF_XML), True
        return sheet, False

    def _length(self, index: int, *, binary: bool) -> int:
        if self._lengths is None:
            self._lengths = _binary_lengths(self._part) if binary else _xml_lengths(self._part)
            self._longest = max(self._lengths, default=self._size)
        return self._lengths[index] if 0 <= index < len(self._lengths) else self._longest


def _xml_cells(sheet: bytes) -> Iterator[tuple[int, int]]:
    """Where cells with a shared string begin, and the number of the string; -1 if it is written as nobody does."""
    for found in _CELL.finditer(sheet):
        yield sheet.rfind(b"<", 0, found.start()), int(found[1] or -1)


def _binary_cells(sheet: bytes) -> Iterator[tuple[int, int]]:
    for kind, start, at, _ in records(sheet):
        if kind == _CELL_RECORD:
            yield start, int.from_bytes(sheet[at + 8 : at + 12], "little")


def _xml_lengths(part: bytes) -> list[int]:
    lengths = _Lengths()
    try:
        parse([part], lengths, "the shared strings")
    except Permanent:  # the native reader may yet make something of them
        return []
    return lengths.found


def _binary_lengths(part: bytes) -> list[int]:
    return [
        int.from_bytes(part[at + 1 : at + 5], "little")
        for kind, _, at, size in records(part)
        if kind == _ITEM_RECORD and size
    ]


class _Lengths:
    """Counts characters of strings, of rich ones too; how they are spoken (`rPh`) is not shown."""

    def __init__(self) -> None:
        self.found: list[int] = []
        self._inside = self._spoken = False

    def start(self, name: str, attributes: dict[str, str]) -> None:  # noqa: ARG002 - the protocol has them
        """An element begins."""
        match name.rpartition("}")[2]:
            case "si":
                self.found.append(0)
            case "rPh":
                self._spoken = True
            case "t":
                self._inside = bool(self.found) and not self._spoken

    def end(self, name: str) -> None:
        """An element ends."""
        self._inside = False
        self._spoken = self._spoken and not name.endswith("rPh")

    def text(self, text: str) -> None:
        """Words, perhaps in several pieces."""
        if self._inside:
            self.found[-1] += len(text)
