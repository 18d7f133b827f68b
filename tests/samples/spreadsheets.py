"""Spreadsheets of every format, and some that mean harm."""

from datetime import date

from indexer.extract import Limits
from tests.samples import Sample, _workbooks
from tests.support import documents

_LOG = {
    "Log": [
        ["Day", "Visitors", "Open"],
        [date(2024, 3, 1), 5, True],
        [None, None],
        [None, "café & 灯台", 0.1 + 0.2, "=B2+2|seven"],
    ],
    "Empty": [],
    "Rules": [["No swimming\nhere"], [-2.5, False]],
}
_FOUND = ("Day\tVisitors\tOpen\n2024-03-01\t5\tTRUE\ncafé & 灯台\t0.3\tseven\n", "No swimming here\n-2.5\tFALSE")
_PLAIN = {"Log": [["灯台 keeper", 5, 2.5]], "Tides": [["low water"]]}
_PLAIN_FOUND = ("灯台 keeper\t5\t2.5", "low water")
_COMMENTS = b"<comments xmlns='x'><commentList><comment ref='A1'><text><t>ask the harbour master</t></text></comment>"
_DRAWING = b"<d xmlns:a='main'><a:p><a:t>a text</a:t><a:t> box</a:t></a:p><a:p><a:t>second line</a:t></a:p></d>"
_CORE = b"<p xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:title>Visitors of 2024</dc:title></p>"

_DATE = '<table:table-cell office:value-type="date" office:date-value="2024-03-01T00:00:00"><text:p>1.3.24</text:p>'
_ODS = (
    f'<table:table table:name="Log"><table:table-row>{_DATE}</table:table-cell>'
    '<table:table-cell table:number-columns-repeated="16000"/><table:table-cell><text:p>two<text:s/>words '
    "<text:span>more</text:span></text:p><text:p>below</text:p><office:annotation><text:p>a note</text:p>"
    '</office:annotation></table:table-cell></table:table-row><table:table-row table:number-rows-repeated="1048000">'
    '<table:table-cell/></table:table-row></table:table><table:table table:name="Tides"><table:table-row>'
    "<table:table-cell><text:p>low water</text:p></table:table-cell></table:table-row></table:table>"
)
_REPEATED = (
    '<table:table><table:table-row table:number-rows-repeated="999999999"><table:table-cell'
    ' table:number-columns-repeated="99999999999999"><text:p>again</text:p></table:table-cell>'
    "</table:table-row></table:table>"
)


def corners(column: str, row: int) -> bytes:
    """A workbook with two cells in opposite corners of a sheet."""
    rows = f'<row r="1"><c r="A1"><v>1</v></c></row><row r="{row}"><c r="{column}{row}"><v>1</v></c></row>'
    return _one_sheet(rows)


def _one_sheet(rows: str) -> bytes:
    return _workbooks.xlsx({"Log": []}, {"xl/worksheets/sheet1.xml": _workbooks.sheet_part(rows)})


def four_million_cells() -> bytes:
    """Four sheets of a million numbers each."""
    rows = "".join(
        f'<row r="{r}">' + "".join(f'<c r="{column}{r}"><v>{r}</v></c>' for column in "ABCDEFGHIJ") + "</row>"
        for r in range(1, 100_001)
    )
    part = _workbooks.sheet_part(rows)
    return _workbooks.xlsx(
        dict.fromkeys(("A", "B", "C", "D"), ()), {f"xl/worksheets/sheet{n}.xml": part for n in range(1, 5)}
    )


def _with_asides() -> bytes:
    parts = {
        "xl/comments1.xml": _COMMENTS + b"</commentList></comments>",
        "xl/drawings/drawing1.xml": _DRAWING,
        "docProps/core.xml": _CORE,
    }
    return _workbooks.xlsx(_LOG, parts)


def _damaged() -> bytes:
    return _workbooks.xlsx(_PLAIN, {"xl/worksheets/sheet1.xml": b"<worksheet><sheetData><row><c></row>"})


def _bomb() -> bytes:
    return _workbooks.xlsx(_PLAIN, {"xl/sharedStrings.xml": b" " * (65 << 20)})


_SPREADSHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

SAMPLES = [
    Sample("log.xlsx", lambda: _workbooks.xlsx(_LOG), words=_FOUND, pages=3, media_type=_SPREADSHEET),
    Sample("hidden.xlsx", lambda: _workbooks.xlsx(_LOG, hidden="Rules"), words=_FOUND, pages=3),
    Sample("strict.xlsx", lambda: _workbooks.xlsx(_LOG, namespace=_workbooks.STRICT), words=_FOUND, pages=3),
    Sample("asides.xlsx", _with_asides, words=(*_FOUND, "ask the harbour master", "a text box\nsecond line"), pages=3),
    Sample("binary.xlsb", lambda: _workbooks.xlsb(_PLAIN), words=_PLAIN_FOUND, pages=2),
    Sample(
        "old.xls", lambda: _workbooks.xls(_PLAIN), words=_PLAIN_FOUND, pages=2, media_type="application/vnd.ms-excel"
    ),
    Sample(
        "log.ods",
        lambda: _workbooks.ods(_ODS, title="The log"),
        words=("2024-03-01\ttwo words more below\na note", "low water"),
        pages=2,
        media_type="application/vnd.oasis.opendocument.spreadsheet",
    ),
    Sample("repeated.ods", lambda: _workbooks.ods(_REPEATED), words=("again\tagain",), pages=1),
    Sample(
        "password.ods",
        lambda: _workbooks.ods("", manifest="<file-entry><encryption-data/></file-entry>"),
        outcome="password_required",
    ),
    Sample("damaged-sheet.xlsx", _damaged, outcome="partial", words=("low water",), partial=("Log: it is damaged",)),
    Sample("nothing.xlsx", lambda: _workbooks.xlsx({"Log": [], "More": []}), outcome="no_text", pages=2),
    Sample(
        "no-workbook.xlsx",
        lambda: documents.archive({"[Content_Types].xml": b"", "xl/styles.xml": b"<x/>"}),
        outcome="corrupt",
    ),
    Sample("truncated.xlsx", lambda: _workbooks.xlsx(_LOG)[:900], outcome="corrupt"),
    Sample("truncated.xls", lambda: _workbooks.xls(_PLAIN)[:1600], outcome="corrupt"),
    Sample("sparse-corner.xlsx", lambda: corners("XFD", 1_048_576), outcome="limit_exceeded"),
    Sample(
        "sparse-corner.xlsb",
        lambda: _workbooks.xlsb_file(
            [_workbooks.xlsb_row(0, [1]), _workbooks.xlsb_row(1_048_575, [None] * 16_383 + [1])]
        ),
        outcome="limit_exceeded",
    ),
    Sample("sparse-corner.xls", lambda: _workbooks.xls_file(_workbooks.biff_cell(65_535, 65_535, 1)), "limit_exceeded"),
    Sample(
        "formatted-corner.xlsx",
        lambda: _one_sheet('<row r="1"><c><v>17</v></c></row><row r="1048576"><c r="XFD1048576" s="1"/></row>'),
        words=("17",),
    ),
    Sample("bomb.xlsx", _bomb, outcome="limit_exceeded", large=True),
    Sample("cut.xlsx", lambda: _workbooks.xlsx(_LOG), outcome="truncated", limits=Limits(characters=30)),
    Sample("four-million-cells.xlsx", four_million_cells, outcome="truncated", words=("77777\t77777",), large=True),
]
