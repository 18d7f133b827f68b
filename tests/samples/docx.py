"""Word documents with everything that may hold words, and odd ones."""

from indexer.extract import Limits
from tests.samples import Sample
from tests.support import documents, hostile, office
from tests.support.documents import docx, paragraph, table
from tests.support.office import Link, part, relationships

_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


def word(body: str, parts: dict[str, bytes] | None = None, *links: Link, compress: bool = False) -> bytes:
    """A Word file whose body may use all prefixes, and refers to other parts."""
    own = {
        "word/document.xml": part("w:document", f"<w:body>{body}</w:body>"),
        "word/_rels/document.xml.rels": relationships(("rId900", "styles", "styles.xml"), *links),
    }
    return docx("", own | (parts or {}), compress=compress)


def drawing(body: str, described: str = "") -> str:
    """A drawing in a paragraph of its own."""
    return f'<w:p><w:r><w:drawing><wp:docPr id="1" name="" {described}/>{body}</w:drawing></w:r></w:p>'


def box(text: str) -> str:
    """A text box as Word writes it: once for programs of today and once for those before 2010."""
    inside = f"<w:txbxContent>{text}</w:txbxContent>"
    return (
        '<w:p><w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:docPr id="2" name="Text Box 2"/>'
        f"{inside}</w:drawing></mc:Choice><mc:Fallback><w:pict><v:shape>{inside}</v:shape></w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r></w:p>"
    )


def field(instruction: str, shown: str) -> str:
    """A field with its result; its instruction comes in two pieces, as Word likes to cut it."""
    half = len(instruction) // 2
    return (
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        f"<w:r><w:instrText>{instruction[:half]}</w:instrText></w:r>"
        f"<w:r><w:instrText>{instruction[half:]}</w:instrText></w:r>"
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>{shown}</w:t></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    )


def everything() -> bytes:
    """A document in which every part and every odd place has words of its own."""
    body = (
        paragraph("The keeper's handbook", "Title")
        + paragraph("Lamp", "Berschrift1")
        + '<w:p><w:r><w:t>See </w:t></w:r><w:hyperlink r:id="rId1" w:anchor="wicks"><w:r><w:t>the almanac</w:t></w:r>'
        "</w:hyperlink><w:r><w:t> for wicks.</w:t></w:r></w:p>"
        + field(' HYPERLINK "https://example.org/tides" \\o "tip" ', "The tide tables")
        + field(" PAGE ", "17")
        + box(paragraph("in the box") + table([["boxed", "cells"]]))
        + drawing("", 'descr="A lighthouse at dusk" title="Skerrow"')
        + drawing('<c:chart r:id="rId2"/>')
        + drawing('<dgm:relIds r:dm="rId3"/>')
        + "<w:p><m:oMath><m:f><m:num><m:r><m:t>focal</m:t></m:r></m:num><m:den><m:r><m:t>length</m:t></m:r></m:den>"
        "</m:f></m:oMath></w:p>"
        "<w:p><w:del><w:r><w:delText>deleted words</w:delText></w:r></w:del>"
        "<w:moveFrom><w:r><w:t>moved away</w:t></w:r>"
        "</w:moveFrom><w:ins><w:r><w:t>inserted words</w:t></w:r></w:ins></w:p>"
        "<w:p><w:r><w:ruby><w:rt><w:r><w:t>とうだい</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>灯台</w:t></w:r>"
        "</w:rubyBase></w:ruby></w:r><w:r><w:t>の光</w:t></w:r></w:p>"
        "<w:p><w:sdt><w:sdtContent><w:r><w:t>content control</w:t></w:r></w:sdtContent></w:sdt></w:p>"
        '<w:p><w:r><w:pict><v:shape alt="An old engraving"><v:textpath string="WordArt of 1997"/></v:shape></w:pict>'
        "</w:r></w:p>"
        f"<w:tbl><w:tr><w:tc>{paragraph('outer')}{table([['nested', 'deeper']])}</w:tc></w:tr></w:tbl>"
    )
    return word(
        body,
        {
            "word/header1.xml": part("w:hdr", paragraph("the header") + box(paragraph("boxed header"))),
            "word/footer1.xml": part("w:ftr", paragraph("the footer")),
            "word/footnotes.xml": part("w:footnotes", f"<w:footnote>{paragraph('a footnote')}</w:footnote>"),
            "word/endnotes.xml": part("w:endnotes", f"<w:endnote>{table([['an', 'endnote']])}</w:endnote>"),
            "word/comments.xml": part("w:comments", f"<w:comment>{paragraph('a comment')}</w:comment>"),
            "word/glossary/document.xml": part("w:glossaryDocument", paragraph("a building block")),
            "word/charts/chart1.xml": office.CHART,
            "word/diagrams/data1.xml": office.DIAGRAM,
        },
        ("rId1", "hyperlink", "https://example.org/almanac"),
        ("rId2", "chart", "charts/chart1.xml"),
        ("rId3", "diagramData", "diagrams/data1.xml"),
        ("rId4", "header", "header1.xml"),
        ("rId5", "footer", "/word/footer1.xml"),
        ("rId6", "footnotes", "footnotes.xml"),
        ("rId7", "endnotes", "endnotes.xml"),
        ("rId8", "comments", "comments.xml"),
        ("rId9", "glossaryDocument", "glossary/document.xml"),
        ("rId10", "image", "https://example.org/tracking.png"),
    )


_WORDS = (
    *("See the almanac for wicks.", "https://example.org/almanac#wicks", "The tide tables", "17"),
    *("https://example.org/tides", "in the box", "boxed\tcells", "A lighthouse at dusk", "Skerrow", "focal/length"),
    *("Ships that passed", "Easterlies", "Light the lamp", "inserted words", "灯台の光", "とうだい", "content control"),
    *("An old engraving", "WordArt of 1997", "nested\tdeeper", "the header", "boxed header", "the footer"),
    *("a footnote", "an\tendnote", "a comment"),
)
_ABSENT = ("deleted words", "moved away", "a building block", "HYPERLINK", "PAGE", "4711", "Text Box 2", "tracking.png")


