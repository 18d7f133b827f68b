"""Builds PDF and Word files byte by byte, so that every test and sample document is ours and reproducible."""

import zlib
from collections.abc import Iterable, Mapping
from io import BytesIO
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_PAGE_BREAK = '<w:p><w:r><w:br w:type="page"/></w:r></w:p>'


def pdf(pages: Iterable[Iterable[str]], title: str = "", *, header: bytes = b"%PDF-1.4\n", trailer: str = "") -> bytes:
    """A PDF with one line of Helvetica per string; an empty page has no text."""
    contents = [_page_content(lines) for lines in pages]
    count = len(contents)
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(count))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for n, content in enumerate(contents):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {5 + 2 * n} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(stream(content))
    objects.append(f"<< /Title {_string(title).decode('cp1252')} >>".encode("cp1252"))
    return pdf_file(objects, header=header, trailer=f"/Info {len(objects)} 0 R {trailer}")


def stream(content: bytes, extra: str = "", *, compress: bool = False) -> bytes:
    """A PDF stream object."""
    if compress:
        content, extra = zlib.compress(content, 9), f"/Filter /FlateDecode {extra}"
    return f"<< /Length {len(content)} {extra}>>\nstream\n".encode() + content + b"\nendstream"


def pdf_file(objects: list[bytes], *, header: bytes = b"%PDF-1.4\n", trailer: str = "") -> bytes:
    """A whole file from its objects, of which the first is the catalogue."""
    out = bytearray(header)
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for offset in offsets:
        out += b"%010d 00000 n \n" % offset
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R {trailer}>>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)


def _page_content(lines: Iterable[str]) -> bytes:
    shown = [b"(" + b") Tj T* (".join(_string(line)[1:-1] for line in lines) + b") Tj"]
    return b"BT /F1 12 Tf 16 TL 60 780 Td\n" + b"\n".join(shown) + b"\nET"


def _string(text: str) -> bytes:
    escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"({escaped})".encode("cp1252")


def paragraph(text: str, style: str = "") -> str:
    """A Word paragraph."""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{properties}<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'


def table(rows: Iterable[Iterable[str]]) -> str:
    """A Word table."""
    body = "".join(f"<w:tr>{''.join(f'<w:tc>{paragraph(cell)}</w:tc>' for cell in row)}</w:tr>" for row in rows)
    return f"<w:tbl>{body}</w:tbl>"


def page_break() -> str:
    """An explicit page break."""
    return _PAGE_BREAK


def part(root: str, body: str, prologue: str = "") -> bytes:
    """One XML part of a Word file."""
    return f'<?xml version="1.0" encoding="UTF-8"?>{prologue}<w:{root} xmlns:w="{WORD}">{body}</w:{root}>'.encode()


def docx(body: str, parts: Mapping[str, bytes] | None = None, *, title: str = "", compress: bool = False) -> bytes:
    """A Word file around a body; `parts` adds or replaces members."""
    members = {
        "[Content_Types].xml": _content_types(),
        "_rels/.rels": _relationships(),
        "word/document.xml": part("document", f"<w:body>{body}</w:body>"),
        "word/styles.xml": part(
            "styles",
            '<w:style w:type="paragraph" w:styleId="Berschrift1"><w:name w:val="heading 1"/></w:style>',
        ),
        "docProps/core.xml": _core_properties(title),
    }
    return archive(members | dict(parts or {}), compress=compress)


def archive(members: Mapping[str, bytes], *, compress: bool = False) -> bytes:
    """A ZIP file, the same bytes on every machine unless compressed."""
    out = BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED if compress else ZIP_STORED) as file:
        for name, data in members.items():
            file.writestr(ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data, ZIP_DEFLATED if compress else ZIP_STORED)
    return out.getvalue()


def _content_types() -> bytes:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{_OFFICE}.document.main+xml"/>'
        f'<Override PartName="/word/styles.xml" ContentType="{_OFFICE}.styles+xml"/>'
        "</Types>"
    ).encode()


def _relationships() -> bytes:
    base = "http://schemas.openxmlformats.org"
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        f'<Relationships xmlns="{base}/package/2006/relationships">'
        f'<Relationship Id="rId1" Type="{base}/officeDocument/2006/relationships/officeDocument"'
        ' Target="word/document.xml"/></Relationships>'
    ).encode()


def _core_properties(title: str) -> bytes:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{escape(title)}</dc:title></cp:coreProperties>"
    ).encode()
