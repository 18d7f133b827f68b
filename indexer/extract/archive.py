"""ZIP archives, opened with care: what is inside decides nothing until its size has been counted."""

import struct

from indexer.extract.types import Buffer
from pipeline.errors import Permanent

_END = b"PK\x05\x06"
_END_WITHIN = 66 * 1024  # the end record and the longest comment
_ENTRY = struct.Struct("<4s6H3L5H2L")
_GLANCE_BYTES = 1024 * 1024
_GLANCE_NAMES = 2000


def names_at_a_glance(buffer: Buffer) -> list[str]:
    """The first names of an archive's directory, at a cost that the archive cannot choose. Raises Permanent corrupt."""
    end = buffer.rfind(_END, max(0, len(buffer) - _END_WITHIN))
    if end < 0 or end + 22 > len(buffer):
        raise Permanent("corrupt", "The file begins like a ZIP archive, but its directory is missing: it was cut off.")
    size = int.from_bytes(buffer[end + 12 : end + 16], "little")
    if size > end:  # a ZIP64 archive keeps the size elsewhere; its directory ends before two more records
        size = min(end, _GLANCE_BYTES)
        start = buffer.find(b"PK\x01\x02", end - size)
    else:
        start = end - size
    directory = buffer[max(0, start) : max(0, start) + _GLANCE_BYTES]
    names: list[str] = []
    at = 0
    while len(names) < _GLANCE_NAMES and directory.startswith(b"PK\x01\x02", at) and at + _ENTRY.size <= len(directory):
        name, extra, comment = _ENTRY.unpack_from(directory, at)[10:13]
        at += _ENTRY.size
        names.append(directory[at : at + name].decode("utf-8", "replace"))
        at += name + extra + comment
    return names
