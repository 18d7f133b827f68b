"""Breaks documents at random: bits, lengths, ends, and what lies inside their archives."""

import re
import warnings
import zlib
from collections.abc import Callable, Sequence
from io import BytesIO
from random import Random
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

MOST_BYTES = 4 * 1024 * 1024
_MOST_IN_ARCHIVE = 16 * 1024 * 1024

_NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, (1 << 63) - 1, (1 << 64) - 1)
_DIGITS = re.compile(rb"\d{1,12}")
_FOUND = (b"0", b"-1", b"1", b"65536", b"2147483648", b"4294967295", b"99999999999999999999", b"1e400", b"NaN")
_WORDS = (
    b"\0" * 8,
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\\u-10000?",
    b"&#xd800;",
    b"&#0;",
    b"&lol;",
    b"<!DOCTYPE a [<!ENTITY lol 'lol'>]>",
    b"<![CDATA[",
    b"]]>",
    b"</",
    b"<div>" * 100,
    b"{" * 2000,
    b"(" * 2000,
    b"[" * 2000,
    b">>",
    b"endstream",
    b"PK\x05\x06",
    b"%PDF-1.7\n",
    b"{\\rtf1",
    b"Content-Type: multipart/mixed; boundary=a\n\n--a\n" * 20,
    b"=?utf-16?B?/9j/?=",
    b"../../../../etc/passwd",
)

Seeds = Sequence[bytes]


def mutated(chance: Random, content: bytes, others: Seeds) -> bytes:
    """The document with one to four things wrong."""
    for _ in range(chance.randint(1, 4)):
        change = chance.choice(_INSIDE if chance.random() < 0.5 and content[:2] == b"PK" else _CHANGES)
        content = change(chance, content, others)[:MOST_BYTES]
    return content


def _flip_bits(chance: Random, content: bytes, _others: Seeds) -> bytes:
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 4, 32)) if changed else 0):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _truncate(chance: Random, content: bytes, _others: Seeds) -> bytes:
    place = chance.randint(0, len(content))
    return content[:place] if chance.random() < 0.8 else content[place:]


def _drop_or_repeat(chance: Random, content: bytes, _others: Seeds) -> bytes:
    start = chance.randint(0, len(content))
    end = min(len(content), start + chance.choice((1, 16, 500, 20_000)))
    return content[:start] + content[start:end] * chance.choice((0, 2, 2, 50)) + content[end:]


def _splice(chance: Random, content: bytes, others: Seeds) -> bytes:
    other = chance.choice(others)
    start, end = sorted((chance.randint(0, len(other)), chance.randint(0, len(other))))
    place = chance.randint(0, len(content))
    rest = content[place:] if chance.random() < 0.5 else content[place + end - start :]
    return content[:place] + other[start:end] + rest


def _set_number(chance: Random, content: bytes, _others: Seeds) -> bytes:
    size = chance.choice((1, 2, 4, 8))
    if len(content) < size:
        return content
    place = chance.randint(0, len(content) - size)
    order = chance.choice(("little", "big"))
    number = int.from_bytes(content[place : place + size], order)
    number = (chance.choice(_NUMBERS) if chance.random() < 0.7 else number + chance.choice((-1, 1))) % (1 << 8 * size)
    return content[:place] + number.to_bytes(size, order) + content[place + size :]


def _set_digits(chance: Random, content: bytes, _others: Seeds) -> bytes:
    start = chance.randint(0, len(content))
    found = _DIGITS.search(content, start) or _DIGITS.search(content)
    if found is None:
        return content
    return content[: found.start()] + chance.choice(_FOUND) + content[found.end() :]


def _insert(chance: Random, content: bytes, _others: Seeds) -> bytes:
    place = chance.randint(0, len(content))
    return content[:place] + chance.choice(_WORDS) + content[place:]


def _inside_archive(chance: Random, content: bytes, others: Seeds) -> bytes:
    """The archive packed anew with one member broken, dropped, renamed, swapped or replaced."""
    try:
        members = _unpacked(content)
    except (BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError, zlib.error):
        return content
    if not members:
        return content
    place = chance.randrange(len(members))
    name, data = members[place]
    match chance.randrange(8):
        case 0:
            del members[place]
        case 1:
            members[place] = (chance.choice(members)[0], data)
        case 2:
            members[place] = (
                chance.choice(("../up", "/root", "a/" * 200, "é\udcff".encode("utf-8", "replace").decode())),
                data,
            )
        case 3:
            members[place] = (name, chance.choice(others))
        case 4:
            members.append((name, data))
        case _:
            members[place] = (name, chance.choice(_CHANGES)(chance, data, others))
    return _packed(chance, members)


def _unpacked(content: bytes) -> list[tuple[str, bytes]]:
    with ZipFile(BytesIO(content)) as archive:
        infos = archive.infolist()[:200]
        if sum(info.file_size for info in infos) > _MOST_IN_ARCHIVE:
            return []
        return [(info.filename, archive.read(info)) for info in infos]


def _packed(chance: Random, members: list[tuple[str, bytes]]) -> bytes:
    out = BytesIO()
    method = chance.choice((ZIP_STORED, ZIP_DEFLATED))
    with warnings.catch_warnings(action="ignore"), ZipFile(out, "w") as archive:  # of names that occur twice
        for name, data in members:
            info = ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            info.compress_type = ZIP_STORED if name == "mimetype" else method
            archive.writestr(info, data)
    return out.getvalue()


Change = Callable[[Random, bytes, Seeds], bytes]
_CHANGES: tuple[Change, ...] = (
    _flip_bits,
    _truncate,
    _drop_or_repeat,
    _splice,
    _set_number,
    _set_digits,
    _insert,
)
_INSIDE: tuple[Change, ...] = (_inside_archive,)
