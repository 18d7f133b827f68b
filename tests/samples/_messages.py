"""Writes messages: MIME by hand, so that they may be as wrong as real ones, and Outlook files."""

import struct
from base64 import encodebytes
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from tests.samples._compound import Folder, compound

_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
Value = str | bytes | int | bool | datetime | Folder

HEAD = (
    "From: Keeper <keeper@example.org>\r\nTo: Harbour <harbour@example.org>, pilot@example.org\r\n"
    "Cc: crew@example.org\r\nDate: Tue, 1 Dec 2026 08:30:00 +0100\r\nSubject: The lamp\r\nMIME-Version: 1.0\r\n"
)

HEAD_FACTS = {
    "title": "The lamp",
    "subject": "The lamp",
    "from": "Keeper <keeper@example.org>",
    "to": "Harbour <harbour@example.org>, pilot@example.org",
}
"""What e-mail and Outlook say of it in the same words."""


def part(body: str | bytes, media_type: str = "text/plain; charset=utf-8", *fields: str) -> bytes:
    """A part, or the end of a message: fields, an empty line and a body."""
    head = "\r\n".join([f"Content-Type: {media_type}", *fields])
    return f"{head}\r\n\r\n".encode() + (body if isinstance(body, bytes) else body.encode())


def packed(content: bytes, media_type: str, name: str = "", disposition: str = "attachment") -> bytes:
    """A part in base64, with a file name if there is one."""
    named = f'; filename="{name}"' if name else ""
    fields = (f"Content-Disposition: {disposition}{named}", "Content-Transfer-Encoding: base64")
    return part(encodebytes(content).replace(b"\n", b"\r\n"), media_type, *fields)


def multipart(subtype: str, parts: Iterable[bytes], boundary: str = "=_lighthouse", more: str = "") -> bytes:
    """A part of parts."""
    edge = f"--{boundary}".encode()
    body = b"".join(edge + b"\r\n" + one + b"\r\n" for one in parts) + edge + b"--\r\n"
    return part(body, f'multipart/{subtype}; boundary="{boundary}"{more}')


def message(body: bytes, head: str = HEAD) -> bytes:
    """A whole message."""
    return head.encode() + body


def outlook(
    properties: Mapping[int, Value],
    recipients: Iterable[Mapping[int, Value]] = (),
    attachments: Iterable[Mapping[int, Value]] = (),
    *,
    encoding: str = "",
) -> bytes:
    """A file of Outlook; strings are Unicode unless an encoding is given."""
    return compound(outlook_folder(properties, recipients, attachments, encoding=encoding, header=32))


def outlook_folder(
    properties: Mapping[int, Value],
    recipients: Iterable[Mapping[int, Value]] = (),
    attachments: Iterable[Mapping[int, Value]] = (),
    *,
    encoding: str = "",
    header: int = 24,
) -> Folder:
    """A message as a folder, to be put into another."""
    folder: dict[str, bytes | Folder] = dict(_properties(properties, header, encoding))
    for n, recipient in enumerate(recipients):
        folder[f"__recip_version1.0_#{n:08X}"] = _properties(recipient, 8, encoding)
    for n, attachment in enumerate(attachments):
        folder[f"__attach_version1.0_#{n:08X}"] = _properties(attachment, 8, encoding)
    return folder


def _properties(properties: Mapping[int, Value], header: int, encoding: str) -> Folder:
    streams: dict[str, bytes | Folder] = {}
    fixed = bytearray(header)
    for number, value in properties.items():
        kind, eight = 0x0102, b""
        match value:
            case bool():
                kind, eight = 0x000B, bytes([value])
            case int():
                kind, eight = 0x0003, value.to_bytes(4, "little")
            case datetime():
                ticks = (value - _EPOCH).total_seconds() * 10_000_000
                kind, eight = 0x0040, int(ticks).to_bytes(8, "little")
            case str():
                kind = 0x001E if encoding else 0x001F
                streams[f"__substg1.0_{number:04X}{kind:04X}"] = value.encode(encoding or "utf-16-le")
            case bytes():
                streams[f"__substg1.0_{number:04X}0102"] = value
            case _:
                kind = 0x000D
                streams[f"__substg1.0_{number:04X}000D"] = value
        fixed += struct.pack("<II8s", number << 16 | kind, 6, eight)
    return {"__properties_version1.0": bytes(fixed), **streams}


def wrapped_in_signature(content: bytes, *, open_lengths: bool) -> bytes:
    """The outside of an S/MIME message that is signed and not encrypted; there is no signature in it."""
    octets = _der(0x24, _der(0x04, content[:50]) + _der(0x04, content[50:])) if open_lengths else _der(0x04, content)
    data = bytes.fromhex("06092a864886f70d010701") + _der(0xA0, octets)
    signed = bytes.fromhex("020101") + _der(0x31, b"") + _der(0x30, data) + _der(0x31, b"")
    outside = bytes.fromhex("06092a864886f70d010702") + _der(0xA0, _der(0x30, signed))
    return b"\x30\x80" + outside + b"\0\0" if open_lengths else _der(0x30, outside)


def _der(tag: int, content: bytes) -> bytes:
    size = len(content)
    length = bytes([size]) if size < 0x80 else b"\x82" + size.to_bytes(2, "big")
    return bytes([tag]) + length + content