def main_elsewhere() -> bytes:
    """A document whose main part has another name, which only the package's relationships tell."""
    return documents.archive(
        {
            "[Content_Types].xml": b"<Types/>",
            "_rels/.rels": relationships(("rId1", "officeDocument", "/word/The%20story.xml")),
            "word/The story.xml": part("w:document", f"<w:body>{paragraph('found by relation')}</w:body>"),
            "word/document.xml": part("w:document", f"<w:body>{paragraph('left over')}</w:body>"),
        }
    )


def _encrypted_member() -> bytes:
    whole = bytearray(docx(paragraph("secret")))
    for at in (whole.index(b"word/document.xml") - 30 + 6, whole.rindex(b"word/document.xml") - 46 + 8):
        whole[at] |= 1
    return bytes(whole)


def _utf16(text: str) -> bytes:
    main = part("w:document", f"<w:body>{paragraph(text)}</w:body>").decode().replace("UTF-8", "UTF-16")
    return main.encode("utf-16")


def _outside() -> bytes:
    declared = '<!DOCTYPE w:document [<!ENTITY secret SYSTEM "file:///etc/hostname">]>'
    body = "<w:body><w:p><w:r><w:t>&secret;</w:t></w:r></w:p></w:body>"
    return docx("", {"word/document.xml": part("w:document", body, declared)})


def _deep(before: str, after: str, depth: int) -> bytes:
    return word(before * depth + paragraph("at the bottom") + after * depth)


SAMPLES = [
    Sample("everything.docx", everything, words=_WORDS, absent=_ABSENT, media_type=_TYPE),
    Sample("everything.docm", everything, words=_WORDS, absent=_ABSENT, media_type=_TYPE),
    Sample("strict.docx", lambda: office.strict(everything()), words=_WORDS, absent=_ABSENT),
    Sample(
        "scripts.docx",
        lambda: docx(paragraph("كانت المنارة תאיר") + paragraph("灯塔的光芒 등대의") + paragraph("Keeper 👩🏽‍✈️ 🐋")),
        words=("المنارة תאיר", "灯塔的光芒 등대의", "👩🏽‍✈️ 🐋"),
    ),
    Sample("utf-16.docx", lambda: docx("", {"word/document.xml": _utf16("wide words")}), words=("wide words",)),
    Sample(
        "pages.docx",
        lambda: docx(documents.page_break().join(paragraph(f"leaf {n}") for n in range(1, 4))),
        words=("leaf 3",),
        pages=3,
    ),
    Sample("main-elsewhere.docx", main_elsewhere, words=("found by relation",), absent=("left over",)),
    Sample("empty.docx", lambda: docx(""), outcome="no_text"),
    Sample(
        "imported.docx",
        lambda: word(
            '<w:altChunk r:id="rId1"/>',
            {"word/chunk.html": b"<html><p>imported page"},
            ("rId1", "aFChunk", "chunk.html"),
        ),
        words=("imported page",),
        members=("chunk.html",),
    ),
    Sample(
        "damaged-header.docx",
        lambda: word(
            paragraph("the body"),
            {"word/header1.xml": b"<w:hdr", "word/charts/chart1.xml": b"<c:chart"},
            ("rId1", "header", "header1.xml"),
            ("rId2", "footnotes", "footnotes.xml"),
        ),
        outcome="partial",
        words=("the body",),
        partial=("header: word/header1.xml is not well-formed", "footnotes: the file has no part word/footnotes.xml"),
    ),
    Sample("truncated.docx", lambda: everything()[:5000], outcome="corrupt"),
    Sample("malformed.docx", lambda: docx("", {"word/document.xml": b"<w:document"}), outcome="corrupt"),
    Sample(
        "no-main-part.docx",
        lambda: documents.archive({"[Content_Types].xml": b"", "word/other.xml": b""}),
        outcome="corrupt",
    ),
    Sample("entities.docx", hostile.entity_docx, outcome="corrupt"),
    Sample("outside.docx", _outside, outcome="corrupt"),
    Sample("bomb.docx", lambda: hostile.bomb_docx(8), outcome="limit_exceeded"),
    Sample(
        "crowded.docx",
        lambda: hostile.crowded_zip(60),
        outcome="limit_exceeded",
        limits=Limits(members=50),
    ),
    Sample("encrypted.docx", lambda: _COMPOUND + "EncryptedPackage".encode("utf-16-le"), outcome="password_required"),
    Sample("encrypted-member.docx", _encrypted_member, outcome="password_required"),
    Sample(
        "deep-tables.docx", lambda: _deep("<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>", 50_000), words=("bottom",)
    ),
    Sample(
        "deep-boxes.docx", lambda: _deep("<w:p><w:txbxContent>", "</w:txbxContent></w:p>", 50_000), words=("bottom",)
    ),
    Sample(
        "deep-alternatives.docx",
        lambda: _deep("<mc:AlternateContent><mc:Choice>", "</mc:Choice><mc:Fallback/></mc:AlternateContent>", 50_000),
        words=("bottom",),
    ),
    Sample(
        "more-than-allowed.docx",
        lambda: word(paragraph("word " * 1000)),
        outcome="truncated",
        limits=Limits(characters=1000),
    ),
    Sample(
        "many-paragraphs.docx",
        lambda: word(paragraph("Herring was landed here.") * 100_000, compress=True),
        words=("Herring",),
        limits=Limits(ratio=1000),
        large=True,
    ),
]
