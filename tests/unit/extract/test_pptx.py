import time

import pytest

from indexer.extract import Extraction, Request, extract
from indexer.extract.types import Limits
from pipeline.errors import Permanent
from pipeline.outcomes import TextQuality
from tests.samples.pptx import everything
from tests.support import office
from tests.support.office import frame, group, notes, paragraphs, pptx, shape, slide, table

NOTES = [("rId1", "notesSlide", "../notesSlides/notesSlide1.xml")]


def read(content: bytes, **more: object) -> Extraction:
    return extract(Request(content, "a.pptx", **more))  # type: ignore[arg-type] # whatever the test says


def text(extraction: Extraction) -> str:
    return "".join(passage.text for passage in extraction.passages)


def test_slides_come_in_the_order_of_the_presentation():
    found = read(pptx([slide(shape("first")), slide(shape("second")), slide(), slide(shape("fourth"))]))
    assert [(passage.page, passage.text) for passage in found.passages] == [
        (1, "first\n\n"),
        (2, "second\n\n"),
        (4, "fourth\n\n"),
    ]
    assert found.facts["pages"] == 4
    assert "pages_approximate" not in found.facts


def test_the_title_comes_first_and_is_the_heading_under_its_section():
    slides = [
        slide(shape("words"), shape("Of", "lamps", place="title")),
        slide(shape("no title")),
        slide(shape("Storms", place="ctrTitle")),
    ]
    found = read(pptx(slides, sections=[("Evening", [1, 2]), ("Night", [3])]))
    assert [(passage.heading, passage.text) for passage in found.passages] == [
        ("Evening › Of lamps", "Of\nlamps\n\nwords\n\n"),
        ("Evening", "no title\n\n"),
        ("Night › Storms", "Storms\n\n"),
    ]


def test_shapes_groups_and_tables_are_apart():
    found = read(pptx([slide(shape("a", "b"), group(group(shape("c"))), table([["1", "2"], ["3", ""]]), shape("d"))]))
    assert text(found) == "a\nb\n\nc\n\n1\t2\t\n3\t\t\n\nd\n\n"


def test_everything_is_told_once():
    whole = text(read(everything()))
    once = ["A lighthouse at dusk", "Easterlies", "Light the lamp", "only in the older form", "gale", "Speak slowly"]
    assert {words: whole.count(words) for words in once} == dict.fromkeys(once, 1)


def test_notes_and_comments_are_on_their_slides_page():
    assert {page for passage in read(everything()).passages if "remark" in passage.text for page in [passage.page]} == {
        2
    }
    found = read(
        pptx([slide(), slide(shape("here"))], {"ppt/notesSlides/notesSlide1.xml": notes(shape("spoken"))}, {2: NOTES})
    )
    assert [(passage.page, passage.text) for passage in found.passages] == [(2, "here\n\nspoken\n\n")]


def test_headers_and_footers_are_kept_once():
    footed = slide(shape("words"), shape("Harbour Museum", place="ftr"))
    noted = notes(shape("Harbour Museum", place="ftr"), shape("Rehearsal", place="hdr"), shape("7", place="sldNum"))
    found = read(pptx([footed, footed], {"ppt/notesSlides/notesSlide1.xml": noted}, {2: NOTES}))
    assert [passage.text for passage in found.passages] == ["words\n\nHarbour Museum\n\n", "words\n\nRehearsal\n\n"]


def test_white_space_between_elements_is_no_text():
    body = shape("one", "two").replace("<a:", "\n  <a:").replace("</a:", "\n  </a:").replace("\n  </a:t>", "</a:t>")
    assert text(read(pptx([slide(body)]))) == "one\ntwo\n\n"


def test_a_line_break_a_field_and_an_equation():
    body = (
        "<p:sp><p:txBody><a:p><a:r><a:t>one</a:t></a:r><a:br/><a:r><a:t>two </a:t></a:r>"
        '<a:fld type="slidenum"><a:t>4711</a:t></a:fld><a:fld type="datetime1"><a:t>May</a:t></a:fld>'
        '<mc:AlternateContent><mc:Choice Requires="a14"><m:oMath><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup>'
        "<m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath></mc:Choice><mc:Fallback><a:r><a:t>no formula</a:t></a:r>"
        "</mc:Fallback></mc:AlternateContent></a:p></p:txBody></p:sp>"
    )
    assert text(read(pptx([slide(body)]))) == "one\ntwo Mayx^2\n\n"


