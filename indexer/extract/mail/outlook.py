"""The properties of a message, a recipient or an attachment in an Outlook file (MS-OXMSG)."""

import struct
from datetime import UTC, datetime, timedelta

from indexer.extract.compound import Compound, Storage
from indexer.extract.encodings import decode
from indexer.extract.types import Limits

_FIXED = "__properties_version1.0"
_ENTRY = struct.Struct("<I4x8s")
_LONG, _TIME, _BOOLEAN = 0x0003, 0x0040, 0x000B
_UNICODE, _EIGHT_BIT, _BINARY, _OBJECT = "001F", "001E", "0102", "000D"
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_CODE_PAGES = {
    20127: "ascii", 20866: "koi8-r", 20932: "euc_jp", 21866: "koi8-u", 28591: "iso8859-1", 50220: "iso2022_jp",
    50221: "iso2022_jp", 50222: "iso2022_jp", 50225: "iso2022_kr", 51932: "euc_jp", 51936: "gb2312", 51949: "euc_kr",
    52936: "hz", 54936: "gb18030", 65001: "utf-8", 936: "gb18030",
}  # fmt: skip

FILE_HEADER, MESSAGE_HEADER, OTHER_HEADER = 32, 24, 8
"""The bytes before the properties of a message that is the file, of one inside it, and of all else."""

MESSAGE_CODE_PAGE, INTERNET_CODE_PAGE = 0x3FFD, 0x3FDE


class Properties:
    """What one folder of the file says; what is missing or makes no sense is '' or None."""

    def __init__(
        self, file: Compound, storage: Storage, limits: Limits, header: int = OTHER_HEADER, encoding: str = ""
    ) -> None:
        self._file = file
        self._storage = storage
        self._limits = limits
        self._fixed = self._fixed_values(header)
        self.encoding = encoding or self.code_page(MESSAGE_CODE_PAGE) or self.code_page(INTERNET_CODE_PAGE) or "cp1252"

    def text(self, number: int) -> str:
        """A string."""
        if data := self._stream(number, _UNICODE):
            return data.decode("utf-16-le", "replace").rstrip("\0")
        data = self._stream(number, _EIGHT_BIT)
        return decode(data, self.encoding).text.rstrip("\0") if data else ""

    def words(self, number: int) -> str:
        """A string in one line."""
        return " ".join(self.text(number).split())

    def binary(self, number: int) -> bytes:
        """Bytes. Raises Permanent limit_exceeded."""
        return self._stream(number, _BINARY)

    def integer(self, number: int) -> int | None:
        """A number."""
        value = self._fixed.get(number << 16 | _LONG)
        return None if value is None else int.from_bytes(value[:4], "little")

    def flag(self, number: int) -> bool:
        """Yes or no."""
        return any(self._fixed.get(number << 16 | _BOOLEAN, b"")[:1])

    def moment(self, number: int) -> datetime | None:
        """A time."""
        value = int.from_bytes(self._fixed.get(number << 16 | _TIME, b""), "little")
        try:
            return _EPOCH + timedelta(microseconds=value // 10) if value else None
        except OverflowError:
            return None

    def storage(self, number: int) -> Storage | None:
        """A folder, such as a message in a message."""
        return self._storage.storages.get(f"__substg1.0_{number:04X}{_OBJECT}")

    def code_page(self, number: int) -> str:
        """The encoding that a number of a code page means."""
        page = self.integer(number)
        return _CODE_PAGES.get(page, f"cp{page}") if page else ""

    def _stream(self, number: int, kind: str) -> bytes:
        stream = self._storage.streams.get(f"__substg1.0_{number:04X}{kind}")
        if stream is None:
            return b""
        if stream.size > self._limits.member_bytes:
            raise self._limits.exceeded("member_bytes", "A part of the message has too many bytes")
        return self._file.read(stream)

    def _fixed_values(self, header: int) -> dict[int, bytes]:
        stream = self._storage.streams.get(_FIXED)
        data = self._file.read(stream)[header:] if stream else b""
        return dict(_ENTRY.iter_unpack(data[: len(data) // _ENTRY.size * _ENTRY.size]))
