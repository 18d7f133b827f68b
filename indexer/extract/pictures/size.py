"""How large a picture is, by its header alone: what would fill gigabytes is refused before anybody decodes it."""

import struct
from collections.abc import Iterator

from indexer.extract.types import Buffer

_JPEG_SIZES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_BARE = frozenset({0x01, *range(0xD0, 0xD9)})
_TIFF_WIDTH, _TIFF_HEIGHT = 256, 257
_TIFF_SHORT = 3
_TIFF_ENTRIES = 64  # of a page; they are in order, and the size is among the first


def pages(picture: Buffer, most: int) -> list[tuple[int, int]]:
    """Width and height of each page, up to so many; empty if the header is damaged."""
    head = picture[:32]
    try:
        if head.startswith((b"II*\x00", b"MM\x00*")):
            return list(_tiff(picture, "<" if head[:1] == b"I" else ">", most))
        return [_single(picture, head)]
    except (struct.error, IndexError, ValueError):
        return []


def _single(picture: Buffer, head: bytes) -> tuple[int, int]:
    if head.startswith(b"\x89PNG"):
        return _pair(">II", head, 16)
    if head.startswith(b"GIF8"):
        return _gif(picture)
    if head.startswith(b"BM"):
        return _bmp(head)
    if head.startswith(b"RIFF"):
        return _webp(head)
    return _jpeg(picture)


def _pair(layout: str, data: Buffer, at: int) -> tuple[int, int]:
    width, height = struct.unpack_from(layout, data, at)
    return abs(width), abs(height)


def _bmp(head: bytes) -> tuple[int, int]:
    old = head[14] == 12
    return _pair("<HH" if old else "<ii", head, 18)


def _webp(head: bytes) -> tuple[int, int]:
    match head[12:16]:
        case b"VP8X":
            width, height = (int.from_bytes(head[at : at + 3], "little") + 1 for at in (24, 27))
            return width, height
        case b"VP8L":
            bits = int.from_bytes(head[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            width, height = _pair("<HH", head, 26)
            return width & 0x3FFF, height & 0x3FFF
    raise ValueError


def _gif(picture: Buffer) -> tuple[int, int]:
    """The larger of the screen and of the first picture on it, which may claim to be larger."""
    screen = _pair("<HH", picture, 6)
    at = 13 + (3 << (picture[10] & 7) + 1 if picture[10] & 0x80 else 0)
    while picture[at] == 0x21:
        at += 2
        while picture[at]:
            at += picture[at] + 1
        at += 1
    if picture[at] != 0x2C:
        raise ValueError
    first = _pair("<HH", picture, at + 5)
    return max(screen[0], first[0]), max(screen[1], first[1])


def _jpeg(picture: Buffer) -> tuple[int, int]:
    at = 2
    while True:
        while picture[at] == 0xFF:
            at += 1
        marker = picture[at]
        at += 1
        if marker in _JPEG_SIZES:
            height, width = _pair(">HH", picture, at + 3)
            return width, height
        if marker not in _JPEG_BARE:
            at += max(2, struct.unpack_from(">H", picture, at)[0])


def _tiff(picture: Buffer, order: str, most: int) -> Iterator[tuple[int, int]]:
    at = struct.unpack_from(f"{order}I", picture, 4)[0]
    seen: set[int] = set()
    while at and at not in seen and len(seen) < most:
        seen.add(at)
        count = struct.unpack_from(f"{order}H", picture, at)[0]
        size = {_TIFF_WIDTH: 0, _TIFF_HEIGHT: 0}
        for entry in range(at + 2, at + 2 + 12 * min(count, _TIFF_ENTRIES), 12):
            tag, kind = struct.unpack_from(f"{order}HH", picture, entry)
            if tag in size:
                layout = f"{order}H" if kind == _TIFF_SHORT else f"{order}I"
                size[tag] = struct.unpack_from(layout, picture, entry + 8)[0]
        if not all(size.values()):
            raise ValueError
        yield size[_TIFF_WIDTH], size[_TIFF_HEIGHT]
        at = struct.unpack_from(f"{order}I", picture, at + 2 + 12 * count)[0]
