"""RTF as Outlook packs it into messages (MS-OXRTFCP): a small dictionary that the text itself fills."""

import struct

from pipeline.errors import Permanent

_HEADER = struct.Struct("<IIII")
_PACKED, _PLAIN = 0x75465A4C, 0x414C454D
_SIZE = 4096
_FIRST = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans Serif"
    rb"SymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
_BEFORE = _FIRST.rjust(_SIZE, b" ")


def unpacked(data: bytes, most: int) -> bytes:
    """The RTF, at most so many bytes of it. Raises Permanent corrupt."""
    if len(data) < _HEADER.size:
        raise Permanent("corrupt", "The RTF in the message is cut off")
    _, size, kind, _ = _HEADER.unpack_from(data)
    if kind == _PLAIN:
        return data[_HEADER.size : _HEADER.size + min(size, most)]
    if kind != _PACKED:
        raise Permanent("corrupt", "The RTF in the message is packed in an unknown way")
    return bytes(_inflated(data, min(size, most)))[: min(size, most)]


def _inflated(data: bytes, size: int) -> bytearray:
    text = bytearray(_BEFORE)  # as far back as any reference reaches
    at, enough = _HEADER.size, size + len(_BEFORE)
    while at < len(data) and len(text) < enough:
        flags = data[at]
        at += 1
        if not flags and at + 8 < len(data):
            text += data[at : at + 8]
            at += 8
            continue
        for bit in range(8):
            if at + (flags >> bit & 1) >= len(data):
                return text[len(_BEFORE) :]
            if flags >> bit & 1:
                offset, length = (data[at] << 4) | (data[at + 1] >> 4), (data[at + 1] & 0xF) + 2
                back = (len(text) + len(_FIRST) - offset) % _SIZE
                if not back:
                    return text[len(_BEFORE) :]
                start = len(text) - back
                text += (text[start:] * length)[:length] if back < length else text[start : start + length]
                at += 2
            else:
                text.append(data[at])
                at += 1
    return text[len(_BEFORE) :]
