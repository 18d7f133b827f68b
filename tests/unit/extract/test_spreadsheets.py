"""Cells as people read them, and the rectangle that a sheet spans."""

from datetime import date, datetime, time, timedelta
from time import thread_time

import pytest

from indexer.extract import Limits, Request, extract
from indexer.extract.sheets import extent
from indexer.extract.sheets.cells import line, shown
from indexer.extract.sheets.shared import Strings
from pipeline.errors import Permanent
from pipeline.outcomes import TextQuality
from tests.samples import _opendocument, _workbooks
from tests.support import documents

FAR = 'r="XFD1048576"'


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (5.0, "5"),
        (-0.25, "-0.25"),
        (0.1 + 0.2, "0.3"),
        (123456789012345.0, "123456789012345"),
        (1e300, "1e+300"),
        (7, "7"),
        (True, "TRUE"),
        (date(2024, 3, 1), "2024-03-01"),
        (datetime(2024, 3, 1), "2024-03-01"),  # noqa: DTZ001 - a cell has no zone
        (datetime(2024, 3, 1, 14, 30), "2024-03-01 14:30"),  # noqa: DTZ001
        (time(7, 5, 9), "07:05:09"),
        (timedelta(hours=30, minutes=5), "30:05"),
        (-timedelta(seconds=61), "-0:01:01"),
    ],
)
def test_a_value_as_people_read_it(value: object, words: str):
    assert shown(value) == words


def test_a_row_without_its_empty_cells():
    assert line(["", 5.0, "", "two\r\nlines", ""]) == "5\ttwo  lines"
    assert line(["", ""]) == ""


def sheet(rows: str) -> bytes:
    return _workbooks.sheet_part(rows)


@pytest.mark.parametrize(
    ("rows", "cells"),
    [
        ("", 0),
        ('<row r="2"><c r="C2"><v>1</v></c></row>', 6),
        ("<row><c><v>1</v></c><c><v>2</v></c></row><row><c><v>1</v></c></row>", 4),
        (f'<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c {FAR} s="1"/></row>', 1),
        (f'<row r="1"><c r="A1"><v>1</v></c><c {FAR}><v>1</v></c></row>', 16_384 * 1_048_576),
        ("<row r='9'><c r = 'ab3'><is><t>x</t></is></c></row>", 28 * 3),
        (f'<row r="1"><c {FAR}><v>1</v></row>', 16_384 * 1_048_576),
    ],
    ids=["empty", "one", "without places", "only a format", "far", "other quotes", "not well-formed"],
)
def test_the_extent_of_a_sheet(rows: str, cells: int):
    assert extent.of_xml(sheet(rows), "sheet1.xml", 100) == cells


def test_a_large_sheet_is_not_taken_for_smaller_than_it_is():
    rows = "".join(f'<row r="{r}"><c r="A{r}"><v>{r}</v></c><c r="AB{r}"><v>1</v></c></row>' for r in range(1, 40_000))
    assert extent.of_xml(sheet(rows), "sheet1.xml", 20_000_000) == 39_999 * 28
    without_places = sheet(rows.replace(' r="AB', ' x="AB'))
    assert extent.of_xml(without_places, "sheet1.xml", 20_000_000) == 39_999 * 2


def test_the_extent_of_a_binary_sheet():
    rows = _workbooks.xlsb_row(0, ["a"]) + _workbooks.xlsb_row(9, [None, None, 7])
    assert extent.of_binary(rows) == 30
    assert extent.of_binary(rows[:-9]) <= 30


def test_the_extent_of_an_old_workbook():
    cells = _workbooks.biff_cell(0, 0, "a") + _workbooks.biff_cell(9, 2, 7)
    assert extent.of_old_workbook(_workbooks.xls_file(_workbooks.biff_cell(3, 1, 7), cells, names="AB")) == 30
    assert extent.of_old_workbook(b"\xd0\xcf\x11\xe0 and nothing else") == 0


def test_what_spans_too_much_is_refused_with_the_setting_that_allows_more():
    far = _workbooks.xlsx({"Log": []}, {"xl/worksheets/sheet1.xml": sheet(f'<row r="1"><c {FAR}><v>1</v></c></row>')})
    said = r"sheet1.xml spans 17,179,869,184 cells; the limit is 20,000,000 \(FENCEPOST_EXTRACT__CELLS\)"
    with pytest.raises(Permanent, match=said) as refusal:
        extract(Request(far))
    assert refusal.value.code == "limit_exceeded"


def test_a_sheet_is_named_in_the_heading_of_its_text():
    found = extract(Request(_workbooks.xlsx({"Log": [["a"]], "Tides": [["b"]]})))
    assert [(p.page, p.heading, p.text.strip()) for p in found.passages] == [(1, "Log", "a"), (2, "Tides", "b")]


TIDES = (
    '<table:table table:name="Tides"><table:table-row><table:table-cell><text:p>low</text:p></table:table-cell>'
    "<table:table-cell><text:p>high water</text:p></table:table-cell></table:table-row></table:table>"
)


