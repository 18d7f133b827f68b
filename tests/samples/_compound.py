"""Writes compound files, the file system inside old Office files and Outlook messages, from nested dictionaries."""

import struct
from collections.abc import Mapping
from typing import Union

Folder = Mapping[str, Union[bytes, "Folder"]]

_SECTOR = 512
_NUMBERS = _SECTOR // 4
_SMALL_SECTOR = 64
_SMALL_BELOW = 4096
_FREE, _END, _TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_STORAGE, _STREAM, _ROOT = 1, 2, 5


def compound(root: Folder) -> bytes:
    """A file of version 3; siblings hang in a chain, which readers must cope with as well as with a balanced tree."""
    return _Writer(root).file()


class _Writer:
    def __init__(self, root: Folder) -> None:
        self._sectors: list[bytes] = []
        self._table: list[int] = []
        self._small = bytearray()
        self._small_table: list[int] = []
        self._entries: list[list[object]] = []
        self._entry("Root Entry", _ROOT)
        self._fill(0, root)

    def file(self) -> bytes:
        self._entries[0][5:] = [self._place(bytes(self._small)), len(self._small)]
        small_tables = -(-len(self._small_table) // _NUMBERS)
        small_table = self._place(_padded(self._small_table, small_tables))
        directory = self._place(b"".join(self._packed(*entry) for entry in self._entries))
        tables = 1
        while len(self._sectors) + tables > tables * _NUMBERS:
            tables += 1
        first = len(self._sectors)
        assert tables <= 109
        table = _padded([*self._table, *([_TABLE] * tables)], tables)
        listed = [*range(first, first + tables), *([_FREE] * (109 - tables))]
        header = struct.pack(
            "<8s16xHHHHH6xIIIIIIIII",
            bytes.fromhex("d0cf11e0a1b11ae1"),
            *(0x3E, 3, 0xFFFE, 9, 6, 0, tables, directory, 0, _SMALL_BELOW),
            *(small_table, small_tables, _END, 0),
        )
        return header + _numbers(listed) + b"".join(self._sectors) + table

    def _fill(self, parent: int, folder: Folder) -> None:
        last = -1
        for name, content in folder.items():
            number = self._entry(name, _STREAM if isinstance(content, bytes) else _STORAGE)
            if last < 0:
                self._entries[parent][4] = number
            else:
                self._entries[last][3] = number
            last = number
            if isinstance(content, bytes):
                self._entries[number][5:] = [self._stored(content), len(content)]
            else:
                self._fill(number, content)

    def _entry(self, name: str, kind: int) -> int:
        self._entries.append([name, kind, _FREE, _FREE, _FREE, _END, 0])
        return len(self._entries) - 1

    def _stored(self, content: bytes) -> int:
        if len(content) >= _SMALL_BELOW:
            return self._place(content)
        if not content:
            return _END
        first = len(self._small_table)
        count = -(-len(content) // _SMALL_SECTOR)
        self._small += content.ljust(count * _SMALL_SECTOR, b"\0")
        self._small_table += [*range(first + 1, first + count), _END]
        return first

    def _place(self, content: bytes) -> int:
        if not content:
            return _END
        first = len(self._sectors)
        count = -(-len(content) // _SECTOR)
        self._sectors += [content[n * _SECTOR : (n + 1) * _SECTOR].ljust(_SECTOR, b"\0") for n in range(count)]
        self._table += [*range(first + 1, first + count), _END]
        return first

    @staticmethod
    def _packed(name: str, kind: int, left: int, right: int, child: int, start: int, size: int) -> bytes:
        spelled = name.encode("utf-16-le")
        return struct.pack("<64sHBBIII36xIQ", spelled, len(spelled) + 2, kind, 1, left, right, child, start, size)


def _padded(table: list[int], sectors: int) -> bytes:
    return _numbers(table + [_FREE] * (sectors * _NUMBERS - len(table)))


def _numbers(numbers: list[int]) -> bytes:
    return struct.pack(f"<{len(numbers)}I", *numbers)
