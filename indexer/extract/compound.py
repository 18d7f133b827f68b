"""Compound files, the file system within a file of old Office formats and Outlook: olefile, kept within bounds.

A kind is told by their folders in the worker itself, where nothing ends what takes too long. olefile believes what the
header says, and alone would read one sector of a 2 KB file for hours.
"""

import struct
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from olefile import STGTY_STORAGE, STGTY_STREAM, OleFileIO

from indexer.extract.types import Buffer
from pipeline.errors import Permanent

_HEADER = struct.Struct("<28xHHH10xI16xI4xI")  # order of bytes, sizes of sectors, how many sectors each table has
_HEADER_BYTES = 512
_NUMBER_BYTES = 4
_ROOM = 8  # times more than the tables need: programs leave room, and what they speak of may have been cut off
_MOST_ENTRIES = 200_000
_DAMAGE = (OSError, ValueError, IndexError, TypeError, AttributeError, OverflowError, RecursionError, struct.error)


@dataclass(frozen=True, slots=True)
class Storage:
    """A folder: its streams, as olefile knows them, and the folders in it, by name."""

    streams: dict[str, Any]
    storages: dict[str, "Storage"]


class Compound(OleFileIO):  # type: ignore[misc] # it is untyped
    """A compound file; what is cut off at the end of a stream is missing. Raises Permanent corrupt."""

    def __init__(self, buffer: Buffer) -> None:
        super().__init__()
        _check_header(buffer)
        self._bytes = len(buffer)
        self._entries = 0
        try:
            self.open(BytesIO(buffer) if isinstance(buffer, bytes) else buffer)
            self.folder = _storage(self.root)
        except _DAMAGE as error:
            raise Permanent("corrupt", "The directory of the compound file cannot be read.") from error
        self.root.size = min(self.root.size, self._bytes)

    def read(self, stream: Any) -> bytes:  # noqa: ANN401 - an entry of olefile
        """The bytes of a stream, fewer than it should have if the file is damaged."""
        try:
            content: bytes = self._open(stream.isectStart, min(stream.size, self._bytes)).read()
        except _DAMAGE as error:
            raise Permanent("corrupt", "A part of the compound file cannot be read.") from error
        return content

    def _check_duplicate_stream(self, *_: Any) -> None:  # noqa: ANN401 - whatever it is given
        """Quadratic in olefile, and nothing is made of what it finds."""

    def _load_direntry(self, sid: int) -> Any:  # noqa: ANN401 - an entry of olefile
        self._entries += 1
        if self._entries > _MOST_ENTRIES:
            raise OSError("more entries than any honest file has")
        return super()._load_direntry(sid)


def _check_header(buffer: Buffer) -> None:
    """No table may have more sectors than a file of this size could need."""
    if len(buffer) < _HEADER_BYTES:
        raise Permanent("corrupt", "The file begins like a compound file, but was cut off.")
    order, shift, small_shift, *tables = _HEADER.unpack_from(buffer)
    if order != 0xFFFE or shift not in {9, 12} or small_shift != 6:
        raise Permanent("corrupt", "The header of the compound file makes no sense.")
    sectors = (len(buffer) >> shift) + 1
    if max(tables) > _ROOM + _ROOM * sectors * _NUMBER_BYTES // (1 << shift):
        raise Permanent("corrupt", "The header of the compound file speaks of a much larger one.")


def _storage(entry: Any) -> Storage:  # noqa: ANN401 - an entry of olefile
    return Storage(
        {kid.name: kid for kid in entry.kids if kid.entry_type == STGTY_STREAM},
        {kid.name: _storage(kid) for kid in entry.kids if kid.entry_type == STGTY_STORAGE},
    )
