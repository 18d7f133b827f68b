"""EPUB books made by code."""

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from tests.support import documents

_CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)


def chapter(body: str, title: str = "") -> str:
    """A chapter in XHTML."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml">'
        f"<head><title>{title}</title></head><body>{body}</body></html>"
    )


def package(hrefs: Sequence[str], title: str = "A book", more: str = "") -> str:
    """The package file: these chapters in this order."""
    items = "".join(
        f'<item id="c{n}" href="{href}" media-type="application/xhtml+xml"/>' for n, href in enumerate(hrefs)
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(hrefs)))
    return (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<metadata><dc:title>{escape(title)}</dc:title><dc:title>A subtitle</dc:title></metadata>"
        f"<manifest>{items}{more}</manifest><spine>{spine}</spine></package>"
    )


def book(
    chapters: Mapping[str, str], parts: Mapping[str, str] | None = None, *, more: str = "", compress: bool = False
) -> bytes:
    """A book of these chapters; `parts` adds or replaces members, `more` is added to the manifest."""
    members = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": _CONTAINER,
        "OEBPS/book.opf": package(list(chapters), more=more),
        **{f"OEBPS/{href.replace('%20', ' ')}": text for href, text in chapters.items()},
        **(parts or {}),
    }
    return documents.archive({name: text.encode() for name, text in members.items()}, compress=compress)


def encryption(*paths: str) -> dict[str, str]:
    """The part that names encrypted files."""
    data = "".join(
        f'<EncryptedData><CipherData><CipherReference URI="{path}"/></CipherData></EncryptedData>' for path in paths
    )
    return {"META-INF/encryption.xml": f'<encryption xmlns="urn:x">{data}</encryption>'}


CONTENTS = {
    "OEBPS/toc.ncx": (
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel><text>Of oil</text></navLabel>'
        '<content src="two%20b.xhtml#start"/></navPoint></navMap></ncx>'
    )
}
CONTENTS_ITEM = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
NAVIGATION = {
    "OEBPS/nav.xhtml": (
        '<html xmlns="http://www.w3.org/1999/xhtml"><body><nav><ol><li><a href="one.xhtml">Of <b>lamps</b></a></li>'
        "</ol></nav></body></html>"
    )
}
NAVIGATION_ITEM = '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
