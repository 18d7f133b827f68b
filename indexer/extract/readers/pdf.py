"""PDF by PDFium, one page at a time. PDFium is native and not safe among threads: this runs in a child process only."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pypdfium2 as pdfium
from pypdfium2.raw import FPDF_ERR_PASSWORD, FPDF_PAGEOBJ_IMAGE, FPDF_LoadMemDocument

from indexer.extract import pdf_columns, pdf_extras
from indexer.extract.members import Members
from indexer.extract.pictures.ocr import DOTS_PER_INCH, Recogniser, UnreadableError
from indexer.extract.types import Block, Buffer, Fact, Reading, Request
from indexer.passages import join_broken_words
from pipeline.errors import Permanent

_HEADER = b"%PDF-1.4\n"
_HEADER_WITHIN = 1024
_IMAGES_WITHIN = 5  # forms inside each other
_POINTS_PER_INCH = 72
_STAMP = 100  # characters; a scan may have so many beside its picture
_LARGE = 0.5
_MORE_TIME = "FENCEPOST_EXTRACT__SECONDS gives more"


def read(content: Buffer, request: Request) -> Reading:
    """One block per page with text, then those of attached files; facts: title, pages, how many have no text."""
    with _document(content) as document:
        count = len(document)
        if count > request.limits.pages:
            raise request.limits.exceeded("pages", f"The document has {count:,} pages")
        pages = _Pages(document, request)
        pages.read(count)
        if len(pages.failed) == count:
            raise Permanent("corrupt", "None of the pages can be read.")
        title = document.get_metadata_value("Title").strip()
        inside = _attached(document, pages, request)
    facts: dict[str, Fact] = {"pages": count, "pages_without_text": pages.silent}
    if title:
        facts["title"] = title
    if pages.recogniser and pages.recogniser.pages:
        facts |= {"ocr_pages": pages.recogniser.pages, "ocr_languages": pages.recogniser.languages}
    return Reading(
        pages.blocks + inside.blocks,
        facts,
        truncated=pages.left < 0 or inside.truncated,
        partial=pages.named() + inside.partial,
    )


@contextmanager
def _document(content: Buffer) -> Iterator[pdfium.PdfDocument]:
    data = bytes(content)
    if b"%PDF-" not in data[:_HEADER_WITHIN]:
        data = _HEADER + data  # PDFium mends the offsets that this shifts
    FPDF_LoadMemDocument(b"", 0, None)  # fails, or PDFium might explain a failure by that of the document before
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if error.err_code == FPDF_ERR_PASSWORD:
            raise Permanent("password_required", "The document is encrypted with a password.") from None
        raise Permanent("corrupt", "The file begins like a PDF, but has no pages that can be read.") from None
    with document:
        document.init_forms()  # before the first page, so that the values of its fields can be read
        yield document


class _Pages:
    """Reads one page after the other until there is more text than the limit allows."""

    def __init__(self, document: pdfium.PdfDocument, request: Request) -> None:
        self.blocks: list[Block] = []
        self.failed: list[str] = []
        self._unread: list[str] = []
        self.silent = 0
        self.left = request.limits.characters
        self.attachments: list[pdf_extras.Attachment] = []
        self._document = document
        self.recogniser = Recogniser(request.ocr, request.spent) if request.ocr else None
        self._headings = pdf_extras.headings(document)
        self._request = request

    def read(self, count: int) -> None:
        """All pages, or as many as may be read and as there is time for."""
        for number in range(1, count + 1):
            if self._request.time_is_up():
                which = f"pages {number:,} to {count:,}" if number < count else f"page {number:,}"
                self._unread = [f"{which}: The time was up before it came to that; {_MORE_TIME}"]
                return
            try:
                text, asides = self._page(number - 1)
                text = self._with_words_of_pictures(text, number)
            except (pdfium.PdfiumError, UnreadableError):
                self.failed.append(f"page {number}: it is damaged")
                continue
            self.silent += not text
            if words := "\n\n".join(filter(None, (text, asides))):
                self.blocks.append(Block(f"{words}\n\n", number, heading=self._headings.of(number)))
            self.left -= len(words)
            if self.left < 0:
                return

    def named(self) -> list[str]:
        """What could not be read."""
        return self._unread + self.failed + (self.recogniser.failed() if self.recogniser else [])

    def _page(self, index: int) -> tuple[str, str]:
        with closing(self._document[index]) as page:
            notes = pdf_extras.notes(self._document, page, self.attachments)
            if not self._document.formenv:
                return _text(page), "\n".join(notes)
            page.flatten()  # what was typed into a form becomes a part of the page, as it is loaded next
        with closing(self._document[index]) as page:
            text = _text(page)
        return text, "\n".join(note for note in notes if note not in text)

    def _with_words_of_pictures(self, text: str, number: int) -> str:
        """The text of a page that may be a scan, where pictures are read. A stamp or a page number makes it no less."""
        if self.recogniser is None or len(text) > _STAMP:
            return text
        with closing(self._document[number - 1]) as page:
            is_scan = _pictures_cover(page, _LARGE if text else 0)
            if not is_scan or not self.recogniser.has_time_for(number):
                return text
            picture = _drawn(page, self._request.limits.pixels)
        recognised = self.recogniser.text(number, picture)
        return "\n".join([*(line for line in text.split("\n") if line not in recognised), recognised]).strip()


def _pictures_cover(page: pdfium.PdfPage, share: float) -> bool:
    """Whether there are pictures on a page, together as large as this share of it. A scan may be in many stripes."""
    needed = share * page.get_width() * page.get_height()
    for picture in page.get_objects(filter=[FPDF_PAGEOBJ_IMAGE], max_depth=_IMAGES_WITHIN):
        left, bottom, right, top = picture.get_bounds()
        needed -= (right - left) * (top - bottom)
        if needed <= 0:
            return True
    return False


def _drawn(page: pdfium.PdfPage, most_pixels: int) -> bytes:
    """A page in shades of grey, as a picture in the format PGM."""
    points = max(1.0, page.get_width() * page.get_height())
    scale = min(DOTS_PER_INCH / _POINTS_PER_INCH, (most_pixels / points) ** 0.5)
    with closing(page.render(scale=scale, grayscale=True)) as bitmap:
        shades = bytes(bitmap.buffer)
        width, height, stride = bitmap.width, bitmap.height, bitmap.stride
    if stride != width:
        shades = b"".join(shades[at : at + width] for at in range(0, stride * height, stride))
    return b"P5 %d %d 255\n" % (width, height) + shades


def _text(page: pdfium.PdfPage) -> str:
    with closing(page.get_textpage()) as textpage:
        text = pdf_columns.in_order(textpage, textpage.get_text_range())
    return join_broken_words(text.replace("\r\n", "\n").replace("\x00", "")).strip()


def _attached(document: pdfium.PdfDocument, pages: _Pages, request: Request) -> Reading:
    """What is in the files that are attached to the document and to its pages."""
    left = document.count_attachments() + len(pages.attachments)
    if not left or pages.left < 0:
        return Reading([])
    members = Members(request)
    for attachment in pdf_extras.attachments(document, request) + pages.attachments:
        if request.time_is_up():
            break
        members.read(attachment.name, attachment.pieces(request))
        left -= 1
    if left and request.time_is_up():
        members.fail(f"{left:,} attached files", "the time was up before it came to them")
    return Reading(members.blocks, truncated=members.truncated, partial=members.partial)
