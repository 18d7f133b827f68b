"""Documents that mean harm: small files that hang, exhaust or deceive their readers. All made here, none harmless."""

import zlib

from tests.support import documents

ENTITIES = '<!DOCTYPE w:document [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'


def endless_pdf(repeats: int = 20_000) -> bytes:
    """A PDF of some 60 KB whose only page asks for hours of work: one large form, drawn again and again."""
    form = documents.stream(b"q Q " * 4_000_000, "/Type /XObject /Subtype /Form /BBox [0 0 9 9]", compress=True)
    return documents.pdf_file(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            (
                b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R"
                b" /Resources << /XObject << /F 5 0 R >> >> >>"
            ),
            documents.stream(b"/F Do " * repeats),
            form,
        ]
    )


def slow_pdf(pages: int) -> bytes:
    """A PDF of so many pages with a word each, and each takes some hundredths of a second."""
    form = documents.stream(b"q Q " * 100_000, "/Type /XObject /Subtype /Form /BBox [0 0 9 9]", compress=True)
    numbers = " ".join(f"{n} 0 R" for n in range(6, 6 + pages))
    resources = b"/Resources << /Font << /F 4 0 R >> /XObject << /X 5 0 R >> >>"
    return documents.pdf_file(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            f"<< /Type /Pages /Kids [{numbers}] /Count {pages} >>".encode(),
            documents.stream(b"/X Do BT /F 12 Tf (a word) Tj ET"),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            form,
            *[b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 3 0 R " + resources + b" >>"] * pages,
        ]
    )


def crowded_pdf(attached: int, *, in_a_leaf: int) -> bytes:
    """A PDF of one page with so many attached files; each costs a millisecond to be found too large.

    PDFium looks for each from the first leaf of their names on, so that many small leaves take a time of their own.
    """
    starts = range(0, attached, in_a_leaf)
    leaves = b" ".join(b"%d 0 R" % (8 + number) for number in range(len(starts)))
    return documents.pdf_file(
        [
            b"<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles << /Kids [" + leaves + b"] >> >> >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            (
                b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R"
                b" /Resources << /Font << /F 5 0 R >> >> >>"
            ),
            documents.stream(b"BT /F 12 Tf (a word) Tj ET"),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            b"<< /Type /Filespec /F (large.bin) /EF << /F 7 0 R >> >>",
            documents.stream(bytes(1_000_000), compress=True),
            *(_leaf(range(start, min(start + in_a_leaf, attached))) for start in starts),
        ]
    )


def _leaf(numbers: range) -> bytes:
    names = b" ".join(b"(%d) 6 0 R" % number for number in numbers)
    return b"<< /Limits [(%d) (%d)] /Names [%s] >>" % (numbers[0], numbers[-1], names)


def bloated_pdf(inflated_bytes: int = 1 << 29) -> bytes:
    """A PDF whose page inflates to half a gigabyte: with less memory than that, native code ends its process."""
    deflate = zlib.compressobj(1)
    spaces = bytes(1 << 20)
    packed = b"".join(deflate.compress(spaces) for _ in range(inflated_bytes // len(spaces))) + deflate.flush()
    again = zlib.compress(packed)
    return documents.pdf_file(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>",
            b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n" % len(again) + again + b"\nendstream",
        ]
    )


def bomb_docx(megabytes: int) -> bytes:
    """A Word file of a few kilobytes whose body inflates to so many megabytes."""
    return documents.docx(documents.paragraph(" " * (megabytes << 20)), compress=True)


def entity_docx() -> bytes:
    """A Word file that declares XML entities."""
    body = "<w:body><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:body>"
    return documents.docx("", {"word/document.xml": documents.part("document", body, ENTITIES)})


def crowded_zip(members: int) -> bytes:
    """A Word file with so many parts."""
    return documents.docx("", {f"word/part{n}.xml": b"" for n in range(members)})


def deep_html(depth: int) -> bytes:
    """A page of so many nested elements around one word."""
    return b"<!doctype html>" + b"<div>" * depth + b"bottom" + b"</div>" * depth
