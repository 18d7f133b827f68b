"""ZIP archives: names in old code pages, passwords, and bombs of every make."""

import struct
import zlib
from io import BytesIO
from zipfile import ZIP_BZIP2, ZIP_LZMA, ZipFile, ZipInfo

from indexer.extract import Limits
from tests.samples import Sample
from tests.support import documents, hostile


def named(names: dict[bytes, bytes], *, flags: int = 0, method: int = 0) -> bytes:
    """An archive of stored files whose names are bytes, as programs write them that know no Unicode."""
    body, directory = b"", b""
    for name, data in names.items():
        sizes = struct.pack("<IIIHH", zlib.crc32(data), len(data), len(data), len(name), 0)
        common = struct.pack("<HHHHH", 20, flags, method, 0, 0x5821) + sizes
        directory += struct.pack("<4sH", b"PK\1\2", 20) + common + struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + name
        body += b"PK\3\4" + common + name + data
    count = len(names)
    return body + directory + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, count, count, len(directory), len(body), 0)


def overlapping(count: int) -> bytes:
    """Many entries of the directory that share one file."""
    once = named({b"a.txt": b"the same words\n" * 50})
    start = once.index(b"PK\1\2")
    entry, end = once[start : once.index(b"PK\5\6")], once[once.index(b"PK\5\6") :]
    counted = end[:8] + struct.pack("<HHI", count, count, len(entry) * count) + end[16:]
    return once[:start] + entry * count + counted


def recursive() -> bytes:
    """An archive in an archive in an archive, sixteen deep, each with a note."""
    inner = documents.archive({"note.txt": b"The note at the bottom"})
    for n in range(15):
        inner = documents.archive({"inner.zip": inner, "note.txt": f"The note number {n}".encode()})
    return inner


def _spread(levels: int) -> bytes:
    """Archives in archives, four of each: as many as a quine that contains itself more than once."""
    inner = documents.archive({"zeros.txt": bytes(1 << 20)}, compress=True)
    for _ in range(levels):
        inner = documents.archive({f"{n}.zip": inner for n in range(4)}, compress=True)
    return inner


def _methods() -> bytes:
    out = BytesIO()
    with ZipFile(out, "w") as file:
        for name, method in (("bzip2.txt", ZIP_BZIP2), ("lzma.txt", ZIP_LZMA)):
            file.writestr(ZipInfo(name), f"packed by {name}\n" * 20, method)
    return out.getvalue()


def _zip64() -> bytes:
    out = BytesIO()
    with ZipFile(out, "w") as file, file.open(ZipInfo("large.txt"), "w", force_zip64=True) as member:
        member.write(b"the large one")
    whole = out.getvalue()
    end = whole.rindex(b"PK\5\6")
    size, start = struct.unpack_from("<II", whole, end + 12)
    record = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, size, start)
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, end, 1)
    return (
        whole[:end]
        + record
        + locator
        + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, *[0xFFFFFFFF] * 2, 0)
    )


def _many_kinds() -> dict[str, bytes]:
    return {
        "letters/one.txt": b"the first letter",
        "letters/": b"",
        "tide.pdf": documents.pdf([["First page"], ["Second page"]]),
        "report.docx": documents.docx(documents.paragraph("the report")),
        "page.html": b"<!doctype html><p>the page",
        "empty.txt": b"",
        "__MACOSX/._one.txt": b"\0\5\x16\7 litter",
        ".DS_Store": b"\0\0\0\1Bud1 litter",
        "letters/Thumbs.db": b"litter",
    }


