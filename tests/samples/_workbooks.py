"""Builds spreadsheets byte by byte: xlsx, xlsb, xls and ods."""

import struct
from collections.abc import Mapping, Sequence
from datetime import date
from xml.sax.saxutils import escape, quoteattr

from tests.support import documents

Value = str | float | bool | date | None
Row = Sequence[Value]
Sheets = Mapping[str, Sequence[Row]]

TRANSITIONAL = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/spreadsheetml/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
_EPOCH = date(1899, 12, 30)


def xlsx(
    sheets: Sheets, parts: Mapping[str, bytes] | None = None, *, namespace: str = TRANSITIONAL, hidden: str = ""
) -> bytes:
    """An Excel workbook; `parts` adds or replaces members, `hidden` is the name of a sheet."""
    members = _package("workbook.xml", [f"worksheets/sheet{n}.xml" for n, _ in enumerate(sheets, 1)])
    entries = "".join(
        f"<sheet name={quoteattr(name)} sheetId='{n}' r:id='rId{n}'"
        f"{' state=' + quoteattr('hidden') if name == hidden else ''}/>"
        for n, name in enumerate(sheets, 1)
    )
    members["xl/workbook.xml"] = (
        f"<workbook xmlns='{namespace}' xmlns:r='{_OFFICE}'><sheets>{entries}</sheets></workbook>".encode()
    )
    members["xl/styles.xml"] = (
        f"<styleSheet xmlns='{namespace}'><cellXfs><xf numFmtId='0'/><xf numFmtId='14'/></cellXfs></styleSheet>"
    ).encode()
    for n, rows in enumerate(sheets.values(), 1):
        members[f"xl/worksheets/sheet{n}.xml"] = sheet_part(
            "".join(_xlsx_row(r, row) for r, row in enumerate(rows, 1)), namespace
        )
    return documents.archive(members | dict(parts or {}), compress=True)


def sheet_part(rows: str, namespace: str = TRANSITIONAL) -> bytes:
    """The XML of one sheet."""
    return f"<worksheet xmlns='{namespace}'><sheetData>{rows}</sheetData></worksheet>".encode()


def _xlsx_row(number: int, row: Row) -> str:
    cells = "".join(_xlsx_cell(f"{_letters(n)}{number}", value) for n, value in enumerate(row))
    return f'<row r="{number}">{cells}</row>'


def _xlsx_cell(place: str, value: Value) -> str:
    match value:
        case None:
            return f'<c r="{place}" s="0"/>'
        case bool():
            return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
        case date():
            return f'<c r="{place}" s="1"><v>{(value - _EPOCH).days}</v></c>'
        case str() if value.startswith("="):
            formula, _, cached = value[1:].partition("|")
            return f'<c r="{place}" t="str"><f>{escape(formula)}</f><v>{escape(cached)}</v></c>'
        case str():
            return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    return f'<c r="{place}"><v>{value!r}</v></c>'


