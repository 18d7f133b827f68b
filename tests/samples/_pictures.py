"""Draws words, and writes pictures in formats that need no library."""

import struct
import zlib
from collections.abc import Sequence
from contextlib import closing
from functools import cache

import pypdfium2 as pdfium

from tests.samples import _pdfs
from tests.support import documents

Drawn = tuple[int, int, bytes]
"""Width, height, and a byte of grey per pixel."""


@cache
def drawn(*lines: str) -> Drawn:
    """A page of these lines as a scanner at 200 dots per inch sees it, without most of the empty paper."""
    with pdfium.PdfDocument(documents.pdf([lines])) as document:
        return _scan(document, (0, 780 - 16 * len(lines) - 20, 0, 30))


def _scan(document: pdfium.PdfDocument, crop: tuple[int, int, int, int]) -> Drawn:
    with closing(document[0]) as page, closing(page.render(scale=200 / 72, grayscale=True, crop=crop)) as bitmap:
        rows = bytes(bitmap.buffer)
        width, height, stride = bitmap.width, bitmap.height, bitmap.stride
    return width, height, b"".join(rows[at : at + width] for at in range(0, stride * height, stride))


def png(width: int, height: int, shades: bytes) -> bytes:
    """A grey PNG."""
    rows = b"".join(b"\0" + shades[at : at + width] for at in range(0, width * height, width))
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks
    )


def tiff(pages: Sequence[Drawn]) -> bytes:
    """A grey TIFF of several pages, not compressed."""
    out = bytearray(b"II*\0" + bytes(4))
    link = 4
    for width, height, shades in pages:
        at = len(out)
        out += shades + bytes(len(shades) % 2)
        out[link : link + 4] = struct.pack("<I", len(out))
        of_picture = ((256, width), (257, height), (258, 8), (259, 1), (262, 1))
        entries = (*of_picture, (273, at), (277, 1), (278, height), (279, len(shades)))
        out += struct.pack("<H", len(entries))
        out += b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in entries)
        link = len(out)
        out += bytes(4)
    return bytes(out)


def bmp(width: int, height: int, shades: bytes) -> bytes:
    """A grey BMP."""
    padding = bytes(-width % 4)
    rows = b"".join(shades[at : at + width] + padding for at in range(width * (height - 1), -1, -width))
    palette = b"".join(bytes([n, n, n, 0]) for n in range(256))
    start = 54 + len(palette)
    header = struct.pack("<2sIII", b"BM", start + len(rows), 0, start)
    return header + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8, 0, len(rows), 0, 0, 0, 0) + palette + rows


def gif(width: int, height: int, shades: bytes) -> bytes:
    """A GIF in black and white, whose codes are cleared before they would grow."""
    number = length = 0
    packed = bytearray()
    for n, shade in enumerate(shades):
        for code in (4, int(shade > 127)) if n % 2 == 0 else (int(shade > 127),):
            number |= code << length
            length += 3
            while length >= 8:
                packed.append(number & 0xFF)
                number, length = number >> 8, length - 8
    number |= 5 << length
    packed += number.to_bytes(2, "little")
    blocks = b"".join(bytes([len(packed[at : at + 255])]) + packed[at : at + 255] for at in range(0, len(packed), 255))
    screen = struct.pack("<6sHHBBB", b"GIF89a", width, height, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    return screen + struct.pack("<BHHHHB", 0x2C, 0, 0, width, height, 0) + b"\x02" + blocks + b"\0;"


def webp(width: int, height: int, shades: bytes) -> bytes:
    """A WebP in black and white without loss; bits and numbers begin with their lowest bit."""
    size = _lowest_first(14, width - 1) + _lowest_first(14, height - 1) + "0000"
    as_green = "1" + "01" + "0"  # red and blue are told as differences to it
    no_cache, one_set_of_codes = "0", "0"
    green = "110" + "0" + _lowest_first(8, 255)  # two codes: black, white
    always_0, always_255 = "1000", "101" + _lowest_first(8, 255)
    codes = green + always_0 + always_0 + always_255 + always_0
    pixels = "".join("1" if shade > 127 else "0" for shade in shades)
    bits = size + as_green + no_cache + one_set_of_codes + codes + pixels
    data = b"\x2f" + int(bits[::-1], 2).to_bytes(-(-len(bits) // 8), "little")
    data += bytes(len(data) % 2)
    return struct.pack("<4sI4s4sI", b"RIFF", 12 + len(data), b"WEBP", b"VP8L", len(data)) + data


def _lowest_first(length: int, number: int) -> str:
    return f"{number:0{length}b}"[::-1]


def greek() -> Drawn:
    """Lines of Greek, drawn by the font Symbol, which every PDF program has."""
    lines = ("O faroV anabe kaqe bradu kai to fwV tou", "fainotan apo makria sth qalassa gia touV", "nautikouV pou")
    symbol = b"<< /Type /Font /Subtype /Type1 /BaseFont /Symbol >>"
    with pdfium.PdfDocument(_pdfs.one_page(") Tj 0 -20 Td (".join(lines), more=[symbol], font=6)) as document:
        return _scan(document, (0, 0, 0, 0))
