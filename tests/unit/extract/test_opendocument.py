import pytest

from indexer.extract import Extraction, Request, extract
from pipeline.errors import Permanent
from tests.samples import _opendocument as odf
from tests.samples._opendocument import frame, heading, paragraph, slide


def read(content: bytes) -> Extraction:
    return extract(Request(content, "a.odt"))


def text(body: str) -> str:
    return "".join(passage.text for passage in read(odf.file(odf.content(body))).passages)


def places(extraction: Extraction) -> list[tuple[int | None, str | None, list[str]]]:
    return [(p.page, p.heading, p.text.split()) for p in extraction.passages]


def test_headings_make_paths():
    body = heading("Lamps") + heading("Oil", 2) + paragraph("word " * 400) + heading("Gas", 2) + paragraph("air")
    found = read(odf.file(odf.content(body)))
    assert {p.heading for p in found.passages} >= {"Lamps › Oil"}
    assert found.passages[-1].text.endswith("Gas\n\nair\n\n")


def test_white_space_is_what_the_elements_say():
    assert text("<text:p>a\n   b<text:s text:c='2'/>c<text:tab/>d<text:line-break/>e</text:p>") == "a b  c\td\ne\n\n"


def test_a_senseless_number_of_spaces_is_one():
    assert text("<text:p>a<text:s text:c='-3'/>b<text:s text:c='x'/>c</text:p>") == "a b c\n\n"
    assert text("<text:p>a<text:s text:c='999999999999'/>b</text:p>") == "a b\n\n"


def test_notes_comments_and_links_follow_their_paragraph():
    body = (
        "<text:p>one<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        f"{paragraph('a note')}</text:note-body></text:note> two "
        "<text:a xlink:href='mailto:a@example.org'>three</text:a>"
        f"<text:a xlink:href='#here'/><office:annotation><dc:creator>me</dc:creator>{paragraph('a comment')}"
        "</office:annotation></text:p>"
    )
    assert text(body) == "one two three\n\na note\n\nmailto:a@example.org\n\na comment\n\n"


def test_a_reading_aid_does_not_break_the_word():
    ruby = "<text:ruby><text:ruby-base>{}</text:ruby-base><text:ruby-text>{}</text:ruby-text></text:ruby>"
    assert text(f"<text:p>{ruby.format('漢', 'かん')}{ruby.format('字', 'じ')}</text:p>") == "漢字\n\nかん\n\nじ\n\n"


def test_soft_hyphens_are_left_out():
    assert text(paragraph("Leucht\xadturm")) == "Leuchtturm\n\n"


def test_headers_and_footers_are_read_once_and_last():
    masters = "".join(
        f"<style:master-page><style:{kind}>{paragraph(words)}</style:{kind}></style:master-page>"
        for kind, words in (("header", "head"), ("footer", "foot"), ("header", "head"))
    )
    found = read(odf.file(odf.content(paragraph("body")), {"styles.xml": odf.styles(masters)}))
    assert "".join(p.text for p in found.passages) == "body\n\nhead\n\nfoot\n\n"


def test_a_style_that_begins_the_first_page_ends_none():
    style = '<style:style style:name="P" style:master-page-name="Standard"/>'
    masters = f"<style:master-page><style:header>{paragraph('head')}</style:header></style:master-page>"
    found = read(odf.file(odf.content(paragraph("body", "P"), styles=style), {"styles.xml": odf.styles(masters)}))
    assert "pages" not in found.facts


def test_pages_are_approximate_and_a_break_counts_once():
    style = '<style:style style:name="P"><style:paragraph-properties fo:break-before="page"/></style:style>'
    body = (
        paragraph("first", "P")
        + paragraph("second", "P")
        + "<text:p><text:soft-page-break/>third <text:soft-page-break/><text:soft-page-break/>fourth</text:p>"
    )
    found = read(odf.file(odf.content(body, styles=style)))
    assert [(page, words) for page, _, words in places(found)] == [
        (1, ["first"]),
        (2, ["second"]),
        (3, ["third"]),
        (4, ["fourth"]),
    ]
    assert (found.facts["pages"], found.facts["pages_approximate"]) == (4, True)


def test_without_marks_the_pages_are_unknown():
    found = read(odf.file(odf.content(paragraph("words")), {"meta.xml": odf.meta(" A  title ")}))
    assert places(found) == [(None, None, ["words"])]
    assert found.facts == {"characters": 7, "title": "A title"}


def test_slides_are_pages_with_their_notes_and_titles():
    body = slide("Why", "Because", "aloud") + "<draw:page/>" + slide("Who", "You")
    number = "<text:p><text:page-number>&lt;number&gt;</text:page-number><presentation:footer/></text:p>"
    static = f"{frame('Acme', 'footer')}<draw:frame>{number}</draw:frame>"
    masters = (
        f"<style:handout-master>{frame('<number>', 'page-number')}</style:handout-master>"
        f"<style:master-page>{frame('Click to edit', 'title')}{static}</style:master-page>"
    )
    found = read(odf.presentation(body, {"styles.xml": odf.styles(masters)}))
    assert places(found) == [
        (1, "Why", ["Why", "Because", "aloud"]),
        (3, "Who", ["Who", "You"]),
        (None, None, ["Acme"]),
    ]
    assert found.facts == {"characters": 37, "language": "en", "language_confidence": 0.95, "pages": 3}


@pytest.mark.parametrize("path", ["content.xml", "encrypted-package"])
def test_a_password_is_required_only_where_the_words_are_encrypted(path: str):
    with pytest.raises(Permanent) as refusal:
        read(odf.file(b"\x00", {"META-INF/manifest.xml": odf.manifest_of_encrypted(path)}))
    assert refusal.value.code == "password_required"
    picture = {"META-INF/manifest.xml": odf.manifest_of_encrypted("Pictures/a.png")}
    assert places(read(odf.file(odf.content(paragraph("words")), picture))) == [(None, None, ["words"])]


def test_entities_are_refused():
    with pytest.raises(Permanent, match="entities"):
        read(odf.file(odf.content(paragraph("a"), prologue='<!DOCTYPE a [<!ENTITY b "c">]>')))


def test_a_damaged_manifest_harms_nothing():
    found = read(odf.file(odf.content(paragraph("words")), {"META-INF/manifest.xml": b"<a"}))
    assert places(found) == [(None, None, ["words"])]


def test_a_damaged_part_beside_the_main_one_is_named():
    found = read(odf.file(odf.content(paragraph("words")), {"meta.xml": b"<a><b></a>", "styles.xml": b"<a>"}))
    assert places(found) == [(None, None, ["words"])]
    assert found.facts["partial"] == ["styles.xml: it is damaged", "meta.xml: it is damaged"]
