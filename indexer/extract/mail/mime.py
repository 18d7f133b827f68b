"""A MIME message taken apart in one pass over its lines: no recursion, and damage costs a part, never the message.

The parser of the standard library loses all attachments behind a header line without a colon, fails on damaged
addresses, and recurses; decision 20 has the measurements.
"""

import re
from binascii import a2b_qp
from collections.abc import Iterator
from dataclasses import dataclass, field

from indexer.extract.mail.mime_fields import Fields, base64_bytes, parameters

_DASHES = re.compile(rb"^--[^\r\n]*", re.MULTILINE)
_FIELD = re.compile(rb"([!-9;-~]+)[ \t]*:")
_STARTS_A_LINE = re.compile(
    rb"(?:From|To|Cc|Date|Subject|Received|Message-ID|MIME-Version|Content-[\w-]+):", re.IGNORECASE
)
_GUESSED_BOUNDARY = re.compile(rb"^--([!-~]{1,100})[ \t]*\r?\n[!-9;-~]+:", re.MULTILINE)
_GUESSED_WITHIN = 8192
_MEDIA_TYPE = re.compile(r"\s*([\w.+-]+)/([\w.+-]+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Part:
    """A part that has no parts itself. `inside` is the kind of multipart it lies in, as `alternative`.

    Parts that say the same in several formats have one number `alternative`; others have 0.
    """

    fields: Fields
    raw: bytes = b""
    inside: str = ""
    alternative: int = 0
    media_type: str = "text/plain"
    parameters: dict[str, str] = field(default_factory=dict)

    @property
    def disposition(self) -> str:
        """`attachment` or `inline`, '' if it is not said."""
        return self.fields.text("content-disposition").partition(";")[0].strip().lower()

    @property
    def filename(self) -> str:
        """The name under which it would be saved."""
        return parameters(self.fields, "content-disposition").get("filename", "") or self.parameters.get("name", "")

    def content(self) -> bytes:
        """The bytes as they were before they were packed for the post; what is damaged is left out."""
        packing = self.fields.text("content-transfer-encoding").strip().lower()
        if packing == "base64":
            return base64_bytes(self.raw)
        return a2b_qp(self.raw) if packing == "quoted-printable" else self.raw


@dataclass(slots=True)
class _Multipart:
    boundary: bytes
    subtype: str
    alternative: int


def parts_of(data: bytes) -> tuple[Fields, Iterator[Part]]:
    """The fields of a message and its parts, in the order in which they are written."""
    fields, body = _fields_at(data, 0, Fields())
    return fields, _Walk(data, fields.guess).parts(fields, body)


class _Walk:
    """Where a pass over the message is: which multiparts are open."""

    def __init__(self, data: bytes, guess: list[str]) -> None:
        self._data = data
        self._guess = guess
        self._open: list[_Multipart] = []
        self._depths: dict[bytes, int] = {}
        self._alternatives = 0

    def parts(self, fields: Fields, body: int) -> Iterator[Part]:
        part = self._begin(fields, body)
        for dashes in _DASHES.finditer(self._data, body):
            if dashes.start() < body or not self._open:
                continue
            depth, closing = self._bounded_by(dashes[0].rstrip())
            if depth < 0:
                continue
            if part:
                yield self._finished(part, body, dashes.start())
            self._close_down_to(depth if closing else depth + 1)
            part = None
            body = dashes.end()
            if not closing:
                fields, body = _fields_at(self._data, _next_line(self._data, body), Fields(self._guess))
                part = self._begin(fields, body)
        if part:
            yield self._finished(part, body, len(self._data))

    def _begin(self, fields: Fields, body: int) -> Part | None:
        """The part that begins here, None if it is made of parts."""
        inside = self._open[-1] if self._open else _Multipart(b"", "", 0)
        found = _MEDIA_TYPE.match(fields.text("content-type"))
        kind, subtype = (found[1].lower(), found[2].lower()) if found else ("text", "plain")
        if not found and inside.subtype == "digest":
            kind, subtype = "message", "rfc822"
        values = parameters(fields, "content-type")
        if kind == "multipart" and (boundary := self._boundary(values.get("boundary", ""), body)):
            if boundary not in self._depths:
                self._depths[boundary] = len(self._open)
                self._open.append(_Multipart(boundary, subtype, inside.alternative or self._numbered(subtype)))
            return None
        media_type = "text/plain" if kind == "multipart" else f"{kind}/{subtype}"
        return Part(fields, b"", inside.subtype, inside.alternative, media_type, values)

    def _numbered(self, subtype: str) -> int:
        self._alternatives += subtype == "alternative"
        return self._alternatives if subtype == "alternative" else 0

    def _boundary(self, named: str, body: int) -> bytes:
        if named := named.rstrip():
            return named.encode("utf-8", "replace")
        guessed = _GUESSED_BOUNDARY.search(self._data, body, body + _GUESSED_WITHIN)
        return guessed[1] if guessed else b""

    def _bounded_by(self, line: bytes) -> tuple[int, bool]:
        """The depth of the multipart whose boundary this line is, -1 if of none, and whether it ends there."""
        depth = self._depths.get(line[2:], -1)
        if depth < 0 and line.endswith(b"--"):
            return self._depths.get(line[2:-2], -1), True
        return depth, False

    def _close_down_to(self, depth: int) -> None:
        while len(self._open) > depth:
            del self._depths[self._open.pop().boundary]

    def _finished(self, part: Part, start: int, end: int) -> Part:
        raw = self._data[start : max(start, end)]
        return Part(part.fields, raw, part.inside, part.alternative, part.media_type, part.parameters)


def _fields_at(data: bytes, at: int, fields: Fields) -> tuple[Fields, int]:
    """Fills in the header fields that begin here; returns where they end as well."""
    while at < len(data):
        following = _next_line(data, at)
        line = data[at:following].rstrip(b"\r\n")
        if not line.strip():
            return fields, following
        found = None if line.startswith(b"--") else _FIELD.match(line)
        if line[:1] in b" \t":
            fields.go_on(line)
        elif found:
            fields.add(found[1], line[found.end() :])
        elif line.startswith(b"--") or not (line.startswith(b"From ") or _STARTS_A_LINE.match(data, following)):
            return fields, at  # the text begins without an empty line
        at = following
    return fields, len(data)


def _next_line(data: bytes, at: int) -> int:
    return data.find(b"\n", at) + 1 or len(data)