def test_an_address_that_is_shown_anyway_is_not_repeated():
    link = '<a:p><a:r><a:rPr><a:{} r:id="{}"/></a:rPr><a:t>{}</a:t></a:r></a:p>'
    body = (
        shape("on a shape", inside='<a:hlinkHover r:id="rId3"/>')
        + f"<p:sp><p:txBody>{link.format('hlinkClick', 'rId1', 'https://example.org/')}"
        + f"{link.format('hlinkMouseOver', 'rId2', 'write to me')}</p:txBody></p:sp>"
    )
    links = [
        ("rId1", "hyperlink", "https://example.org/"),
        ("rId2", "hyperlink", "mailto:keeper@example.org"),
        ("rId3", "hyperlink", "https://example.org/shape"),
        ("rId4", "hyperlink", "https://example.org/nowhere"),
    ]
    assert text(read(pptx([slide(body)], links={1: links}))) == (
        "https://example.org/shape\non a shape\n\nhttps://example.org/\nwrite to me\nkeeper@example.org\n\n"
    )


def test_a_chart_shown_on_every_slide_is_read_once():
    slides = [slide(frame('<c:chart r:id="rId1"/>'))] * 3
    links = {n: [("rId1", "chart", "../charts/chart1.xml")] for n in (1, 2, 3)}
    found = read(pptx(slides, {"ppt/charts/chart1.xml": office.CHART}, links))
    assert text(found) == "Ships that passed\nSchooners\nEasterlies\nWesterlies\nBarques\n\n"


def test_what_is_drawn_over_a_chart_is_read():
    parts = {
        "ppt/charts/chart1.xml": office.CHART,
        "ppt/charts/_rels/chart1.xml.rels": office.relationships(("rId1", "chartUserShapes", "../drawings/d.xml")),
        "ppt/drawings/d.xml": office.part(
            "c:userShapes", f"<cdr:sp><cdr:txBody>{paragraphs('Peak')}</cdr:txBody></cdr:sp>"
        ),
    }
    links = {1: [("rId1", "chart", "../charts/chart1.xml")]}
    assert "Peak" in text(read(pptx([slide(frame('<c:chart r:id="rId1"/>'))], parts, links)))


def test_a_damaged_part_is_named_and_the_rest_is_read():
    content = pptx(
        [slide(shape("one")), None, slide(shape("three"), frame('<c:chart r:id="rId2"/>')), b"<p:sld><unclosed"],
        {"ppt/notesSlides/notesSlide1.xml": b"no xml"},
        {3: [*NOTES, ("rId2", "chart", "../charts/none.xml")]},
    )
    found = read(content)
    assert found.text_quality is TextQuality.PARTIAL
    assert [passage.page for passage in found.passages] == [1, 3]
    assert [str(name).partition(":")[0] for name in found.facts["partial"]] == [  # type: ignore[union-attr] # a list
        "slide 2",
        "chart",
        "notes of slide 3",
        "slide 4",
    ]


def test_what_came_before_the_damage_of_a_slide_is_kept():
    cut = slide(shape("kept"), shape("lost"))[:-60]
    found = read(pptx([cut]))
    assert "kept" in text(found)
    assert found.text_quality is TextQuality.PARTIAL


def test_without_relationships_slides_come_by_their_numbers():
    parts = {f"ppt/slides/slide{n}.xml": slide(shape(f"slide {n}")) for n in (10, 9)}
    content = pptx([], parts | {"ppt/_rels/presentation.xml.rels": b"<Relationships/>"})
    assert [(passage.page, passage.text) for passage in read(content).passages] == [
        (1, "slide 9\n\n"),
        (2, "slide 10\n\n"),
    ]


def test_text_beyond_the_limit_is_left_out_and_said_so():
    found = read(pptx([slide(shape("word " * 100))] * 3), limits=Limits(characters=700))
    assert found.text_quality is TextQuality.TRUNCATED
    assert found.facts["characters"] == 700
    assert {passage.page for passage in found.passages} == {1, 2}


@pytest.mark.parametrize(
    ("before", "after"),
    [("<p:grpSp>", "</p:grpSp>"), ("<p:txBody>", "</p:txBody>"), ("<a:tbl><a:tr><a:tc>", "</a:tc></a:tr></a:tbl>")],
)
def test_depth_is_paid_for_once(before: str, after: str):
    def seconds(depth: int) -> float:
        content = pptx([slide(before * depth + shape("x" * depth * 50) + after * depth)])
        begun = time.process_time()
        assert "x" in text(read(content))
        return time.process_time() - begun

    assert seconds(20_000) < 40 * max(seconds(2_000), 0.01)


@pytest.mark.parametrize(
    ("content", "code", "says"),
    [
        (pptx([], {"ppt/presentation.xml": b"<p:presentation"}), "corrupt", "not well-formed"),
        (
            office.archive({"[Content_Types].xml": b"", "ppt/slides/slide1.xml": slide(shape("x"))}),
            "corrupt",
            "no main part",
        ),
        (pptx([None, None]), "corrupt", "None of the slides"),
        (pptx([slide()] * 21), "limit_exceeded", "has 21 slides.*FENCEPOST_EXTRACT__PAGES"),
    ],
)
def test_refusals(content: bytes, code: str, says: str):
    with pytest.raises(Permanent, match=says) as refusal:
        read(content, limits=Limits(pages=20))
    assert refusal.value.code == code