def _letters(column: int) -> str:
    return (_letters(column // 26 - 1) if column >= 26 else "") + chr(ord("A") + column % 26)


def _package(workbook: str, sheets: Sequence[str]) -> dict[str, bytes]:
    relations = "".join(
        f"<Relationship Id='rId{n}' Type='{_OFFICE}/worksheet' Target='{part}'/>" for n, part in enumerate(sheets, 1)
    )
    kind = f"{_PACKAGE}/relationships"
    root = f"<Relationship Id='rId1' Type='{_OFFICE}/officeDocument' Target='xl/{workbook}'/>"
    return {
        "[Content_Types].xml": f"<Types xmlns='{_PACKAGE}/content-types'/>".encode(),
        "_rels/.rels": f"<Relationships xmlns='{kind}'>{root}</Relationships>".encode(),
        f"xl/_rels/{workbook}.rels": f"<Relationships xmlns='{kind}'>{relations}</Relationships>".encode(),
    }


def sharing_xlsx(cells: int, strings: str, *, cell: str = '<c r="A{0}" t="s"><v>0</v></c>') -> bytes:
    """A workbook with so many rows of one cell, all of which refer to the first of the strings."""
    rows = "".join(f'<row r="{r}">{cell.format(r)}</row>' for r in range(1, cells + 1))
    strings = strings if strings.startswith("<") else f"<si><t>{strings}</t></si>"
    shared = f"<sst xmlns='{TRANSITIONAL}'>{strings}</sst>".encode()
    return xlsx({"Log": []}, {"xl/worksheets/sheet1.xml": sheet_part(rows), "xl/sharedStrings.xml": shared})


def sharing_xlsb(cells: int, string: str) -> bytes:
    """The same in the binary format."""
    rows = [
        _record(0, struct.pack("<I", n) + bytes(13)) + _record(7, struct.pack("<III", 0, 0, 0)) for n in range(cells)
    ]
    shared = _record(159, struct.pack("<II", cells, 1)) + _record(19, b"\0" + _wide(string)) + _record(160)
    return xlsb_file(rows, parts={"xl/sharedStrings.bin": shared})


def xlsb(sheets: Sheets) -> bytes:
    """A workbook in the binary format, with words and numbers."""
    return xlsb_file(*([xlsb_row(r, row) for r, row in enumerate(rows)] for rows in sheets.values()), names=[*sheets])


def xlsb_file(
    *sheets: Sequence[bytes], names: Sequence[str] = ("Log",), parts: Mapping[str, bytes] | None = None
) -> bytes:
    """The same from the records of rows."""
    members = _package("workbook.bin", [f"worksheets/sheet{n}.bin" for n, _ in enumerate(sheets, 1)])
    entries = b"".join(
        _record(156, struct.pack("<II", 0, n) + _wide(f"rId{n}") + _wide(name)) for n, name in enumerate(names, 1)
    )
    members["xl/workbook.bin"] = _record(131) + _record(143) + entries + _record(144) + _record(132)
    for n, rows in enumerate(sheets, 1):
        dimension = _record(148, struct.pack("<IIII", 0, max(0, len(rows) - 1), 0, 9))
        members[f"xl/worksheets/sheet{n}.bin"] = (
            _record(129) + dimension + _record(145) + b"".join(rows) + _record(146) + _record(130)
        )
    return documents.archive(members | dict(parts or {}), compress=True)


def xlsb_row(number: int, row: Row) -> bytes:
    """The records of one row of the binary format."""
    out = _record(0, struct.pack("<I", number) + bytes(13))
    for column, value in enumerate(row):
        if isinstance(value, str):
            out += _record(6, struct.pack("<II", column, 0) + _wide(value))
        elif isinstance(value, float | int):
            out += _record(5, struct.pack("<IId", column, 0, value))
    return out


def _record(kind: int, body: bytes = b"") -> bytes:
    head = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    size, length = len(body), b""
    while size > 127:
        length, size = length + bytes([size & 0x7F | 0x80]), size >> 7
    return head + length + bytes([size]) + body


def _wide(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def xls(sheets: Sheets) -> bytes:
    """A workbook in the format before 2007 (BIFF8), with words and numbers."""
    cells = [
        b"".join(biff_cell(r, c, value) for r, row in enumerate(rows) for c, value in enumerate(row))
        for rows in sheets.values()
    ]
    return xls_file(*cells, names=[*sheets])


def xls_file(*sheets: bytes, names: Sequence[str] = ("Log",)) -> bytes:
    """The same from the records of cells."""
    bodies = [_biff(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 0)) + cells + _biff(0x0A) for cells in sheets]
    entries = [_biff(0x85, bytes(6) + bytes([len(name), 0]) + name.encode("latin-1")) for name in names]
    start = _biff(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 0))
    at = len(start) + sum(map(len, entries)) + 4
    book = start
    for entry, body in zip(entries, bodies, strict=True):
        book += entry[:4] + struct.pack("<I", at) + entry[8:]
        at += len(body)
    return compound_file("Workbook", book + _biff(0x0A) + b"".join(bodies))


def _biff(kind: int, body: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(body)) + body


def biff_cell(row: int, column: int, value: object) -> bytes:
    """The record of a cell."""
    if isinstance(value, str):
        body = struct.pack("<HHHHB", row, column, 0, len(value), 1) + value.encode("utf-16-le")
        return _biff(0x204, body)
    return _biff(0x203, struct.pack("<HHHd", row, column, 0, value)) if isinstance(value, float | int) else b""


def compound_file(name: str, content: bytes) -> bytes:
    """A file in Microsoft's compound format around one stream."""
    content = content.ljust(4096, b"\0")  # a shorter one would have to lie elsewhere
    content = content.ljust(-(-len(content) // 512) * 512, b"\0")
    count = len(content) // 512
    end, free, fat_mark = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
    table = [fat_mark, end, *range(3, count + 2), end]
    assert len(table) <= 128
    table += [free] * (128 - len(table))
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    header += struct.pack("<HHHHH6xIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, 1, 0, 4096, end, 0, end, 0)
    header += struct.pack("<109I", 0, *([free] * 108))

    def entry(label: str, kind: int, child: int, first: int, size: int) -> bytes:
        raw = label.encode("utf-16-le")
        body = raw.ljust(64, b"\0") + struct.pack("<HBBIII", len(raw) + 2 if raw else 0, kind, 1, free, free, child)
        return body + bytes(36) + struct.pack("<IQ", first, size)

    directory = entry("Root Entry", 5, 1, end, 0) + entry(name, 2, free, 2, len(content))
    directory += entry("", 0, free, 0, 0) * 2
    return header + struct.pack("<128I", *table) + directory + content


def ods(content: str, parts: Mapping[str, bytes] | None = None, *, title: str = "") -> bytes:
    """An OpenDocument spreadsheet around tables, with these parts instead of its own."""
    spaces = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for short, name in (("office", "office"), ("table", "table"), ("text", "text"))
    )
    body = f"<office:body><office:spreadsheet>{content}</office:spreadsheet></office:body>"
    dc = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
    meta = f"<office:document-meta {spaces} {dc}><dc:title>{escape(title)}</dc:title></office:document-meta>"
    return documents.archive(
        {
            "mimetype": ODS.encode(),
            "content.xml": f"<office:document-content {spaces}>{body}</office:document-content>".encode(),
            "meta.xml": meta.encode(),
        }
        | dict(parts or {})
    )
