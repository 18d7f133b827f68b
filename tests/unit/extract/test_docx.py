import time

import pytest

from indexer.extract import Extraction, Request, extract
from indexer.extract.types import Limits
from pipeline.errors import Permanent
from pipeline.outcomes import TextQuality
from tests.samples.docx import box, drawing, everything, field, main_elsewhere, word
from tests.support import documents, hostile
from tests.support.documents import paragraph, part
from tests.support.office import relationships

BOX = (
    "<w:p><w:r><w:t>before </w:t></w:r><w:r>"
    '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
    f"<mc:Choice><w:txbxContent>{paragraph('in the box')}</w:txbxContent></mc:Choice>"
    f"<mc:Fallback><w:txbxContent>{paragraph('in the box')}</w:txbxContent></mc:Fallback>"
    "</mc:AlternateContent></w:r><w:r><w:t>after</w:t></w:r></w:p>"
)
MARKED_PAGE = "<w:r><w:lastRenderedPageBreak/><w:t>{}</w:t></w:r>"


def read(content: bytes, **more: object) -> Extraction:
    return extract(Request(content, "a.docx", **more))  # type: ignore[arg-type] # whatever the test says


def text(extraction: Extraction) -> str:
    return "".join(passage.text for passage in extraction.passages)


def test_every_part_is_read_and_repeated_headers_once():
    parts = {
        "word/header1.xml": part("hdr", paragraph("the header")),
        "word/header2.xml": part("hdr", paragraph("the header")),
        "word/footer1.xml": part("ftr", paragraph("the footer")),
        "word/footnotes.xml": part("footnotes", f"<w:footnote>{paragraph('a footnote')}</w:footnote>"),
        "word/endnotes.xml": part("endnotes", f"<w:endnote>{paragraph('an endnote')}</w:endnote>"),
        "word/comments.xml": part("comments", f"<w:comment>{paragraph('a comment')}</w:comment>"),
        "word/theme/theme1.xml": part("theme", paragraph("no text")),
    }
    body = paragraph("Body & soul") + documents.table([["a", "b"], ["c", "d"]])
    assert text(read(documents.docx(body, parts))) == (
        "Body & soul\n\na\tb\t\nc\td\t\nthe header\n\nthe footer\n\na footnote\n\nan endnote\n\na comment\n\n"
    )


def test_a_text_box_follows_its_paragraph_and_is_read_once():
    assert text(read(documents.docx(BOX))) == "before after\n\nin the box\n\n"


def test_everything_is_told_once():
    whole = text(read(everything()))
    once = [
        "in the box",
        "boxed\tcells",
        "boxed header",
        "A lighthouse at dusk",
        "Easterlies",
        "Light the lamp",
        "灯台",
    ]
    assert {words: whole.count(words) for words in once} == dict.fromkeys(once, 1)


def test_deleted_text_and_field_codes_are_not_text():
    body = (
        "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:instrText>PAGE</w:instrText></w:r>"
        "<w:ins><w:r><w:t>new</w:t><w:tab/><w:t>x</w:t><w:br/><w:noBreakHyphen/><w:t>y</w:t></w:r></w:ins></w:p>"
    )
    assert text(read(documents.docx(body))) == "new\tx\n\u2011y\n\n"


def test_pages_are_approximate_and_a_marked_break_counts_once():
    body = (
        paragraph("page one")
        + documents.page_break()
        + f"<w:p>{MARKED_PAGE.format('page two')}</w:p>"
        + f"<w:p><w:r><w:t>more </w:t></w:r>{MARKED_PAGE.format('page three')}</w:p>"
    )
    found = read(documents.docx(body))
    assert [(p.page, p.text.split()) for p in found.passages] == [
        (1, ["page", "one"]),
        (2, ["page", "two", "more"]),
        (3, ["page", "three"]),
    ]
    assert found.facts["pages"] == 3
    assert found.facts["pages_approximate"] is True


def test_without_marks_the_pages_are_unknown():
    found = read(documents.docx(paragraph("words"), title="A title"))
    assert [passage.page for passage in found.passages] == [None]
    assert found.facts == {"characters": 7, "title": "A title"}


def test_a_row_over_the_end_of_a_page_counts_once():
    cell = f"<w:tc><w:p><w:r><w:t>above</w:t></w:r>{MARKED_PAGE.format('below')}</w:p></w:tc>"
    found = read(word(f"<w:tbl><w:tr>{cell * 3}</w:tr><w:tr>{cell * 2}</w:tr></w:tbl>"))
    assert found.facts["pages"] == 3


