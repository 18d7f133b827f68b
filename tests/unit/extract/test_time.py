"""Documents that are too long for the time: what was read until then is handed over."""

import pytest

from indexer.extract import KINDS, Extraction, Limits, Request, extract
from indexer.extract.mail.mime import parts_of
from indexer.extract.readers import eml, spreadsheet
from indexer.extract.types import TOO_LONG
from pipeline.outcomes import TextQuality
from tests.samples import _epub, _opendocument, _workbooks
from tests.samples._messages import outlook, part
from tests.samples.msg import PAGE
from tests.support import documents

LINES = [f"line {n} of the keeper's long log" for n in range(60_000)]
ROWS = [[line] for line in LINES[:3000]]
HTML = f"<!doctype html>{''.join(f'<p>{line}' for line in LINES)}".encode()
ODT = _opendocument.content("".join(map(_opendocument.paragraph, LINES)))
CELLS = "".join(
    f"<table:table-row><table:table-cell><text:p>{line}</text:p></table:table-cell></table:table-row>" for line in LINES
)

LONG = {
    "log.html": HTML,
    "log.xml": f"<log>{''.join(f'<p>{line}</p>' for line in LINES)}</log>".encode(),
    "log.rtf": b"{\\rtf1 " + "\\par ".join(LINES).encode() + b"}",
    "log.md": "\n\n".join(LINES[:1000]).encode(),
    "log.docx": documents.docx("".join(map(documents.paragraph, LINES))),
    "log.odt": _opendocument.file(ODT),
    "log.fodt": ODT.replace(b"document-content", b"document"),
    "log.ods": _workbooks.ods(f'<table:table table:name="Log">{CELLS}</table:table>'),
    "log.msg": outlook({PAGE: HTML}),
}


def read(content: bytes, name: str) -> Extraction:
    return extract(Request(content, name, seconds=0))


@pytest.mark.parametrize("name", LONG)
def test_what_was_read_until_then_is_handed_over(name: str):
    found = read(LONG[name], name)
    assert found.text_quality is TextQuality.TRUNCATED
    assert found.facts["out_of_time"]
    text = "".join(passage.text for passage in found.passages)
    assert LINES[0] in text
    assert LINES[-1] not in text


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"<!doctype html><p>short", "a.html"),
        (b"<a>short</a>", "a.xml"),
        (b"{\\rtf1 short}", "a.rtf"),
        (b"short", "a.md"),
    ],
)
def test_a_short_document_is_read_before_anybody_looks_at_the_time(content: bytes, name: str):
    found = read(content, name)
    assert found.text_quality is TextQuality.OK
    assert "out_of_time" not in found.facts


def test_a_sheet_ends_among_its_rows():
    request = Request(b"", seconds=0)
    with spreadsheet._opened(_workbooks.xlsx({"Log": ROWS})) as book:
        lines, left = spreadsheet._lines(book, 0, 10**6, request)
    assert (lines[-1], left < 0) == (ROWS[998][0], True)
    assert request.spent.out_of_time


def test_a_book_ends_between_two_chapters():
    found = read(_epub.book({"one.xhtml": _epub.chapter("<p>a")}), "a.epub")
    assert found.text_quality is TextQuality.NO_TEXT
    assert (found.facts["truncated"], found.facts["out_of_time"]) == (True, True)


def test_a_page_that_was_cut_cuts_its_message():
    message = eml._Message(Request(b"", seconds=0), transcoded=False)
    (page,) = parts_of(part(HTML, "text/html"))[1]
    message.read_body([])
    assert message._page(page)
    assert message.members.truncated


def test_a_page_is_read_no_further_than_its_text_may_be_kept():
    reading = KINDS["html"].reader()(HTML, Request(HTML, limits=Limits(characters=1000)))
    assert reading.truncated
    assert 1000 < sum(len(block.text) for block in reading.blocks) < len(HTML) / 4


def test_a_member_that_was_left_out_for_its_time_is_told_as_such():
    content = documents.archive({"a.txt": b"a", "b.txt": b"b"})
    found = extract(Request(content, left_out={1: TOO_LONG}))
    assert (found.text_quality, found.facts["out_of_time"]) == (TextQuality.PARTIAL, True)
