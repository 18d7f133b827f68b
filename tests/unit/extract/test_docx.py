import pytest

from indexer.extract import Extraction, Request, extract
from indexer.extract.types import Limits
from pipeline.errors import Permanent
from pipeline.outcomes import TextQuality
from tests.support import documents, hostile
from tests.support.documents import paragraph, part

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


def test_headings_are_known_by_the_name_of_their_style():
    body = paragraph("Erstes", "Berschrift1") + paragraph("word " * 400)
    assert {passage.heading for passage in read(documents.docx(body)).passages} == {"Erstes"}


@pytest.mark.parametrize("namespace", ["http://purl.oclc.org/ooxml/wordprocessingml/main"])
def test_the_strict_form_is_read(namespace: str):
    main = part("document", f"<w:body>{paragraph('strict')}</w:body>").replace(
        documents.WORD.encode(), namespace.encode()
    )
    assert text(read(documents.docx("", {"word/document.xml": main}))) == "strict\n\n"


def test_a_document_without_words_is_no_text():
    assert read(documents.docx("")).text_quality is TextQuality.NO_TEXT


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
