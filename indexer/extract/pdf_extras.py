"""What a PDF has beside the text of its pages: notes, link targets, bookmarks and attached files."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from ctypes import POINTER, c_ulong, c_ushort, cast, create_string_buffer
from dataclasses import dataclass
from itertools import islice

import pypdfium2 as pdfium
from pypdfium2 import raw

from indexer.extract.headings import Outline
from indexer.extract.types import Request
from pipeline.errors import Permanent

_MOST_BOOKMARKS = 10_000
_MOST_NOTES = 5000  # of one page
_MOST_NAME = 255
_SHOWN_ELSEWHERE = frozenset({raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_POPUP})


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file inside a PDF, as long as that is open."""

    name: str
    file: pdfium.PdfAttachment

    def pieces(self, request: Request) -> Iterator[bytes]:
        """Its bytes, in one piece. Raises Permanent corrupt or limit_exceeded."""
        length = c_ulong()
        if not raw.FPDFAttachment_GetFile(self.file, None, 0, length):
            raise Permanent("corrupt", "It cannot be unpacked.")
        limits, spent = request.limits, request.spent
        if length.value > limits.member_bytes:
            raise limits.exceeded("member_bytes", "It has too many bytes")
        spent.members += 1
        spent.inflated_bytes += length.value
        if spent.members > limits.members:
            raise limits.exceeded("members", "The document has too many attached files")
        if spent.inflated_bytes > limits.total_bytes:
            raise limits.exceeded("total_bytes", "The attached files have too many bytes together")
        try:
            yield bytes(self.file.get_data())
        except pdfium.PdfiumError:
            raise Permanent("corrupt", "It cannot be unpacked.") from None


def attachments(document: pdfium.PdfDocument, request: Request) -> list[Attachment]:
    """The files attached to the document as a whole, as far as there is time to look for them, up to one too many."""
    found = []
    for index in range(min(document.count_attachments(), request.limits.members + 1)):
        if request.time_is_up():  # each is looked for from the first one on
            break
        try:
            file = document.get_attachment(index)
            found.append(Attachment(_name(file, index), file))
        except pdfium.PdfiumError:
            continue
    return found


def _name(file: pdfium.PdfAttachment, index: int) -> str:
    name = file.get_name().replace("\\", "/").rpartition("/")[2].strip("\x00 ")
    return name[:_MOST_NAME] or f"attachment {index + 1}"


def notes(document: pdfium.PdfDocument, page: pdfium.PdfPage, attached: list[Attachment]) -> list[str]:
    """What people have noted on a page, and where its links lead; files that are pinned to it go to `attached`."""
    found: dict[str, None] = {}
    for index in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST_NOTES)):
        if annotation := raw.FPDFPage_GetAnnot(page, index):
            try:
                found[_note(document, annotation)] = None
                if raw.FPDFAnnot_GetSubtype(annotation) == raw.FPDF_ANNOT_FILEATTACHMENT:
                    file = pdfium.PdfAttachment(raw.FPDFAnnot_GetFileAttachment(annotation), document)
                    if file.raw:
                        attached.append(Attachment(_name(file, len(attached)), file))
            finally:
                raw.FPDFPage_CloseAnnot(annotation)
    found.pop("", None)
    return list(found)


def _note(document: pdfium.PdfDocument, annotation: raw.FPDF_ANNOTATION) -> str:
    kind = raw.FPDFAnnot_GetSubtype(annotation)
    if kind in _SHOWN_ELSEWHERE:
        return ""
    if kind == raw.FPDF_ANNOT_LINK:
        return _target(document, annotation)
    size = raw.FPDFAnnot_GetStringValue(annotation, b"Contents", None, 0)
    buffer = create_string_buffer(size)
    raw.FPDFAnnot_GetStringValue(annotation, b"Contents", cast(buffer, POINTER(c_ushort)), size)
    return buffer.raw.decode("utf-16-le", "replace").rstrip("\x00").replace("\r", "\n").strip()


def _target(document: pdfium.PdfDocument, annotation: raw.FPDF_ANNOTATION) -> str:
    link = raw.FPDFAnnot_GetLink(annotation)
    action = link and raw.FPDFLink_GetAction(link)
    if not action or raw.FPDFAction_GetType(action) != raw.PDFACTION_URI:
        return ""
    size = raw.FPDFAction_GetURIPath(document, action, None, 0)
    buffer = create_string_buffer(size)
    raw.FPDFAction_GetURIPath(document, action, buffer, size)
    return buffer.value.decode("utf-8", "replace").strip()


class Headings:
    """Which bookmark each page stands under."""

    def __init__(self, starts: list[tuple[int, str | None]]) -> None:
        self._pages = [page for page, _ in starts]
        self._paths = [path for _, path in starts]

    def of(self, page: int) -> str | None:
        """The first bookmark of the page; on a page without any, the last before it."""
        at = bisect_left(self._pages, page)
        if at == len(self._pages) or self._pages[at] != page:
            at = bisect_right(self._pages, page) - 1
        return self._paths[at] if at >= 0 else None


def headings(document: pdfium.PdfDocument) -> Headings:
    """The document's bookmarks."""
    outline = Outline()
    starts: list[tuple[int, str | None]] = []
    for bookmark in islice(document.get_toc(), _MOST_BOOKMARKS):
        path = outline.enter(bookmark.level, bookmark.get_title())
        target = bookmark.get_dest()
        index = target.get_index() if target else None
        if index is not None:
            starts.append((index + 1, path))
    starts.sort(key=lambda start: start[0])
    return Headings(starts)
