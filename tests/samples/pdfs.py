"""PDFs: forms, passwords, notes, files inside, and all the ways of being broken."""

from functools import partial

from indexer.extract import Limits
from tests.samples import Sample, _pdfs, _pictures
from tests.support import documents, hostile

_PAGES = [["First page", "of the log"], [], ["Third page"]]
_PDF = "application/pdf"


def form() -> bytes:
    """A page with a field that somebody has filled in."""
    appearance = documents.stream(
        b"/Tx BMC BT /F1 12 Tf 2 5 Td (typed value) Tj ET EMC",
        "/Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font << /F1 5 0 R >> >> ",
    )
    field = (
        b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (typed value) /F 4 /Rect [10 10 210 30] /P 3 0 R"
        b" /AP << /N 7 0 R >> >>"
    )
    return _pdfs.one_page(
        "Your name:", catalog="/AcroForm << /Fields [6 0 R] >>", page="/Annots [6 0 R]", more=[field, appearance]
    )


def attached() -> bytes:
    """Files inside a file inside a file, one of which is a program."""
    deep = _pdfs.with_files([("deep.txt", b"words in the deep")])
    return _pdfs.with_files([("list.txt", b"the attached list"), ("tool.exe", b"\x7fELF\0\0"), ("inner.pdf", deep)])


def garbage() -> bytes:
    """A text layer of nothing but private characters, as fonts without a table of letters leave it."""
    table = b"1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfrange <20> <7e> <e020> endbfrange"
    cmap = b"/CIDInit /ProcSet findresource begin begincmap " + table + b" endcmap end"
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 7 0 R >>"
    return _pdfs.one_page("nobody can find this", more=[font, documents.stream(cmap)], font=6)


def circle() -> bytes:
    """Pages that contain themselves."""
    return documents.pdf_file([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [2 0 R] /Count 1 >>"])


def damaged_page() -> bytes:
    """Two pages, of which the second is missing."""
    return documents.pdf([["The page that is left"], ["gone"]]).replace(b"4 0 R 6 0 R", b"4 0 R 3 0 R")


SAMPLES = [
    Sample("log.pdf", partial(documents.pdf, _PAGES), words=("First page\nof the log", "Third page"), pages=3),
    Sample("form.pdf", form, words=("Your name:", "typed value"), media_type=_PDF),
    Sample("notes.pdf", _pdfs.annotated, words=("The tide tables", "who checked this?", "https://tides.example/table")),
    Sample("hyphens.pdf", lambda: documents.pdf([["a chrono-", "meter"]]), words=("a chronometer",)),
    Sample(
        "attached.pdf",
        attached,
        outcome="partial",
        words=("See what is attached", "the attached list", "words in the deep"),
        members=("list.txt", "inner.pdf", "inner.pdf/deep.txt"),
        partial=("tool.exe: This is a program",),
    ),
    Sample(
        "owner-password.pdf",
        lambda: _pdfs.encrypted("anybody may read this", user="", owner="harbour"),
        words=("anybody may read this",),
    ),
    Sample(
        "user-password.pdf",
        lambda: _pdfs.encrypted("nobody may read this", user="herring", owner="harbour"),
        outcome="password_required",
    ),
    Sample("garbage-layer.pdf", garbage, outcome="text_unreliable", pages=1),
    Sample("scanned.pdf", lambda: _pdfs.scanned([_pictures.drawn("A scan")]), outcome="no_text", pages=1),
    Sample(
        "vertical.pdf",
        lambda: _pdfs.vertical("灯台の守は夜ごとに灯を", "ABCともし海の上", "の船を導いた。"),
        words=("灯台の守は夜ごとに灯を\nABCともし海の上\nの船を導いた。",),
        pages=1,
    ),
    Sample("no-header.pdf", lambda: documents.pdf([["Found"]]).removeprefix(b"%PDF-1.4\n"), words=("Found",)),
    Sample("junk-before.pdf", lambda: b"junk\n" * 50 + documents.pdf([["Found"]]), words=("Found",)),
    Sample("zero-pages.pdf", lambda: documents.pdf([]), outcome="corrupt"),
    Sample("pages-circle.pdf", circle, outcome="corrupt"),
    Sample("truncated.pdf", lambda: documents.pdf([["cut"]])[:200], outcome="corrupt"),
    Sample(
        "damaged-page.pdf",
        damaged_page,
        outcome="partial",
        words=("The page that is left",),
        partial=("page 2: it is damaged",),
        pages=2,
    ),
    Sample("too-many-pages.pdf", partial(documents.pdf, _PAGES), outcome="limit_exceeded", limits=Limits(pages=2)),
    Sample(
        "cut.pdf", lambda: documents.pdf([["word " * 15] * 40] * 3), outcome="truncated", limits=Limits(characters=99)
    ),
    Sample(
        "attached-bomb.pdf",
        partial(_pdfs.bomb, 70),
        outcome="partial",
        words=("See what is attached",),
        partial=("bomb.txt: It has too many bytes; the limit is 67,108,864",),
        limits=Limits(member_bytes=64 << 20),
        large=True,
    ),
    Sample("endless.pdf", partial(hostile.endless_pdf, 3), outcome="no_text", large=True),
    Sample(
        "5000-pages.pdf",
        lambda: documents.pdf([f"Page {n} of the log", "All quiet."] for n in range(1, 5001)),
        words=("Page 1 of the log", "Page 5000 of the log"),
        pages=5000,
        large=True,
    ),
]
