"""Builds presentations, and the parts that they share with Word files, element by element."""

import re
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from xml.sax.saxutils import escape, quoteattr
from zipfile import ZipFile

from tests.support.documents import archive

_BASE = "http://schemas.openxmlformats.org"
_OFFICE = f"{_BASE}/officeDocument/2006/relationships"
_MODERN_COMMENTS = "http://schemas.microsoft.com/office/2018/10/relationships"
_TRANSITIONAL = re.compile(rb"http://schemas\.openxmlformats\.org/(\w+ml|officeDocument)/2006/")
_SPACES = {
    "a": f"{_BASE}/drawingml/2006/main",
    "p": f"{_BASE}/presentationml/2006/main",
    "r": _OFFICE,
    "c": f"{_BASE}/drawingml/2006/chart",
    "cdr": f"{_BASE}/drawingml/2006/chartDrawing",
    "cx": "http://schemas.microsoft.com/office/drawing/2014/chartex",
    "dgm": f"{_BASE}/drawingml/2006/diagram",
    "m": f"{_BASE}/officeDocument/2006/math",
    "w": f"{_BASE}/wordprocessingml/2006/main",
    "wp": f"{_BASE}/drawingml/2006/wordprocessingDrawing",
    "pic": f"{_BASE}/drawingml/2006/picture",
    "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    "mc": f"{_BASE}/markup-compatibility/2006",
    "p14": "http://schemas.microsoft.com/office/powerpoint/2010/main",
    "p188": "http://schemas.microsoft.com/office/powerpoint/2018/8/main",
    "v": "urn:schemas-microsoft-com:vml",
}
DECLARED = " ".join(f'xmlns:{prefix}="{space}"' for prefix, space in _SPACES.items())

Link = tuple[str, str, str]
"""The id, kind and target of a relationship; a target with a colon is an address outside of the file."""


def part(root: str, body: str, prologue: str = "") -> bytes:
    """One XML part, whose root may use all prefixes."""
    return f'<?xml version="1.0" encoding="UTF-8"?>{prologue}<{root} {DECLARED}>{body}</{root}>'.encode()


def relationships(*links: Link) -> bytes:
    """The part that says what another refers to."""
    listed = "".join(
        f'<Relationship Id="{id_}" Type="{_kind(kind)}" Target={quoteattr(target)} TargetMode="{_mode(target)}"/>'
        for id_, kind, target in links
    )
    return f'<Relationships xmlns="{_BASE}/package/2006/relationships">{listed}</Relationships>'.encode()


def _mode(target: str) -> str:
    return "External" if ":" in target else "Internal"


def _kind(kind: str) -> str:
    return f"{_MODERN_COMMENTS}/comments" if kind == "modern" else f"{_OFFICE}/{kind}"


def paragraphs(*texts: str) -> str:
    """Paragraphs of DrawingML."""
    return "".join(f"<a:p><a:r><a:t>{escape(text)}</a:t></a:r></a:p>" for text in texts)


def shape(*texts: str, place: str = "", inside: str = "") -> str:
    """A shape with text; `place` is its placeholder, `inside` lies in its description."""
    placeholder = f'<p:ph type="{place}"/>' if place else ""
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="">{inside}</p:cNvPr><p:nvPr>{placeholder}</p:nvPr></p:nvSpPr>'
        f"<p:txBody>{paragraphs(*texts)}</p:txBody></p:sp>"
    )


def group(*shapes: str) -> str:
    """Shapes that move together."""
    return f"<p:grpSp>{''.join(shapes)}</p:grpSp>"


def table(rows: Iterable[Iterable[str]]) -> str:
    """A table on a slide."""
    body = "".join(
        f"<a:tr>{''.join(f'<a:tc><a:txBody>{paragraphs(cell)}</a:txBody></a:tc>' for cell in row)}</a:tr>"
        for row in rows
    )
    return frame(f"<a:tbl>{body}</a:tbl>")


def frame(body: str) -> str:
    """A frame on a slide around a table, a chart or SmartArt."""
    return (
        f'<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="4" name=""/></p:nvGraphicFramePr>'
        f"<a:graphic><a:graphicData>{body}</a:graphicData></a:graphic></p:graphicFrame>"
    )


def slide(*shapes: str, more: str = "") -> bytes:
    """A slide."""
    return part("p:sld", f"<p:cSld><p:spTree>{''.join(shapes)}</p:spTree></p:cSld>{more}")


def notes(*shapes: str) -> bytes:
    """The page with the notes of a slide."""
    return part("p:notes", f"<p:cSld><p:spTree>{''.join(shapes)}</p:spTree></p:cSld>")


