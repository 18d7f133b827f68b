import unicodedata

import pytest

from indexer.extract import Extraction, Request, extract
from pipeline.errors import Permanent
from tests.samples import _epub as epub
from tests.samples._epub import book, chapter

TWO = {"one.xhtml": chapter("<p>They shine."), "two%20b.xhtml": chapter("<h1>Burning</h1><p>It burns.")}


def read(content: bytes) -> Extraction:
    return extract(Request(content, "a.epub"))


def places(extraction: Extraction) -> list[tuple[int | None, str | None, str]]:
    return [(p.page, p.heading, " ".join(p.text.split())) for p in extraction.passages]


def test_a_page_is_an_item_of_the_spine():
    found = read(book(TWO))
    assert places(found) == [(1, None, "They shine."), (2, "Burning", "Burning It burns.")]
    assert found.facts == {
        "characters": 33, "language": "en", "language_confidence": 0.88, "pages": 2, "title": "A book",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("parts", "item", "headings"),
    [
        (epub.CONTENTS, epub.CONTENTS_ITEM, [None, "Burning"]),
        (epub.NAVIGATION, epub.NAVIGATION_ITEM, ["Of lamps", "Burning"]),
    ],
)
def test_the_table_of_contents_names_what_has_no_heading(parts: dict[str, str], item: str, headings: list[str | None]):
    assert [heading for _, heading, _ in places(read(book(TWO, parts, more=item)))] == headings


def test_an_old_table_of_contents_is_read_too():
    plain = TWO | {"two%20b.xhtml": chapter("<p>It burns.")}
    assert places(read(book(plain, epub.CONTENTS, more=epub.CONTENTS_ITEM)))[1] == (2, "Of oil", "It burns.")


def test_a_damaged_table_of_contents_harms_nothing():
    broken = {"OEBPS/nav.xhtml": "<a href='one.xhtml'>x"}
    assert len(places(read(book(TWO, broken, more=epub.NAVIGATION_ITEM)))) == 2


def test_a_chapter_of_another_kind_is_named_and_a_picture_is_none():
    package = (
        epub.package(list(TWO)).replace('xhtml+xml"', 'pdf"', 1).replace('application/xhtml+xml"', 'image/png"', 1)
    )
    found = read(book(TWO, {"OEBPS/book.opf": package}))
    assert found.passages == []
    assert found.facts["partial"] == ["OEBPS/one.xhtml: it is of the type application/pdf"]


def test_without_a_container_the_package_is_looked_for():
    assert len(places(read(book(TWO, {"META-INF/container.xml": "<container/>"})))) == 2


@pytest.mark.parametrize("package", ["<package/>", "<package>", epub.package([])])
def test_a_book_without_chapters_is_corrupt(package: str):
    with pytest.raises(Permanent) as refusal:
        read(book(TWO, {"OEBPS/book.opf": package}))
    assert refusal.value.code == "corrupt"


def test_a_book_whose_chapters_are_all_encrypted_needs_its_shop():
    with pytest.raises(Permanent) as refusal:
        read(book(TWO, epub.encryption("OEBPS/one.xhtml", "OEBPS/two%20b.xhtml")))
    assert refusal.value.code == "password_required"


def test_a_damaged_chapter_is_named():
    data = book(TWO)
    at = data.index(b"They shine.")
    found = read(data[:at] + b"T" + data[at + 1 :].replace(b"shine", b"shone", 1))
    assert [words for _, _, words in places(found)] == ["Burning It burns."]
    assert "OEBPS/one.xhtml" in str(found.facts["partial"])


def test_the_same_chapter_again_and_again_comes_to_an_end():
    package = epub.package(["one.xhtml"]).replace("<itemref", "<itemref idref='c0'/>" * 9_000 + "<itemref", 1)
    with pytest.raises(Permanent) as refusal:
        read(book({"one.xhtml": " " * 100_000}, {"OEBPS/book.opf": package}))
    assert refusal.value.code == "limit_exceeded"


def test_names_are_compared_as_people_read_them():
    apart = unicodedata.normalize("NFD", "Möwe.xhtml")
    data = book({apart: chapter("<p>gull")}, {"OEBPS/book.opf": epub.package(["M%C3%B6we.xhtml"])})
    assert [words for _, _, words in places(read(data))] == ["gull"]
    unsaid = data.replace(b"\x14\x00\x00\x08", b"\x14\x00\x00\x00")  # without the flag that says UTF-8
    assert unsaid != data
    assert [words for _, _, words in places(read(unsaid))] == ["gull"]