def test_a_spreadsheet_that_is_encrypted_as_a_whole_needs_a_password():
    manifest = {"META-INF/manifest.xml": _opendocument.manifest_of_encrypted("encrypted-package")}
    members = {"mimetype": _workbooks.ODS.encode(), "encrypted-package": b"\x00"} | manifest
    with pytest.raises(Permanent) as refusal:
        extract(Request(documents.archive(members)))
    assert refusal.value.code == "password_required"
    picture = {"META-INF/manifest.xml": _opendocument.manifest_of_encrypted("Pictures/a.png")}
    assert extract(Request(_workbooks.ods(TIDES, picture))).passages[0].text.strip() == "low\thigh water"


def test_damaged_properties_of_a_spreadsheet_are_named_and_its_cells_read():
    found = extract(Request(_workbooks.ods(TIDES, {"meta.xml": b"<torn"})))
    assert (found.passages[0].heading, found.text_quality) == ("Tides", TextQuality.PARTIAL)
    assert found.facts["partial"] == ["meta.xml: it is damaged"]


def test_a_spreadsheet_is_cut_in_the_middle_of_a_row():
    found = extract(Request(_workbooks.ods(TIDES), limits=Limits(characters=5)))
    assert (found.passages[0].text.strip(), found.text_quality) == ("low", TextQuality.TRUNCATED)


SPOKEN = "<si><r><t>high-</t></r><r><t>tide</t></r><rPh><t>tie d</t></rPh></si>"
REFER = '<c r="A{0}" t="s"><v>0</v></c>'
USUAL = [
    REFER,
    "<x:c r='A{0}' s=\"3\" t='s' ><x:v>0</x:v></x:c>",
    '<c r="A{0}" t="s" s="1">\n <v>0</v>\n </c>',
]
ODD = [
    '<c r="A{0}" t="s"><f>B1</f><v>0</v></c>',
    '<c r="A{0}" t="s"><v>0</v><v>0</v></c>',
    '<c r="A{0}" t="s" x="><v>1</v></c>"><v>0</v></c>',
    '<c r="A{0}" t="s"><!-- 1 --><v>0</v></c>',
]


@pytest.mark.parametrize("cell", USUAL + ODD)
def test_cells_that_share_a_string_are_read_until_there_is_enough(cell: str):
    found = extract(Request(_workbooks.sharing_xlsx(50, SPOKEN, cell=cell), limits=Limits(characters=100)))
    assert found.text_quality is TextQuality.TRUNCATED
    text = "".join(passage.text for passage in found.passages)
    assert (len(text), text[:20]) == (100, "high-tide\nhigh-tide\n")
    all_of_it = extract(Request(_workbooks.sharing_xlsx(50, SPOKEN, cell=cell)))
    assert (all_of_it.text_quality, all_of_it.facts["characters"]) == (TextQuality.OK, 501)


@pytest.mark.parametrize("cell", USUAL)
def test_what_cells_with_shared_strings_have_together_is_counted_as_it_is(cell: str):
    strings = Strings([f"<sst>{SPOKEN}<si><t>{'x' * 1000}</t></si></sst>".encode()])
    sheet_ = sheet("".join(cell.format(n) for n in range(50)).replace("x:", ""))
    assert strings.cut(sheet_, 450, binary=False) == (sheet_, False)
    kept, cut = strings.cut(sheet_, 449, binary=False)
    assert (kept.count(b"<v>"), cut) == (49, True)


@pytest.mark.parametrize("cell", ODD)
def test_a_string_that_nobody_can_tell_counts_as_the_longest(cell: str):
    strings = Strings([f"<sst>{SPOKEN}<si><t>{'x' * 1000}</t></si></sst>".encode()])
    kept, cut = strings.cut(sheet(cell.format(1) + cell.format(2)), 1999, binary=False)
    assert (kept.count(b'r="A'), cut) == (1, True)


def test_the_longest_string_is_looked_for_once():
    def seconds(cells: int) -> float:
        sheet_ = sheet(ODD[0].format(1) * cells)
        strings = Strings([b"<sst>" + b"<si/>" * 50_000 + b"</sst>"])
        started = thread_time()
        assert strings.cut(sheet_, 1000, binary=False) == (sheet_, False)
        return thread_time() - started

    assert seconds(cells=2000) < 12 * seconds(cells=1)


def test_strings_that_nobody_can_tell_count_as_all_of_them():
    for parts in ([b"<sst><si><t>a</si>"], [b"<sst/>", b"<sst/>"]):
        cells = sheet(REFER.format(1) + REFER.format(2))
        most = 2 * sum(map(len, parts)) - 1
        assert Strings(parts).cut(cells, most, binary=False)[1]
        assert not Strings(parts).cut(cells, most + 1, binary=False)[1]


def test_binary_cells_that_share_a_string_are_read_until_there_is_enough():
    found = extract(Request(_workbooks.sharing_xlsb(50, "high tide"), limits=Limits(characters=100)))
    assert (found.text_quality, found.facts["characters"]) == (TextQuality.TRUNCATED, 100)
    found = extract(Request(_workbooks.sharing_xlsb(50, "high tide")))
    assert (found.text_quality, found.facts["characters"]) == (TextQuality.OK, 501)


def test_when_the_time_is_up_the_other_sheets_are_named():
    found = extract(Request(_workbooks.xlsx({"Log": [["a"]], "Tides": [["b"]]}), seconds=0))
    why = "the time was up before it was read"
    assert found.facts["partial"] == [f"Log: {why}", f"Tides: {why}"]
