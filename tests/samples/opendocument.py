"""OpenDocument texts and presentations."""

from indexer.extract import Limits
from tests.samples import Sample
from tests.samples import _opendocument as odf
from tests.samples._opendocument import heading, paragraph, slide
from tests.samples.text import ARABIC, GREEK, HEBREW, JAPANESE, KOREAN, RUSSIAN

_SCRIPTS = "".join(map(paragraph, (RUSSIAN, GREEK, JAPANESE, KOREAN, ARABIC, HEBREW, "👩🏽‍✈️ and 🐋")))
_DOCTYPE = '<!DOCTYPE office:document-content PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "office.dtd">'
_LAUGHS = '<!DOCTYPE o [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
_TABLE = (
    "<table:table><table:table-row>"
    f"<table:table-cell>{paragraph('Lamp')}</table:table-cell><table:table-cell>{paragraph('lit')}</table:table-cell>"
    "</table:table-row></table:table>"
)
_WHOLE = (
    heading("The light") + paragraph("It burns at night.") + heading("The lamp", 2) + _TABLE
    + "<text:p>Oil<text:note><text:note-citation>1</text:note-citation><text:note-body>"
    + paragraph("from whales") + "</text:note-body></text:note> is<text:s text:c='3'/>dear<office:annotation>"
    + "<dc:creator>Nobody</dc:creator>" + paragraph("who says so") + "</office:annotation>.</text:p>"
    + '<text:p>See <text:a xlink:href="https://example.org/lamps">lamps</text:a><draw:frame>'
    + "<svg:title>A picture of a lamp</svg:title><draw:object><text:p>inside an object</text:p></draw:object>"
    + "</draw:frame></text:p>"
    + "<text:tracked-changes><text:changed-region><text:deletion>" + paragraph("taken out")
    + "</text:deletion></text:changed-region></text:tracked-changes>"
)  # fmt: skip
_MASTERS = (
    f"<style:master-page><style:header>{paragraph('the running head')}</style:header></style:master-page>"
    f"<style:master-page><style:header>{paragraph('the running head')}</style:header></style:master-page>"
)
_BREAKS = (
    '<style:style style:name="P1" style:family="paragraph"><style:paragraph-properties fo:break-before="page"/>'
    "</style:style>"
)


def _whole() -> bytes:
    return odf.file(odf.content(_WHOLE), {"styles.xml": odf.styles(_MASTERS), "meta.xml": odf.meta("On lamps")})


def _slides() -> bytes:
    return odf.presentation(
        slide("Why lamps", "They shine", "say it slowly") + "<draw:page/>" + slide("Which lamps", "Those with oil")
    )


def _flat() -> bytes:
    body = f"<office:body><office:text>{paragraph('flat words')}</office:text></office:body>"
    whole = odf.part("document", f"<office:binary-data>QUJD</office:binary-data>{body}").decode()
    return whole.replace("<office:document ", f'<office:document office:mimetype="{odf.TEXT}" ').encode()


SAMPLES = [
    Sample(
        "whole.odt",
        _whole,
        words=(
            *("It burns at night.", "Lamp\tlit", "Oil is   dear.", "from whales", "who says so", "example.org/lamps"),
            *("A picture of a lamp", "the running head"),
        ),
        absent=("taken out", "inside an object", "Nobody"),
        media_type=odf.TEXT,
    ),
    Sample(
        "scripts.odt", lambda: odf.file(odf.content(_SCRIPTS)), words=("Смотритель", "漁船", "البحارة", "👩🏽‍✈️", "🐋")
    ),
    Sample(
        "pages.odt",
        lambda: odf.file(
            odf.content(
                paragraph("one") + paragraph("two", "P1") + "<text:p>a<text:soft-page-break/>b</text:p>", styles=_BREAKS
            )
        ),
        words=("one", "two"),
        pages=3,
    ),
    Sample(
        "doctype.odt", lambda: odf.file(odf.content(paragraph("old words"), prologue=_DOCTYPE)), words=("old words",)
    ),
    Sample(
        "template.ott",
        lambda: odf.file(odf.content(paragraph("Dear")), media_type=f"{odf.TEXT}-template"),
        words=("Dear",),
    ),
    Sample("flat.fodt", _flat, words=("flat words",), absent=("QUJD",), media_type=odf.TEXT),
    Sample(
        "password.odt",
        lambda: odf.file(b"\x01\x02", {"META-INF/manifest.xml": odf.manifest_of_encrypted("content.xml")}),
        outcome="password_required",
    ),
    Sample("laughs.odt", lambda: odf.file(odf.content(paragraph("x"), prologue=_LAUGHS)), outcome="corrupt"),
    Sample(
        "bomb.odt",
        lambda: odf.file(odf.content(paragraph(" " * (50 << 20))), compress=True),
        outcome="limit_exceeded",
        large=True,
    ),
    Sample(
        "deep.odt",
        lambda: odf.file(
            odf.content("<text:p>top" + "<text:span>" * 50_000 + "end" + "</text:span>" * 50_000 + "</text:p>")
        ),
        words=("topend",),
    ),
    Sample("cut-off.odt", lambda: _whole()[:-200], outcome="corrupt"),
    Sample(
        "damaged-styles.odt",
        lambda: odf.file(odf.content(paragraph("the body")), {"styles.xml": b"<a><b></a>"}),
        outcome="partial",
        words=("the body",),
        partial=("styles.xml: it is damaged",),
    ),
    Sample("no-content.odt", lambda: odf.file(b"<a>"), outcome="corrupt"),
    Sample("empty.odt", lambda: odf.file(odf.content("")), outcome="no_text"),
    Sample(
        "more-than-allowed.odt",
        lambda: odf.file(odf.content(paragraph("word " * 1000))),
        outcome="truncated",
        words=("word word",),
        limits=Limits(characters=1000),
    ),
    Sample(
        "slides.odp", _slides, words=("Why lamps", "say it slowly", "Those with oil"), pages=3, media_type=odf.SLIDES
    ),
    Sample("too-many-slides.odp", _slides, outcome="limit_exceeded", limits=Limits(pages=2)),
]