def test_a_paragraph_may_ask_for_a_new_page():
    asking = "<w:p><w:pPr><w:pageBreakBefore{}/></w:pPr><w:r><w:t>words</w:t></w:r></w:p>"
    body = (
        asking.format("") + asking.format("") + asking.format(' w:val="0"') + documents.page_break() + asking.format("")
    )
    assert read(word(body)).facts["pages"] == 3


def test_headings_are_known_by_the_name_of_their_style():
    body = paragraph("Erstes", "Berschrift1") + paragraph("word " * 400)
    assert {passage.heading for passage in read(documents.docx(body)).passages} == {"Erstes"}


def test_a_heading_stands_under_those_above_it():
    before = '<w:pPrChange><w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:pPrChange>'
    direct = f'<w:p><w:pPr><w:outlineLvl w:val="1"/>{before}</w:pPr><w:r><w:t>Wick</w:t></w:r></w:p>'
    body = (
        paragraph("Handbook", "Title")
        + paragraph("Lamp", "Berschrift1")
        + direct
        + box(paragraph("Not a heading", "Berschrift1"))
        + paragraph("word " * 400)
        + paragraph("Sea", "Berschrift1")
        + paragraph("word " * 400)
    )
    assert [passage.heading for passage in read(word(body)).passages][1:] == [
        *["Handbook › Lamp › Wick"] * 2,
        *["Handbook › Sea"] * 2,
    ]


@pytest.mark.parametrize("namespace", ["http://purl.oclc.org/ooxml/wordprocessingml/main"])
def test_the_strict_form_is_read(namespace: str):
    main = part("document", f"<w:body>{paragraph('strict')}</w:body>").replace(
        documents.WORD.encode(), namespace.encode()
    )
    assert text(read(documents.docx("", {"word/document.xml": main}))) == "strict\n\n"


def test_the_main_part_is_what_the_package_says():
    assert text(read(main_elsewhere())) == "found by relation\n\n"


def test_a_part_around_that_is_damaged_is_named_and_the_rest_is_read():
    parts = {
        "word/header1.xml": part("hdr", paragraph("the header") + "<w:p>")[:-20],
        "word/comments.xml": part("comments", paragraph("a comment")),
    }
    links = [("rId1", "header", "header1.xml"), ("rId2", "comments", "comments.xml"), ("rId3", "endnotes", "gone.xml")]
    found = read(
        word(paragraph("the body") + drawing('<c:chart r:id="rId4"/>'), parts, *links, ("rId4", "chart", "no.xml"))
    )
    assert text(found) == "the body\n\nthe header\n\na comment\n\n"
    assert found.text_quality is TextQuality.PARTIAL
    assert [str(name).partition(":")[0] for name in found.facts["partial"]] == [  # type: ignore[union-attr] # a list
        "chart",
        "header",
        "endnotes",
    ]


def test_embedded_and_imported_documents_are_members():
    parts = {
        "word/embeddings/Tides.docx": documents.docx(paragraph("high water")),
        "word/chunk.html": b"<html><p>imported",
        "word/embeddings/broken.docx": b"PK\x03\x04",
        "word/embeddings/large.txt": b"x" * 50_000,
    }
    links = [
        ("rId1", "package", "embeddings/Tides.docx"),
        ("rId2", "aFChunk", "chunk.html"),
        ("rId3", "package", "embeddings/broken.docx"),
        ("rId4", "package", "embeddings/gone.docx"),
        ("rId5", "package", "embeddings/large.txt"),
    ]
    found = read(word(paragraph("outside"), parts, *links), limits=Limits(member_bytes=40_000))
    assert [(passage.member, passage.text.strip()) for passage in found.passages] == [
        (None, "outside"),
        ("Tides.docx", "high water"),
        ("chunk.html", "imported"),
    ]
    assert [str(name).partition(":")[0] for name in found.facts["partial"]] == [  # type: ignore[union-attr] # a list
        "broken.docx",
        "gone.docx",
        "large.txt",
    ]


