"""Reads multipart/form-data as it arrives: the file goes straight into the spool, the other fields stay small."""

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from ingest.description import FIELDS, MOST_METADATA_BYTES
from ingest.spool import Spool
from pipeline.errors import Refusal, invalid

MOST_PARTS = 16
MOST_OVERHEAD = 1024 * 1024
"""Bytes that a whole form may have beyond its file."""


class Form:
    """One form: `fields` by name and the file in the spool. Feed it with `write`, then call `end`.

    A field that is empty, as browsers send those left blank, counts as not given.
    """

    def __init__(self, content_type: str, spool: Spool) -> None:
        boundary = parse_options_header(content_type)[1].get(b"boundary")
        if not boundary:
            raise _malformed("its Content-Type names no boundary")
        self.fields: dict[str, str] = {}
        self._spool = spool
        self._parts = 0
        self._has_file = False
        self._ended = False
        self._name = ""
        self._value = bytearray()
        self._header = (bytearray(), bytearray())
        self._headers: dict[str, str] = {}
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._begin,
                    "on_header_field": lambda data, start, end: self._header[0].extend(data[start:end]),
                    "on_header_value": lambda data, start, end: self._header[1].extend(data[start:end]),
                    "on_header_end": self._note_header,
                    "on_headers_finished": self._open,
                    "on_part_data": self._take,
                    "on_part_end": self._close,
                    "on_end": self._finish,
                },
            )
        except FormParserError as error:
            raise _malformed(str(error)) from None

    def write(self, data: bytes) -> None:
        """Takes the next bytes; raises a Refusal if the form is malformed, unknown or too large."""
        try:
            self._parser.write(data)
        except FormParserError as error:
            raise _malformed(str(error)) from None

    def end(self) -> None:
        """Raises a Refusal unless the form is complete and has a file."""
        if not self._ended:
            raise _malformed("it ends in the middle of a part")
        if not self._has_file:
            raise invalid("file", "is missing")

    def _begin(self) -> None:
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise _malformed(f"it has more than {MOST_PARTS} parts")
        self._headers.clear()

    def _note_header(self) -> None:
        name, value = (part.decode("utf-8", "replace") for part in self._header)
        self._headers[name.lower()] = value
        self._header[0].clear()
        self._header[1].clear()

    def _open(self) -> None:
        # The parser takes header text as Latin-1; browsers send UTF-8.
        disposition = self._headers.get("content-disposition", "").encode().decode("latin-1")
        options = parse_options_header(disposition)[1]
        self._name = options.get(b"name", b"").decode("utf-8", "replace")
        if self._name == "file":
            if self._has_file:
                raise invalid("file", "may be given once")
            self._has_file = True
            if b"filename" in options:
                self.fields.setdefault("filename", options[b"filename"].decode("utf-8", "replace").replace("%22", '"'))
            if "content-type" in self._headers:
                self.fields.setdefault("media_type", self._headers["content-type"])
        elif self._name not in FIELDS:
            raise invalid(self._name or "(unnamed)", "is not a field; known are file, " + ", ".join(FIELDS))

    def _take(self, data: bytes, start: int, end: int) -> None:
        if self._name == "file":
            self._spool.write(data[start:end])
            return
        self._value += data[start:end]
        if len(self._value) > MOST_METADATA_BYTES:
            raise invalid(self._name, f"is larger than {MOST_METADATA_BYTES:,} bytes")

    def _close(self) -> None:
        if self._value:
            self.fields[self._name] = self._value.decode("utf-8", "replace")
        self._value.clear()

    def _finish(self) -> None:
        self._ended = True


def _malformed(why: str) -> Refusal:
    return Refusal("malformed_multipart", f"The form cannot be read: {why.rstrip('.')}.")
