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
    window = bytearray(_FIRST).ljust(_SIZE, b" ")
    place = len(_FIRST)
    text = bytearray()
    at = _HEADER.size
    while at < len(data) and len(text) < size:
        flags = data[at]
        at += 1
        for bit in range(8):
            if at + (flags >> bit & 1) >= len(data):
                return text
            if flags >> bit & 1:
                offset, length = (data[at] << 4) | (data[at + 1] >> 4), (data[at + 1] & 0xF) + 2
                at += 2
                if offset == place:
                    return text
            else:
                offset, length = -1, 1
            for n in range(length):
                byte = data[at] if offset < 0 else window[(offset + n) % _SIZE]
                text.append(byte)
                window[place] = byte
                place = (place + 1) % _SIZE
            at += offset < 0
    return text
