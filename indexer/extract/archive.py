"""ZIP archives, opened with care: declared sizes are checked first, and what really comes out is counted as well."""

import lzma
import struct
import zlib
from collections.abc import Iterator
from io import BytesIO
from itertools import islice, pairwise
from zipfile import BadZipFile, ZipFile, ZipInfo

from indexer.extract.types import Buffer, Request
from pipeline.errors import Permanent

_END = b"PK\x05\x06"
_END_BYTES = 22
_END_WITHIN = 66 * 1024  # the end record and the longest comment
_ENTRY_MARK = b"PK\x01\x02"
_ENTRY = struct.Struct("<28x3H12x")  # lengths of name, extra field and comment, which follow
_ENCRYPTED = 0x1
LOCAL_HEADER_BYTES = 30
"""Before each member, without its name and what else it says of itself."""
_ZIP64_LOCATOR = b"PK\x06\x07"
_ZIP64_BYTES = 20 + 56  # the locator and the end record before it

_DAMAGE = (
    *(BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError, ValueError),
    *(NotImplementedError, RuntimeError),  # what zipfile says of methods and passwords
)

_GLANCE = 2000
_PIECE = 1024 * 1024  # an XML parser begins each piece anew with the token that it was in
_SMALL = 1024 * 1024  # a small member may be compressed as well as it likes


def names_at_a_glance(buffer: Buffer) -> list[str]:
    """The first names of an archive's directory, at a cost that the archive cannot choose. Raises Permanent corrupt."""
    return list(islice(_directory(buffer), _GLANCE))


def _directory(buffer: Buffer) -> Iterator[str]:
    end = buffer.rfind(_END, max(0, len(buffer) - _END_WITHIN))
    if end < 0 or end + _END_BYTES > len(buffer):
        raise Permanent("corrupt", "The file begins like a ZIP archive, but its directory is missing: it was cut off.")
    size = int.from_bytes(buffer[end + 12 : end + 16], "little")
    if buffer[max(0, end - 20) : end].startswith(_ZIP64_LOCATOR):
        end -= _ZIP64_BYTES
        size = int.from_bytes(buffer[end + 40 : end + 48], "little") if end >= 0 else 0
    at = end - size
    while 0 <= at <= end - _ENTRY.size and buffer[at : at + 4] == _ENTRY_MARK:
        name, extra, comment = _ENTRY.unpack_from(buffer, at)
        start = at + _ENTRY.size
        yield buffer[start : start + name].decode("utf-8", "replace")
        at = start + name + extra + comment


def is_encrypted(info: ZipInfo) -> bool:
    """Whether a member needs a password."""
    return bool(info.flag_bits & _ENCRYPTED)


class Archive:
    """An archive whose members are read as streams within limits.

    Raises Permanent: corrupt, password_required, or limit_exceeded before much of a bomb has been inflated.
    """

    def __init__(self, buffer: Buffer, request: Request) -> None:
        self._request = request
        self._limits = request.limits
        self._spent = request.spent
        left = max(0, self._limits.members - self._spent.members)
        count = sum(1 for _ in islice(_directory(buffer), left + 1))
        if count > left:
            raise self._limits.exceeded("members", "The archive has too many members")
        self._spent.members += count
        try:
            self._zip = ZipFile(BytesIO(buffer if isinstance(buffer, bytes) else bytes(buffer)))
        except (BadZipFile, ValueError, NotImplementedError, OSError, struct.error) as error:
            raise Permanent("corrupt", f"The archive's directory cannot be read: {error}.") from None
        self._refuse_overlaps()
        total = self._spent.inflated_bytes + sum(info.file_size for info in self._zip.infolist())
        if total > self._limits.total_bytes:
            raise self._limits.exceeded("total_bytes", f"The archive's members have {total:,} bytes together")

    def files(self) -> list[ZipInfo]:
        """All members but folders, in the order of the directory; several may have the same name."""
        return [info for info in self._zip.infolist() if not info.filename.endswith("/")]

    def names(self) -> list[str]:
        """The names of all members, in the order of the directory."""
        return self._zip.namelist()

    def pieces(self, member: str | ZipInfo) -> Iterator[bytes]:
        """The bytes of one member, piece by piece. Raises OutOfTimeError between two of them when the time is up."""
        info = member if isinstance(member, ZipInfo) else self._zip.getinfo(member)
        self._check(info, info.file_size)
        if is_encrypted(info):
            raise Permanent("password_required", f"{info.filename} in the archive is encrypted with a password.")
        inflated = 0
        try:
            with self._zip.open(info) as stream:
                for piece in self._request.in_time(iter(lambda: stream.read(_PIECE), b"")):
                    inflated += len(piece)
                    self._spent.inflated_bytes += len(piece)
                    self._check(info, inflated)
                    yield piece
        except _DAMAGE as error:
            raise Permanent("corrupt", f"{info.filename} in the archive cannot be unpacked: {error}.") from None

    def _refuse_overlaps(self) -> None:
        """A small archive may be gigabytes of text when thousands of its members share the same bytes."""
        stored = sorted(self._zip.infolist(), key=lambda info: info.header_offset)
        for one, other in pairwise(stored):
            if one.header_offset + LOCAL_HEADER_BYTES + one.compress_size > other.header_offset:
                raise Permanent("corrupt", "The archive's members overlap, as no honest program packs them.")

    def _check(self, info: ZipInfo, size: int) -> None:
        if size > self._limits.member_bytes:
            raise self._limits.exceeded("member_bytes", f"{info.filename} in the archive has {size:,} bytes or more")
        if self._spent.inflated_bytes > self._limits.total_bytes:
            more = f"What is in the archive has {self._spent.inflated_bytes:,} bytes or more together"
            raise self._limits.exceeded("total_bytes", more)
        if size > _SMALL and size > self._limits.ratio * info.compress_size:
            times = f"{size // max(1, info.compress_size):,} times"
            raise self._limits.exceeded(
                "ratio", f"{info.filename} in the archive inflates too many times over: {times}"
            )
