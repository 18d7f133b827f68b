"""The register of the kinds of documents that can be read: one line per kind.

To add a format, write `indexer/extract/readers/NAME.py` with a function `read` (the protocol `types.Reader`) and add
its line here. If `sniff` does not know the format by its content yet, it needs a line there as well.
"""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import cast

from indexer.extract.types import Buffer, Reader, Reading, Request


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of document.

    `revision` is raised by whoever makes its reader give other text for the same bytes. Up to `in_process_bytes` it may
    be read in the worker itself, above in a child process. A `plain` kind has no members, pages or pictures: of all
    limits only the one on characters changes its text, and that on time if it is `markup`, which takes a while to read.
    """

    name: str
    media_type: str
    module: str
    revision: int = 1
    in_process_bytes: int = 0
    plain: bool = False
    markup: bool = False

    @property
    def version(self) -> str:
        """What is recorded of a document inside another: `pdf-2`."""
        return f"{self.name}-{self.revision}"

    def reader(self) -> Reader:
        """The reader; its module, and whatever that needs, is loaded on first use."""
        return _reader(self.module)

    def read_inside(self, content: Buffer, request: Request) -> Reading:
        """Reads what is inside another document, and records by which version: another one may read it otherwise."""
        request.spent.versions.add(self.version)
        return self.reader()(content, request)


@cache
def _reader(module: str) -> Reader:
    return cast("Reader", import_module(f"indexer.extract.readers.{module}").read)


_KIB = 1024
_PLAIN = 1024 * _KIB
_MARKDOWN = 16 * _KIB  # its parser is Python and takes 4 to 25 µs a byte, and a batch may have 64 of them

_OFFICE = "application/vnd.openxmlformats-officedocument"
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument"

KINDS = {
    kind.name: kind
    for kind in (
        Kind("pdf", "application/pdf", "pdf", revision=3),
        Kind("docx", f"{_OFFICE}.wordprocessingml.document", "docx", 2),
        Kind("pptx", f"{_OFFICE}.presentationml.presentation", "pptx"),
        Kind("xlsx", f"{_OFFICE}.spreadsheetml.sheet", "spreadsheet"),
        Kind("xlsb", "application/vnd.ms-excel.sheet.binary.macroenabled.12", "spreadsheet"),
        Kind("xls", "application/vnd.ms-excel", "spreadsheet"),
        Kind("ods", f"{_OPEN_DOCUMENT}.spreadsheet", "ods"),
        Kind("png", "image/png", "image"),
        Kind("jpeg", "image/jpeg", "image"),
        Kind("gif", "image/gif", "image"),
        Kind("tiff", "image/tiff", "image"),
        Kind("bmp", "image/bmp", "image"),
        Kind("webp", "image/webp", "image"),
        Kind("eml", "message/rfc822", "eml", revision=2),
        Kind("msg", "application/vnd.ms-outlook", "msg"),
        Kind("zip", "application/zip", "zip_file"),
        Kind("html", "text/html", "html", revision=2, plain=True, markup=True),
        Kind("markdown", "text/markdown", "markdown", plain=True, markup=True, in_process_bytes=_MARKDOWN),
        Kind("text", "text/plain", "text", plain=True, in_process_bytes=_PLAIN),
        Kind("csv", "text/csv", "text", plain=True, in_process_bytes=_PLAIN),
        Kind("tsv", "text/tab-separated-values", "text", plain=True, in_process_bytes=_PLAIN),
        Kind("json", "application/json", "json", revision=2, plain=True, in_process_bytes=_PLAIN),
        Kind("xml", "application/xml", "xml", revision=2, plain=True, markup=True),
        Kind("odt", "application/vnd.oasis.opendocument.text", "opendocument"),
        Kind("odp", "application/vnd.oasis.opendocument.presentation", "opendocument"),
        Kind("epub", "application/epub+zip", "epub"),
        Kind("rtf", "application/rtf", "rtf"),
    )
}
"""Every kind by its name. A line in use keeps its name: stored results are keyed by it."""

BY_SUFFIX = {
    "md": "markdown",
    "markdown": "markdown",
    "htm": "html",
    "html": "html",
    "xhtml": "html",
    "csv": "csv",
    "tsv": "tsv",
    "json": "json",
    "ndjson": "json",
    "jsonl": "json",
    "geojson": "json",
    "ipynb": "json",
    "xml": "xml",
    "svg": "xml",
    "rss": "xml",
    "atom": "xml",
    "txt": "text",
    "eml": "eml",
}
"""What a file's name says about text; where it contradicts the content, the content is believed."""

BY_MEDIA_TYPE = {
    "text/plain": "text",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "application/json": "json",
    "application/x-ndjson": "json",
    "application/xml": "xml",
    "text/xml": "xml",
    "image/svg+xml": "xml",
    "message/rfc822": "eml",
}
"""What a declared media type says about text."""
