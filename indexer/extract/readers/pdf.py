"""PDF by PDFium, one page at a time. PDFium is native and not safe among threads: this runs in a child process only."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pypdfium2 as pdfium
from pypdfium2.raw import FPDF_ERR_PASSWORD

from indexer.extract.types import Block, Buffer, Fact, Limits, Reading, Request
from indexer.passages import join_broken_words
from pipeline.errors import Permanent

_HEADER = b"%PDF-1.4\n"
_HEADER_WITHIN = 1024


def read(content: Buffer, request: Request) -> Reading:
    """One block per page with text; facts: title, pages, and how many of them have no text."""
    with _document(content) as document:
        count = len(document)
        if count > request.limits.pages:
            raise request.limits.exceeded("pages", f"The document has {count:,} pages")
        blocks, failed = _pages(document, count, request.limits)
        if len(failed) == count:
            raise Permanent("corrupt", "None of the pages can be read.")
        title = document.get_metadata_value("Title").strip()
    truncated = sum(len(block.text) for block in blocks) > request.limits.characters
    silent = sum(1 for block in blocks if not block.text)
    facts: dict[str, Fact] = {"pages": count, "pages_without_text": silent}
    if title:
        facts["title"] = title
    return Reading([block for block in blocks if block.text], facts, truncated=truncated, partial=failed)


@contextmanager
def _document(content: Buffer) -> Iterator[pdfium.PdfDocument]:
    data = bytes(content)
    if b"%PDF-" not in data[:_HEADER_WITHIN]:
        data = _HEADER + data  # PDFium mends the offsets that this shifts
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if error.err_code == FPDF_ERR_PASSWORD:
            raise Permanent("password_required", "The document is encrypted with a password.") from None
        raise Permanent("corrupt", "The file begins like a PDF, but has no pages that can be read.") from None
    with document:
        document.init_forms()  # before the first page, so that the values of its fields can be read
        yield document


def _pages(document: pdfium.PdfDocument, count: int, limits: Limits) -> tuple[list[Block], list[str]]:
    blocks: list[Block] = []
    failed: list[str] = []
    characters = 0
    for number in range(1, count + 1):
        try:
            text = _page_text(document, number - 1)
        except pdfium.PdfiumError:
            failed.append(f"page {number}: it is damaged")
            continue
        blocks.append(Block(f"{text}\n\n" if text else "", number))
        characters += len(text)
        if characters > limits.characters:
            break
    return blocks, failed


def _page_text(document: pdfium.PdfDocument, index: int) -> str:
    if document.formenv:
        with closing(document[index]) as page:
            page.flatten()  # what was typed into a form becomes a part of the page, as it is loaded next
    with closing(document[index]) as page, closing(page.get_textpage()) as textpage:
        text = textpage.get_text_range()
    return join_broken_words(text.replace("\r\n", "\n").replace("\x00", "")).strip()