def test_documents_too_deep_inside_each_other_cost_only_themselves():
    content = documents.docx(paragraph("level 0"))
    for level in range(1, 6):
        parts = {
            "word/inside.docx": content,
            "word/_rels/document.xml.rels": relationships(("rId1", "package", "inside.docx")),
        }
        content = documents.docx(paragraph(f"level {level}"), parts)
    found = read(content)
    assert text(found).split() == ["level", "5", "level", "4", "level", "3", "level", "2"]
    assert "FENCEPOST_EXTRACT__DEPTH" in str(found.facts["partial"])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"),
        ("<w:p><w:txbxContent>", "</w:txbxContent></w:p>"),
        ("<w:p>", "</w:p>"),
        ('<w:r><w:fldChar w:fldCharType="begin"/>', "</w:r>"),
        ("<mc:AlternateContent><mc:Choice>", "</mc:Choice></mc:AlternateContent>"),
    ],
)
def test_depth_is_paid_for_once(before: str, after: str):
    def seconds(depth: int) -> float:
        inside = f"<w:p>{MARKED_PAGE.format('x')}</w:p>" * (depth // 10)
        content = word(before * depth + inside + after * depth)
        begun = time.process_time()
        assert "x" in text(read(content))
        return time.process_time() - begun

    assert seconds(40_000) < 40 * max(seconds(4_000), 0.01)


def test_a_document_without_words_is_no_text():
    assert read(documents.docx("")).text_quality is TextQuality.NO_TEXT


def test_a_paragraph_with_a_link_is_cut_off_not_lost():
    body = field(' HYPERLINK "https://example.org/" ', "word " * 1000)
    found = read(word(body), limits=Limits(characters=1000))
    assert found.text_quality is TextQuality.TRUNCATED
    assert found.facts["characters"] == 1000


def test_a_header_beyond_the_limit_is_cut_off_not_lost():
    header = {"word/header1.xml": part("hdr", field(' HYPERLINK "https://example.org/" ', "word " * 1000))}
    found = read(word(paragraph("body"), header, ("rId1", "header", "header1.xml")), limits=Limits(characters=1000))
    assert found.text_quality is TextQuality.TRUNCATED
    assert found.facts["characters"] == 1000


def test_one_long_paragraph_is_cut_off_not_lost():
    found = read(documents.docx(paragraph("word " * 1000)), limits=Limits(characters=1000))
    assert found.text_quality is TextQuality.TRUNCATED
    assert found.facts["characters"] == 1000


@pytest.mark.parametrize(
    ("content", "code", "says"),
    [
        (hostile.entity_docx(), "corrupt", "declares XML entities"),
        (documents.docx("", {"word/document.xml": b"<w:document"}), "corrupt", "not well-formed"),
        (
            documents.docx("", {"word/document.xml": b"<?xml version='1.0' encoding='euc-jp'?><a>\xa4\xa2</a>"}),
            "corrupt",
            "not well-formed",
        ),
        (documents.archive({"[Content_Types].xml": b"", "word/other.xml": b""}), "corrupt", "no main part"),
        (hostile.bomb_docx(2), "limit_exceeded", "FENCEPOST_EXTRACT__RATIO"),
        (hostile.crowded_zip(60), "limit_exceeded", "FENCEPOST_EXTRACT__MEMBERS"),
        (documents.docx(paragraph("word " * 90_000)), "limit_exceeded", "FENCEPOST_EXTRACT__MEMBER_BYTES"),
        (
            documents.docx("", {f"word/header{n}.xml": bytes(300_000) for n in range(5)}),
            "limit_exceeded",
            "FENCEPOST_EXTRACT__TOTAL_BYTES",
        ),
        (documents.docx(documents.page_break() * 30), "limit_exceeded", "FENCEPOST_EXTRACT__PAGES"),
    ],
)
def test_refusals(content: bytes, code: str, says: str):
    limits = Limits(members=50, member_bytes=400_000, total_bytes=1_000_000, pages=20)
    if "RATIO" in says:
        limits = Limits()
    with pytest.raises(Permanent, match=says) as refusal:
        read(content, limits=limits)
    assert refusal.value.code == code


def test_a_declared_size_that_lies_is_found_out_by_counting():
    honest = hostile.bomb_docx(2)
    size = honest.rindex(b"word/document.xml") - 46 + 24  # the uncompressed size in the directory
    lying = honest[:size] + (100).to_bytes(4, "little") + honest[size + 4 :]
    with pytest.raises(Permanent) as refusal:
        read(lying)
    assert refusal.value.code in {"corrupt", "limit_exceeded"}


def test_a_broken_member_is_corrupt():
    whole = documents.docx(paragraph("word " * 500), compress=True)
    at = whole.index(b"word/document.xml") + 40
    with pytest.raises(Permanent) as refusal:
        read(whole[:at] + b"\xff" * 20 + whole[at + 20 :])
    assert refusal.value.code == "corrupt"


def test_an_encrypted_member_needs_a_password():
    whole = bytearray(documents.docx(paragraph("secret")))
    for at in (whole.index(b"word/document.xml") - 30 + 6, whole.rindex(b"word/document.xml") - 46 + 8):
        whole[at] |= 1
    with pytest.raises(Permanent) as refusal:
        read(bytes(whole))
    assert refusal.value.code == "password_required"
