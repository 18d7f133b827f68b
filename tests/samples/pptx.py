"""Presentations with everything that may hold words, and odd ones."""

from indexer.extract import Limits
from tests.samples import Sample
from tests.support import hostile, office
from tests.support.office import frame, group, notes, paragraphs, pptx, shape, slide, table

_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"


def everything() -> bytes:
    """Three slides, of which the second is hidden: groups, tables, notes, comments, charts, SmartArt, links."""
    first = slide(
        shape("The lamp turns every nine seconds"),
        group(group(shape("inner lens")), shape("outer lens")),
        shape("The keeper's evening", place="ctrTitle"),
        shape("Harbour Museum", place="ftr"),
        shape("4712", place="sldNum"),
        '<p:pic><p:nvPicPr><p:cNvPr id="9" name="Picture 8" descr="A lighthouse at dusk" title="Skerrow"/>'
        "</p:nvPicPr></p:pic>",
    )
    hidden = slide(
        shape("What was left out", place="title"),
        table([["wind", "sea"], ["gale", "rough"]]),
        shape("See the almanac", inside='<a:hlinkClick r:id="rId1"/>'),
        more="<p:clrMapOvr/>",
    ).replace(b"<p:sld ", b'<p:sld show="0" ', 1)
    last = slide(
        frame('<c:chart r:id="rId1"/>'),
        frame('<dgm:relIds r:dm="rId2"/>'),
        '<mc:AlternateContent><mc:Choice Requires="cx1">'
        + frame('<cx:chart r:id="rId5"/>')
        + f"</mc:Choice><mc:Fallback>{shape('This chart is not available')}</mc:Fallback></mc:AlternateContent>",
        '<mc:AlternateContent><mc:Choice Requires="v"/><mc:Fallback>'
        + shape("only in the older form")
        + "</mc:Fallback></mc:AlternateContent>",
    )
    return pptx(
        [first, hidden, last],
        {
            "ppt/notesSlides/notesSlide1.xml": notes(
                shape("Speak slowly here", place="body"), shape("31 May", place="dt"), shape("1", place="sldNum")
            ),
            "ppt/comments/comment1.xml": office.part("p:cmLst", "<p:cm><p:text>An old remark</p:text></p:cm>"),
            "ppt/comments/modern.xml": office.part(
                "p188:cmLst",
                f"<p188:cm><p188:replyLst><p188:reply><p188:txBody>{paragraphs('A late reply')}</p188:txBody>"
                f"</p188:reply></p188:replyLst><p188:txBody>{paragraphs('A new remark')}</p188:txBody></p188:cm>",
            ),
            "ppt/charts/chart1.xml": office.CHART,
            "ppt/charts/chartEx1.xml": office.NEW_CHART,
            "ppt/diagrams/data1.xml": office.DIAGRAM,
            "ppt/slideMasters/slideMaster1.xml": office.part("p:sldMaster", shape("Click to edit Master title style")),
            "ppt/slideLayouts/slideLayout1.xml": office.part("p:sldLayout", shape("Click to add text")),
        },
        {
            1: [
                ("rId1", "notesSlide", "../notesSlides/notesSlide1.xml"),
                ("rId2", "slideLayout", "../slideLayouts/slideLayout1.xml"),
            ],
            2: [
                ("rId1", "hyperlink", "https://example.org/almanac?year=1911"),
                ("rId2", "comments", "../comments/comment1.xml"),
                ("rId3", "modern", "/ppt/comments/modern.xml"),
            ],
            3: [
                ("rId1", "chart", "../charts/chart1.xml"),
                ("rId2", "diagramData", "../diagrams/data1.xml"),
                ("rId5", "chart", "../charts/chartEx1.xml"),
            ],
        },
    )


_WORDS = (
    *("The keeper's evening", "inner lens", "outer lens", "A lighthouse at dusk", "Skerrow", "Harbour Museum"),
    *("Speak slowly here", "gale\trough", "https://example.org/almanac?year=1911", "An old remark", "A new remark"),
    *("A late reply", "Ships that passed", "Schooners", "Westerlies", "Barques", "Wind the clockwork", "Landings"),
    *("Tons", "Herring", "only in the older form", "What was left out"),
)
_ABSENT = ("Click to", "4711", "4712", "not available", "Picture 8", "[Text]")


def _deep(depth: int) -> bytes:
    return slide("<p:grpSp>" * depth + shape("at the bottom") + "</p:grpSp>" * depth)


SAMPLES = [
    Sample("everything.pptx", everything, words=_WORDS, absent=_ABSENT, pages=3, media_type=_TYPE),
    Sample("strict.pptx", lambda: office.strict(everything()), words=_WORDS, absent=_ABSENT, pages=3),
    Sample(
        "scripts.pptx",
        lambda: pptx([slide(shape("كانت المنارة تضيء", "灯台の光", "Keeper 👩🏽‍✈️ 🐋"))]),
        words=("المنارة", "灯台", "👩🏽‍✈️ 🐋"),
        pages=1,
    ),
    Sample("pictures-only.pptx", lambda: pptx([slide(), slide()]), outcome="no_text", pages=2),
    Sample("no-slides.pptx", lambda: pptx([]), outcome="no_text", pages=0),
    Sample(
        "missing-slide.pptx",
        lambda: pptx([slide(shape("first")), None, b"<p:sld", slide(shape("fourth"))]),
        outcome="partial",
        words=("first", "fourth"),
        partial=("slide 2: the file has no part", "slide 3: ppt/slides/slide2.xml is not well-formed"),
        pages=4,
    ),
    Sample("no-slide-left.pptx", lambda: pptx([None, b"<p:sld"]), outcome="corrupt"),
    Sample("malformed-list.pptx", lambda: pptx([], {"ppt/presentation.xml": b"<p:presentation"}), outcome="corrupt"),
    Sample("truncated.pptx", lambda: everything()[:4000], outcome="corrupt"),
    Sample("deep-groups.pptx", lambda: pptx([_deep(100_000)]), words=("at the bottom",), pages=1),
    Sample(
        "bomb.pptx",
        lambda: pptx([slide(shape(" " * (8 << 20)))], compress=True),
        outcome="limit_exceeded",
    ),
    Sample(
        "entities.pptx",
        lambda: pptx([slide(shape("kept")), office.part("p:sld", shape("never read"), hostile.ENTITIES)]),
        outcome="partial",
        words=("kept",),
        absent=("never read", "haha"),
        partial=("slide 2: ppt/slides/slide1.xml declares XML entities",),
    ),
    Sample(
        "too-many-slides.pptx",
        lambda: pptx([slide()] * 30),
        outcome="limit_exceeded",
        limits=Limits(pages=20),
    ),
    Sample(
        "embedded-document.pptx",
        lambda: pptx(
            [slide(shape("outside"))],
            {"ppt/embeddings/Deck.pptx": pptx([slide(shape("within"))])},
            {1: [("rId1", "package", "../embeddings/Deck.pptx")]},
        ),
        words=("outside", "within"),
        members=("Deck.pptx",),
        pages=1,
    ),
]
