"""Writes grey JPEGs: baseline, with codes as simple as the format allows."""

import struct
from functools import cache
from math import cos, pi, sqrt

_STEP = 12  # the same for all frequencies
_SIDE = range(8)
_WAVES = [[cos((2 * x + 1) * u * pi / 16) / (2 if u else sqrt(8)) for x in _SIDE] for u in _SIDE]
_ZIGZAG = sorted(range(64), key=lambda n: (n // 8 + n % 8, n // 8 if (n // 8 + n % 8) % 2 else n % 8))
_END, _SIXTEEN_ZEROS = 0x00, 0xF0
_SYMBOLS = [_END, _SIXTEEN_ZEROS, *(run << 4 | size for run in range(16) for size in range(1, 11))]


def jpeg(width: int, height: int, shades: bytes) -> bytes:
    """A grey JPEG."""
    rows = [shades[at : at + width].ljust(-(-width // 8) * 8, b"\xff") for at in range(0, width * height, width)]
    rows += [b"\xff" * len(rows[0])] * (-height % 8)
    bits = []
    before = 0
    for top in range(0, len(rows), 8):
        for left in range(0, len(rows[0]), 8):
            first, *others = _frequencies(b"".join(row[left : left + 8] for row in rows[top : top + 8]))
            bits += [f"{(first - before).bit_length():04b}", _value(first - before), *_runs(others)]
            before = first
    return _file(width, height, "".join(bits))


@cache
def _frequencies(block: bytes) -> list[int]:
    """Of 8 by 8 pixels, from the lowest to the highest."""
    along = [[sum(wave[x] * (block[8 * y + x] - 128) for x in _SIDE) for wave in _WAVES] for y in _SIDE]
    return [round(sum(_WAVES[n // 8][y] * along[y][n % 8] for y in _SIDE) / _STEP) for n in _ZIGZAG]


def _runs(values: list[int]) -> list[str]:
    """The values that are not zero, each after the number of zeros before it."""
    bits, zeros = [], 0
    for value in values:
        if value:
            bits += [_code(_SIXTEEN_ZEROS)] * (zeros // 16)
            bits += [_code(zeros % 16 << 4 | value.bit_length()), _value(value)]
        zeros = 0 if value else zeros + 1
    return [*bits, _code(_END)] if zeros else bits


def _code(symbol: int) -> str:
    return f"{_SYMBOLS.index(symbol):08b}"


def _value(value: int) -> str:
    size = value.bit_length()
    return f"{value if value > 0 else value + (1 << size) - 1:0{size}b}" if size else ""


def _file(width: int, height: int, bits: str) -> bytes:
    bits += "1" * (-len(bits) % 8)
    lengths_of_first = bytes(3) + bytes([12]) + bytes(12)
    lengths_of_others = bytes(7) + bytes([len(_SYMBOLS)]) + bytes(8)
    segments = (
        (0xDB, b"\0" + bytes([_STEP]) * 64),
        (0xC0, struct.pack(">BHHB", 8, height, width, 1) + b"\x01\x11\0"),
        (0xC4, b"\0" + lengths_of_first + bytes(range(12))),
        (0xC4, b"\x10" + lengths_of_others + bytes(_SYMBOLS)),
        (0xDA, b"\x01\x01\0\0\x3f\0"),
    )
    head = b"".join(struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body for marker, body in segments)
    return b"\xff\xd8" + head + int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\0") + b"\xff\xd9"
