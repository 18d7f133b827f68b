"""OpenDocument files made by code."""

from collections.abc import Mapping
from xml.sax.saxutils import escape

from tests.support import documents

_ODF = "urn:oasis:names:tc:opendocument:xmlns:"
SPACES = " ".join(
    [
        f'xmlns:office="{_ODF}office:1.0" xmlns:text="{_ODF}text:1.0" xmlns:table="{_ODF}table:1.0"',
        f'xmlns:draw="{_ODF}drawing:1.0" xmlns:style="{_ODF}style:1.0" xmlns:svg="{_ODF}svg-compatible:1.0"',
        f'xmlns:presentation="{_ODF}presentation:1.0" xmlns:fo="{_ODF}xsl-fo-compatible:1.0"',
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink"',
    ]
)
TEXT = "application/vnd.oasis.opendocument.text"
SLIDES = "application/vnd.oasis.opendocument.presentation"


def part(root: str, body: str, prologue: str = "") -> bytes:
    """One XML part."""
    return f'<?xml version="1.0" encoding="UTF-8"?>{prologue}<office:{root} {SPACES}>{body}</office:{root}>'.encode()


def paragraph(text: str, style: str = "") -> str:
    """A paragraph of words."""
    return f'<text:p text:style-name="{style}">{escape(text)}</text:p>'


def heading(text: str, level: int = 1) -> str:
    """A heading."""
    return f'<text:h text:outline-level="{level}">{escape(text)}</text:h>'


def frame(text: str, kind: str) -> str:
    """A frame of a slide or of a master page."""
    return f'<draw:frame presentation:class="{kind}"><draw:text-box>{paragraph(text)}</draw:text-box></draw:frame>'


def slide(title: str, text: str, notes: str = "") -> str:
    """A slide with a title, words and notes."""
    noted = f"<presentation:notes>{frame(notes, 'notes')}</presentation:notes>" if notes else ""
    return f"<draw:page>{frame(title, 'title')}{frame(text, 'outline')}{noted}</draw:page>"


def content(body: str, *, kind: str = "text", styles: str = "", prologue: str = "") -> bytes:
    """The main part around a body."""
    automatic = f"<office:automatic-styles>{styles}</office:automatic-styles>"
    return part(
        "document-content", f"{automatic}<office:body><office:{kind}>{body}</office:{kind}></office:body>", prologue
    )


def file(
    main: bytes, parts: Mapping[str, bytes] | None = None, *, media_type: str = TEXT, compress: bool = False
) -> bytes:
    """A file around its main part."""
    manifest = f'<manifest:manifest xmlns:manifest="{_ODF}manifest:1.0"/>'.encode()
    members = {"mimetype": media_type.encode(), "content.xml": main, "META-INF/manifest.xml": manifest}
    return documents.archive(members | dict(parts or {}), compress=compress)


def presentation(body: str, parts: Mapping[str, bytes] | None = None) -> bytes:
    """A presentation of these slides."""
    return file(content(body, kind="presentation"), parts, media_type=SLIDES)


def styles(masters: str) -> bytes:
    """The part with headers and footers."""
    return part("document-styles", f"<office:master-styles>{masters}</office:master-styles>")


def meta(title: str) -> bytes:
    """The part with the title."""
    return part("document-meta", f"<office:meta><dc:title>{escape(title)}</dc:title></office:meta>")


def manifest_of_encrypted(path: str) -> bytes:
    """A manifest that says that this part is encrypted."""
    return (
        f'<manifest:manifest xmlns:manifest="{_ODF}manifest:1.0"><manifest:file-entry manifest:full-path="{path}">'
        "<manifest:encryption-data/></manifest:file-entry></manifest:manifest>"
    ).encode()
