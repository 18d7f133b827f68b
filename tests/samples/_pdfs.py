"""Builds PDF files of the rarer sorts: encrypted, with notes, with files inside, and scanned."""

import hashlib
from collections.abc import Iterable, Sequence

from tests.samples import _jpeg
from tests.support import documents

_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
_PADDING = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
_FILE_ID = bytes(range(16))
_MAY_DO_ALL = -4


def one_page(
    words: str,
    *,
    catalog: str = "",
    page: str = "",
    font: int = 5,
    more: Sequence[bytes] = (),
    key: bytes = b"",
    trailer: str = "",
) -> bytes:
    """A page of words; objects of `more` are numbered from 6. With a `key` its content is encrypted by RC4."""
    content = f"BT /F1 12 Tf 20 200 Td ({words}) Tj ET".encode("cp1252")
    if key:
        number = hashlib.md5(key + bytes([4, 0, 0, 0, 0]), usedforsecurity=False).digest()[: len(key) + 5]
        content = rc4(number, content)
    return documents.pdf_file(
        [
            f"<< /Type /Catalog /Pages 2 0 R {catalog} >>".encode(),
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            (
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 300] /Contents 4 0 R"
                f" /Resources << /Font << /F1 {font} 0 R >> >> {page} >>"
            ).encode(),
            documents.stream(content),
            _FONT,
            *more,
        ],
        trailer=trailer,
    )


def encrypted(words: str, *, user: str, owner: str) -> bytes:
    """A page of words under RC4 with 40 bits, as the first PDF programs did it."""
    of_owner = hashlib.md5(_padded(owner), usedforsecurity=False).digest()[:5]
    owned = rc4(of_owner, _padded(user))
    rights = _MAY_DO_ALL.to_bytes(4, "little", signed=True)
    key = hashlib.md5(_padded(user) + owned + rights + _FILE_ID, usedforsecurity=False).digest()[:5]
    checked = rc4(key, _PADDING)
    rule = f"/Filter /Standard /V 1 /R 2 /O <{owned.hex()}> /U <{checked.hex()}> /P {_MAY_DO_ALL}"
    return one_page(
        words,
        key=key,
        more=[f"<< {rule} >>".encode()],
        trailer=f"/Encrypt 6 0 R /ID [<{_FILE_ID.hex()}> <{_FILE_ID.hex()}>] ",
    )


def _padded(password: str) -> bytes:
    return (password.encode("latin-1") + _PADDING)[:32]


def rc4(key: bytes, data: bytes) -> bytes:
    """RC4, which the oldest encrypted PDFs need."""
    box = list(range(256))
    at = 0
    for n in range(256):
        at = (at + box[n] + key[n % len(key)]) % 256
        box[n], box[at] = box[at], box[n]
    out = bytearray()
    at = other = 0
    for byte in data:
        at = (at + 1) % 256
        other = (other + box[at]) % 256
        box[at], box[other] = box[other], box[at]
        out.append(byte ^ box[(box[at] + box[other]) % 256])
    return bytes(out)


def vertical(*columns: str) -> bytes:
    """A page of Japanese in columns from right to left."""
    font = "/Type /Font /BaseFont /HeiseiMin-W3"
    system = "/CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >>"
    shape = "/Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80"
    shown = (
        f"1 0 0 1 {350 - 20 * n} 280 Tm <{column.encode('utf-16-be').hex()}> Tj" for n, column in enumerate(columns)
    )
    return documents.pdf_file(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            (
                b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 300] /Contents 4 0 R"
                b" /Resources << /Font << /F 5 0 R >> >> >>"
            ),
            documents.stream(f"BT /F 14 Tf {' '.join(shown)} ET".encode()),
            f"<< {font} /Subtype /Type0 /Encoding /UniJIS-UTF16-V /DescendantFonts [6 0 R] >>".encode(),
            f"<< {font} /Subtype /CIDFontType0 {system} /FontDescriptor 7 0 R >>".encode(),
            f"<< /Type /FontDescriptor /FontName /HeiseiMin-W3 {shape} >>".encode(),
        ]
    )


def annotated() -> bytes:
    """A page with a note, a link, and a bookmark."""
    return one_page(
        "The tide tables",
        catalog="/Outlines 8 0 R",
        page="/Annots [6 0 R 7 0 R]",
        more=[
            b"<< /Type /Annot /Subtype /Text /Rect [10 10 30 30] /Contents (who checked this?) >>",
            (
                b"<< /Type /Annot /Subtype /Link /Rect [10 50 30 70]"
                b" /A << /S /URI /URI (https://tides.example/table) >> >>"
            ),
            b"<< /Type /Outlines /First 9 0 R /Last 9 0 R /Count 1 >>",
            b"<< /Title (Chapter of tides) /Parent 8 0 R /Dest [3 0 R /Fit] >>",
        ],
    )


def with_files(files: Iterable[tuple[str, bytes]]) -> bytes:
    """A page of words with files attached."""
    found = list(files)
    names = " ".join(f"({name}) {6 + 2 * n} 0 R" for n, (name, _) in enumerate(found))
    more = []
    for n, (name, content) in enumerate(found):
        more.append(f"<< /Type /Filespec /F ({name}) /UF ({name}) /EF << /F {7 + 2 * n} 0 R >> >>".encode())
        more.append(documents.stream(content, "/Type /EmbeddedFile ", compress=True))
    return one_page("See what is attached", catalog=f"/Names << /EmbeddedFiles << /Names [{names}] >> >>", more=more)


def scanned(
    pages: Iterable[tuple[int, int, bytes]], *, stamp: str = "", as_jpeg: bool = False, dots: int = 200
) -> bytes:
    """Pages with a grey picture each (width, height and shades) of so many dots per inch, and a stamp on it."""
    found = list(pages)
    kids = " ".join(f"{3 + 3 * n} 0 R" for n in range(len(found)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(found)} >>".encode(),
    ]
    for n, page in enumerate(found):
        content = (
            f"q {page[0] * 72 / dots:g} 0 0 {page[1] * 72 / dots:g} 0 0 cm /P Do Q BT /F 9 Tf 9 9 Td ({stamp}) Tj ET"
        )
        resources = (
            f"/XObject << /P {5 + 3 * n} 0 R >> /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>"
        )
        size = f"{page[0] * 72 / 200:g} {page[1] * 72 / 200:g}"
        objects += [
            (
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {size}] /Contents {4 + 3 * n} 0 R"
                f" /Resources << {resources} >> >>"
            ).encode(),
            documents.stream(content.encode()),
            _picture(*page, as_jpeg=as_jpeg),
        ]
    return documents.pdf_file(objects)


def _picture(width: int, height: int, shades: bytes, *, as_jpeg: bool) -> bytes:
    said = (
        f"/Type /XObject /Subtype /Image /Width {width} /Height {height} /ColorSpace /DeviceGray /BitsPerComponent 8 "
    )
    if as_jpeg:
        return documents.stream(_jpeg.jpeg(width, height, shades), f"{said} /Filter /DCTDecode ")
    return documents.stream(shades, said, compress=True)


def bomb(megabytes: int) -> bytes:
    """A PDF whose attached file inflates to so many megabytes."""
    content = bytes(megabytes << 20)
    return with_files([("bomb.txt", content)])