def pptx(
    slides: Sequence[bytes | None],
    parts: Mapping[str, bytes] | None = None,
    links: Mapping[int, Sequence[Link]] | None = None,
    *,
    sections: Iterable[tuple[str, Iterable[int]]] = (),
    compress: bool = False,
) -> bytes:
    """A presentation. Its slides are stored in the opposite order of showing; None is one without a part."""
    count = len(slides)
    order = "".join(f'<p:sldId id="{255 + n}" r:id="rId{n}"/>' for n in range(1, count + 1))
    members = {
        "[Content_Types].xml": _content_types(),
        "_rels/.rels": relationships(("rId1", "officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": part("p:presentation", f"<p:sldIdLst>{order}</p:sldIdLst>{_sections(sections)}"),
        "ppt/_rels/presentation.xml.rels": relationships(
            *((f"rId{n}", "slide", f"slides/slide{count + 1 - n}.xml") for n in range(1, count + 1))
        ),
    }
    for n, content in enumerate(slides, 1):
        name = f"slide{count + 1 - n}.xml"
        if content is not None:
            members[f"ppt/slides/{name}"] = content
        if links and n in links:
            members[f"ppt/slides/_rels/{name}.rels"] = relationships(*links[n])
    return archive(members | dict(parts or {}), compress=compress)


def strict(content: bytes) -> bytes:
    """The same file in the strict form, which differs in its namespaces."""
    with ZipFile(BytesIO(content)) as file:
        return archive(
            {name: _TRANSITIONAL.sub(rb"http://purl.oclc.org/ooxml/\1/", file.read(name)) for name in file.namelist()}
        )


def _sections(sections: Iterable[tuple[str, Iterable[int]]]) -> str:
    listed = ""
    for name, numbers in sections:
        slides = "".join(f'<p14:sldId id="{255 + n}"/>' for n in numbers)
        listed += f'<p14:section name="{name}"><p14:sldIdLst>{slides}</p14:sldIdLst></p14:section>'
    return f"<p:extLst><p:ext><p14:sectionLst>{listed}</p14:sectionLst></p:ext></p:extLst>" if listed else ""


def _content_types() -> bytes:
    return f'<Types xmlns="{_BASE}/package/2006/content-types"/>'.encode()


CHART = part(
    "c:chartSpace",
    f"<c:chart><c:title><c:tx><c:rich>{paragraphs('Ships that passed')}</c:rich></c:tx></c:title>"
    "<c:ser><c:tx><c:strRef><c:f>Sheet1!$B$1</c:f><c:strCache><c:pt><c:v>Schooners</c:v></c:pt></c:strCache>"
    "</c:strRef></c:tx><c:cat><c:strRef><c:strCache><c:pt><c:v>Easterlies</c:v></c:pt><c:pt><c:v>Westerlies</c:v>"
    "</c:pt></c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache><c:pt><c:v>4711</c:v></c:pt></c:numCache>"
    "</c:numRef></c:val></c:ser><c:ser><c:tx><c:v>Barques</c:v></c:tx><c:cat><c:strRef><c:strCache><c:pt>"
    "<c:v>Easterlies</c:v></c:pt></c:strCache></c:strRef></c:cat></c:ser></c:chart>",
)
"""A chart with a title, two series and two categories."""

NEW_CHART = part(
    "cx:chartSpace",
    f"<cx:chartData><cx:data><cx:strDim><cx:f>A1</cx:f><cx:lvl><cx:pt>Herring</cx:pt></cx:lvl></cx:strDim>"
    "<cx:numDim><cx:lvl><cx:pt>4711</cx:pt></cx:lvl></cx:numDim></cx:data></cx:chartData><cx:chart><cx:title><cx:tx>"
    f"<cx:rich>{paragraphs('Landings')}</cx:rich></cx:tx></cx:title><cx:series><cx:tx><cx:txData><cx:v>Tons</cx:v>"
    "</cx:txData></cx:tx></cx:series></cx:chart>",
)
"""A chart of the kinds that came in 2016."""

DIAGRAM = part(
    "dgm:dataModel",
    f"<dgm:ptLst><dgm:pt><dgm:t>{paragraphs('Light the lamp')}</dgm:t></dgm:pt>"
    f"<dgm:pt><dgm:prSet phldrT='[Text]'/><dgm:t>{paragraphs('Wind the clockwork')}</dgm:t></dgm:pt></dgm:ptLst>",
)
"""The points of SmartArt."""
