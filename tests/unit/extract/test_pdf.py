import re

import pytest

from indexer.extract import Extraction, Request, extract
from indexer.extract.types import Limits
from pipeline.errors import Permanent
from pipeline.outcomes import TextQuality
from tests.samples._pdfs import with_files
from tests.support import documents

PAGES = [["First page", "of the log"], [], ["Third page"]]


def read(content: bytes, **more: object) -> Extraction:
    return extract(Request(content, "a.pdf", **more))  # type: ignore[arg-type] # whatever the test says


def by_page(extraction: Extraction) -> dict[int | None, str]:
    return {passage.page: passage.text.strip() for passage in extraction.passages}


def test_text_by_page():
    found = read(documents.pdf(PAGES, "A title"))
    assert by_page(found) == {1: "First page\nof the log", 3: "Third page"}
    assert found.text_quality is TextQuality.OK
    assert found.facts == {"characters": 35, "pages": 3, "pages_without_text": 1, "title": "A title"}


def test_pages_without_any_text_succeed_as_no_text():
    found = read(documents.pdf([[], []]))
    assert found.text_quality is TextQuality.NO_TEXT
    assert found.passages == []
    assert found.facts["pages_without_text"] == 2


def test_a_word_broken_at_the_line_end_is_one_word():
    assert by_page(read(documents.pdf([["a chrono-", "meter"]]))) == {1: "a chronometer"}


def test_junk_before_the_header_and_no_header_at_all():
    whole = documents.pdf([["Found"]])
    assert by_page(read(b"junk\n" * 50 + whole)) == {1: "Found"}
    assert by_page(read(whole.removeprefix(b"%PDF-1.4\n"))) == {1: "Found"}


def test_what_was_typed_into_a_form_is_read():
    appearance = documents.stream(
        b"/Tx BMC BT /F1 12 Tf 2 5 Td (typed value) Tj ET EMC",
        "/Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font << /F1 7 0 R >> >> ",
    )
    form = documents.pdf_file(
        [
            b"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [5 0 R] >> >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R /Annots [5 0 R] >>",
            documents.stream(b""),
            (
                b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (typed value) /F 4 /Rect [10 10 210 30]"
                b" /P 3 0 R /AP << /N 6 0 R >> >>"
            ),
            appearance,
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        ]
    )
    assert by_page(read(form)) == {1: "typed value"}


@pytest.mark.parametrize(
    "content",
    [
        b"%PDF-1.7\nnothing else",
        documents.pdf([]),
        documents.pdf([["cut"]])[:200],
        documents.pdf_file([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [2 0 R] /Count 1 >>"]),
    ],
    ids=["only a header", "no pages", "cut off", "pages in a circle"],
)
def test_what_has_no_readable_page_is_corrupt(content: bytes):
    with pytest.raises(Permanent) as refusal:
        read(content)
    assert refusal.value.code == "corrupt"


def test_too_many_pages_are_refused():
    with pytest.raises(Permanent, match=r"has 3 pages; the limit is 2 \(FENCEPOST_EXTRACT__PAGES\)") as refusal:
        read(documents.pdf(PAGES), limits=Limits(pages=2))
    assert refusal.value.code == "limit_exceeded"


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        (Limits(members=1), "MEMBERS"),
        (Limits(member_bytes=10), "MEMBER_BYTES"),
        (Limits(total_bytes=20), "TOTAL_BYTES"),
    ],
)
def test_attached_files_over_a_limit_are_named_and_the_others_are_read(limits: Limits, name: str):
    found = read(with_files([("a.txt", b"short"), ("b.txt", b"words without end")]), limits=limits)
    assert [passage.member for passage in found.passages] == [None, "a.txt"]
    (named,) = found.facts["partial"]  # type: ignore[misc, union-attr] # a list
    assert re.fullmatch(rf"b.txt: .* \(FENCEPOST_EXTRACT__{name}\)", str(named))


def test_too_many_characters_are_cut_off():
    found = read(documents.pdf([["word " * 15] * 40] * 3), limits=Limits(characters=3000))
    assert found.text_quality is TextQuality.TRUNCATED
    assert found.facts["characters"] == 3000
