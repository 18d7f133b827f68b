"""What the readers of office files share: how parts are found, and which styles are headings."""

import pytest

from indexer.extract import Request
from indexer.extract.archive import Archive
from indexer.extract.ooxml.names import in_full
from indexer.extract.ooxml.package import Package
from indexer.extract.ooxml.styles import Styles
from tests.support.documents import WORD, archive
from tests.support.office import relationships


def package(members: dict[str, bytes]) -> Package:
    content = archive(members)
    return Package(Archive(content, Request(content)))


@pytest.mark.parametrize(
    ("source", "target", "found"),
    [
        ("ppt/slides/slide1.xml", "../charts/chart1.xml", "ppt/charts/chart1.xml"),
        ("ppt/slides/slide1.xml", "/ppt/charts/chart1.xml", "ppt/charts/chart1.xml"),
        ("word/document.xml", "my%20header.xml", "word/my header.xml"),
        ("word/document.xml", "charts\\chart1.xml", "word/charts/chart1.xml"),
        ("document.xml", "../../../header.xml", "header.xml"),
        ("word/document.xml", "header.xml#top", "word/header.xml"),
    ],
)
def test_targets_are_resolved(source: str, target: str, found: str):
    folder, _, name = source.rpartition("/")
    made = package({f"{folder}/_rels/{name}.rels".lstrip("/"): relationships(("rId1", "chart", target))})
    assert made.relationships(source)["rId1"].target == found


def test_an_address_outside_stays_as_it_is():
    made = package({"a/_rels/b.xml.rels": relationships(("rId1", "hyperlink", "https://example.org/a%20b#c"))})
    found = made.relationships("a/b.xml")["rId1"]
    assert (found.kind, found.target, found.external) == ("hyperlink", "https://example.org/a%20b#c", True)


def test_case_and_slashes_make_no_difference():
    made = package({"Word\\Document.XML": b"<a/>"})
    assert made.has("word/document.xml")
    assert b"".join(made.pieces("WORD/document.xml")) == b"<a/>"


def test_relationships_that_cannot_be_read_are_named():
    made = package({"_rels/.rels": b"<Relationships"})
    assert [name.partition(":")[0] for name in made.partial] == ["relationships"]


def test_the_title_may_lie_anywhere():
    core = b"<c xmlns:d='http://purl.org/dc/elements/1.1/'><d:title> The\nkeeper </d:title><d:creator>x</d:creator></c>"
    said = relationships(("rId1", "metadata/core-properties", "props/mine.xml"))
    assert package({"_rels/.rels": said, "props/mine.xml": core}).title() == "The keeper"
    assert package({"docProps/core.xml": core}).title() == "The keeper"
    assert package({}).title() == ""


def styles(*listed: tuple[str, str, str, str]) -> Styles:
    made = Styles()
    space = WORD
    for id_, name, base, outline in listed:
        made.start(f"{space}}}style", {f"{space}}}styleId": id_})
        for tag, value in (("name", name), ("basedOn", base), ("outlineLvl", outline)):
            if value:
                made.start(f"{space}}}{tag}", {f"{space}}}val": value})
    return made


@pytest.mark.parametrize(
    ("name", "level"),
    [("heading 3", 3), ("Title", 0), ("Überschrift 2", 2), ("標題 1", 1), ("heading", None), ("Normal", None)],
)
def test_a_heading_is_known_by_its_name(name: str, level: int | None):
    assert styles(("a", name, "", "")).level("a") == level


def test_an_outline_level_says_more_than_a_name():
    made = styles(("a", "heading 1", "", "9"), ("b", "Anything", "", "4"), ("c", "heading 1", "", "x"))
    assert [made.level(id_) for id_ in "abc"] == [None, 5, None]


def test_a_level_is_inherited():
    made = styles(("a", "x", "b", ""), ("b", "y", "c", ""), ("c", "heading 2", "", ""), ("d", "z", "b", "9"))
    assert [made.level(id_) for id_ in "abcd"] == [2, 2, 2, None]


def test_styles_may_go_round_in_a_circle():
    made = styles(("a", "x", "b", ""), ("b", "y", "a", ""))
    assert made.level("a") is made.level("b") is None


def test_a_long_chain_of_styles_is_followed_once():
    made = styles(*((str(n), "x", str(n + 1), "") for n in range(50_000)), ("50000", "heading 1", "", ""))
    assert {made.level(str(n)) for n in range(50_001)} == {1}


def test_without_a_list_of_styles_their_ids_tell():
    assert [Styles().level(id_) for id_ in ("Heading2", "berschrift1", "Titre3", "Normal")] == [2, 1, 3, None]


def test_names_are_the_same_in_both_forms():
    assert in_full({"p:sp": 1}) == {
        "http://schemas.openxmlformats.org/presentationml/2006/main}sp": 1,
        "http://purl.oclc.org/ooxml/presentationml/main}sp": 1,
    }
