"""Compound files, the file system within a file of old Office formats and Outlook: folders (storages) of streams.

Every chain of sectors ends after as many steps as the file has sectors, and no folder is entered twice, so a hostile
file costs no more than its size; what is cut off at the end is missing and nothing else.
"""

import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from sys import byteorder

from indexer.extract.types import Buffer
from pipeline.errors import Permanent

_HEADER = struct.Struct("<26xHHH16xI4xIIII")  # of the directory, small streams, their table and more of the main one
_HEADER_BYTES = 512
_TABLE_AT = 76
_ENTRY = struct.Struct("<64sHBxIII16x4x16xIQ")
_STORAGE, _STREAM, _ROOT = 1, 2, 5
_SMALL_SECTOR = 64
_MOST_ENTRIES = 200_000


@dataclass(frozen=True, slots=True)
class Stream:
    """Where the bytes of a stream begin, and how many there are."""

    start: int
    size: int


@dataclass(frozen=True, slots=True)
class Storage:
    """A folder: its streams and the folders in it, by name."""

    streams: dict[str, Stream] = field(default_factory=dict)
    storages: dict[str, "Storage"] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    kind: int
    left: int
    right: int
    child: int
    stream: Stream


class Compound:
    """A compound file. Raises Permanent corrupt."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        if len(buffer) < _HEADER_BYTES:
            raise Permanent("corrupt", "The file begins like a compound file, but was cut off.")
        version, order, shift, directory, cutoff, small_table, _, more = _HEADER.unpack_from(buffer)
        if order != 0xFFFE or shift not in {9, 12}:
            raise Permanent("corrupt", "The header of the compound file makes no sense.")
        self._long_sizes = version == 4
        self._sector = 1 << shift
        self._cutoff = cutoff
        self._sectors = len(buffer) // self._sector + 1
        self._table = self._allocation(more)
        self._small_table = _numbers(b"".join(self._chained(small_table)))
        entries = list(islice(self._entries(directory), _MOST_ENTRIES))
        if not entries or entries[0].kind != _ROOT:
            raise Permanent("corrupt", "The compound file has no directory.")
        self._all_small = entries[0].stream
        self.root = _tree(entries)

    @cached_property
    def _small(self) -> bytes:
        """The bytes of all small streams."""
        return b"".join(self._chained(self._all_small.start))

    def read(self, stream: Stream) -> bytes:
        """The bytes of a stream, fewer than it should have if the file is damaged."""
        if stream.size >= self._cutoff:
            pieces = self._chained(stream.start, -(-stream.size // self._sector))
        else:
            chain = islice(_chain(self._small_table, stream.start), -(-stream.size // _SMALL_SECTOR))
            pieces = (self._small[n * _SMALL_SECTOR : (n + 1) * _SMALL_SECTOR] for n in chain)
        return b"".join(pieces)[: stream.size]

    def _allocation(self, more: int) -> "array[int]":
        """The table of all sectors: which one follows each."""
        listed = _numbers(self._buffer[_TABLE_AT:_HEADER_BYTES])
        visited: set[int] = set()
        while more < self._sectors and more not in visited:
            visited.add(more)
            numbers = _numbers(self._at(more))
            if not numbers:
                break
            more = numbers.pop()
            listed += numbers
        used = dict.fromkeys(n for n in listed if n < self._sectors)
        return _numbers(b"".join(self._at(n).ljust(self._sector, b"\xff") for n in used))

    def _at(self, sector: int) -> bytes:
        return bytes(self._buffer[(sector + 1) * self._sector : (sector + 2) * self._sector])

    def _chained(self, start: int, most: int | None = None) -> Iterator[bytes]:
        return (self._at(sector) for sector in islice(_chain(self._table, start), most))

    def _entries(self, start: int) -> Iterator[_Entry]:
        for sector in self._chained(start):
            for at in range(0, len(sector) - _ENTRY.size + 1, _ENTRY.size):
                name, length, kind, left, right, child, first, size = _ENTRY.unpack_from(sector, at)
                size = size if self._long_sizes else size & 0xFFFFFFFF
                decoded = name[: max(0, min(length, 64) - 2)].decode("utf-16-le", "replace")
                yield _Entry(decoded, kind, left, right, child, Stream(first, size))


def _chain(table: "array[int]", start: int) -> Iterator[int]:
    for _ in range(len(table)):
        if start >= len(table):
            return
        yield start
        start = table[start]


def _tree(entries: list[_Entry]) -> Storage:
    """The folders; entries of one folder are a tree of their own, of which only the members matter here."""
    root = Storage()
    visited = {0}
    waiting = [(entries[0].child, root)]
    while waiting:
        number, folder = waiting.pop()
        if number >= len(entries) or number in visited:
            continue
        visited.add(number)
        entry = entries[number]
        waiting += [(entry.left, folder), (entry.right, folder)]
        if entry.kind == _STREAM:
            folder.streams[entry.name] = entry.stream
        elif entry.kind == _STORAGE:
            folder.storages[entry.name] = Storage()
            waiting.append((entry.child, folder.storages[entry.name]))
    return root


def _numbers(data: bytes) -> "array[int]":
    numbers = array("I")
    numbers.frombytes(data[: len(data) // 4 * 4])
    if byteorder == "big":
        numbers.byteswap()
    return numbers