SAMPLES = [
    Sample(
        "many-kinds.zip",
        lambda: documents.archive(_many_kinds(), compress=True),
        words=("the first letter", "Second page", "the report", "the page"),
        absent=("litter",),
        members=("letters/one.txt", "tide.pdf", "report.docx", "page.html"),
    ),
    Sample("empty.zip", lambda: documents.archive({}), outcome="no_text"),
    Sample(
        "pictures.zip",
        lambda: documents.archive({"a.xyz": bytes(range(256)) * 8}),
        outcome="no_text",
        partial=("a.xyz: This is a binary file",),
    ),
    *(
        Sample(
            f"names-{encoding}.zip",
            lambda row=(name, encoding): named({row[0].encode(row[1]): b"words"}),
            members=(name,),
        )
        for name, encoding in (
            ("Übersicht für März.txt", "cp437"),
            ("Журнал смотрителя.txt", "cp866"),
            ("灯台のひかり.txt", "cp932"),
            ("żółw i łódź.txt", "utf-8"),
        )
    ),
    Sample(
        "odd-names.zip",
        lambda: named({b"../../etc/passwd": b"one", b"C:\\Users\\a.txt": b"two", b"/a.txt": b"three", b"..": b"four"}),
        members=("etc/passwd", "Users/a.txt", "a.txt", "a file without a name"),
    ),
    Sample(
        "same-names.zip",
        lambda: named({b"a.txt": b"the first", b"./a.txt": b"the second"}),
        words=("the first", "the second"),
        members=("a.txt", "a.txt (2)"),
    ),
    Sample(
        "encrypted.zip", lambda: named({b"a.txt": b"secret", b"b.txt": b"too"}, flags=1), outcome="password_required"
    ),
    Sample(
        "encrypted-inside.zip",
        lambda: documents.archive({"a.zip": named({b"a.txt": b"secret"}, flags=1), "b.txt": b"open to all"}),
        outcome="partial",
        words=("open to all",),
        partial=("a.zip: The files in the archive are encrypted with a password",),
    ),
    Sample("methods.zip", _methods, words=("packed by bzip2", "packed by lzma")),
    Sample(
        "deflate64.zip",
        lambda: named({b"a.txt": b"unknown"}, method=9),
        outcome="no_text",
        partial=("a.txt: it is packed by Deflate64",),
    ),
    Sample("zip64.zip", _zip64, words=("the large one",)),
    Sample("office-folder.zip", lambda: documents.archive({"word/list.txt": b"a list of words"}), words=("a list of",)),
    Sample("junk-before.zip", lambda: documents.archive({"a.txt": b"words"}) + b"\0" * 100, members=("a.txt",)),
    Sample("cut-off.zip", lambda: documents.archive({"a.txt": b"words" * 100})[:-30], outcome="corrupt"),
    Sample("overlapping.zip", lambda: overlapping(5000), outcome="corrupt"),
    Sample(
        "recursive.zip",
        recursive,
        outcome="partial",
        words=("The note number 13", "The note number 12"),
        absent=("The note number 11",),
        partial=("inner.zip/inner.zip/inner.zip/note.txt: Documents lie too deep", "FENCEPOST_EXTRACT__DEPTH"),
    ),
    Sample(
        "spread.zip",
        lambda: _spread(3),
        outcome="no_text",
        limits=Limits(total_bytes=4 << 20, depth=4),
        partial=("FENCEPOST_EXTRACT__TOTAL_BYTES",),
    ),
    Sample(
        "bomb-inside.zip",
        lambda: documents.archive({"bomb.docx": hostile.bomb_docx(8), "a.txt": b"safe and sound"}),
        outcome="partial",
        words=("safe and sound",),
        partial=("bomb.docx: word/document.xml in the archive inflates too many times over",),
    ),
    Sample(
        "bomb-1GB.zip",
        lambda: documents.archive({"zeros.txt": bytes(1 << 30)}, compress=True),
        outcome="limit_exceeded",
        large=True,
    ),
    Sample(
        "many-members.zip",
        lambda: documents.archive({f"{n}.txt": b"" for n in range(60_000)}),
        outcome="limit_exceeded",
        large=True,
    ),
    Sample(
        "ten-thousand.zip",
        lambda: documents.archive({f"{n}.txt": f"the words of file {n}\n".encode() for n in range(10_000)}),
        words=("the words of file 9999",),
        members=("0.txt", "9999.txt"),
        large=True,
    ),
]
