"""EPUB books."""

from indexer.extract import Limits
from tests.samples import Sample
from tests.samples import _epub as epub
from tests.samples._epub import book, chapter
from tests.samples.text import ARABIC, JAPANESE, RUSSIAN

_TWO = {
    "one.xhtml": chapter("<h1>Lamps</h1><p>They shine.</p>"),
    "two%20b.xhtml": chapter("<p>It <em>burns</em>&#160;well.</p>"),
}


def _bomb() -> bytes:
    return book({"one.xhtml": chapter(" " * (50 << 20))}, compress=True)


SAMPLES = [
    Sample(
        "whole.epub",
        lambda: book(_TWO, epub.CONTENTS, more=epub.CONTENTS_ITEM),
        words=("They shine.", "It burns\xa0well."),
        pages=2,
        media_type="application/epub+zip",
    ),
    Sample(
        "scripts.epub",
        lambda: book({"one.xhtml": chapter(f"<p>{RUSSIAN}<p>{JAPANESE}<p dir='rtl'>{ARABIC}🐋")}),
        words=("Смотритель", "漁船", "البحارة", "🐋"),
    ),
    Sample(
        "missing-chapter.epub",
        lambda: book(_TWO, {"OEBPS/book.opf": epub.package([*_TWO, "three.xhtml"])}),
        outcome="partial",
        words=("They shine.",),
        partial=("OEBPS/three.xhtml: it is missing in the book",),
        pages=3,
    ),
    Sample("fonts-encrypted.epub", lambda: book(_TWO, epub.encryption("OEBPS/font.otf")), words=("They shine.",)),
    Sample(
        "one-encrypted.epub",
        lambda: book(_TWO, epub.encryption("OEBPS/one.xhtml")),
        outcome="partial",
        words=("burns",),
        absent=("They shine.",),
        partial=("OEBPS/one.xhtml: it is encrypted",),
    ),
    Sample(
        "rights.epub",
        lambda: book(_TWO, epub.encryption("OEBPS/one.xhtml", "OEBPS/two%20b.xhtml")),
        outcome="password_required",
    ),
    Sample("bomb.epub", _bomb, outcome="limit_exceeded", large=True),
    Sample("cut-off.epub", lambda: book(_TWO)[:-100], outcome="corrupt"),
    Sample("no-chapters.epub", lambda: book({}), outcome="corrupt"),
    Sample("too-many-chapters.epub", lambda: book(_TWO), outcome="limit_exceeded", limits=Limits(pages=1)),
    Sample(
        "more-than-allowed.epub",
        lambda: book({"one.xhtml": chapter("word " * 500), "two.xhtml": chapter("never read " * 500)}),
        outcome="truncated",
        words=("word word",),
        absent=("never",),
        limits=Limits(characters=1000),
    ),
]
