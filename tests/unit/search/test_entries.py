from uuid import uuid4

import orjson
import pytest

from indexer.extract.types import Passage
from indexer.search.opensearch.entries import source_of
from indexer.search.opensearch.metadata import metadata_name, metadata_text
from tests.support.entries import entry


def passages(*given: Passage) -> list[dict[str, object]]:
    found: list[dict[str, object]] = orjson.loads(source_of(entry(given)))["passages"]
    return found


def test_a_passage_holds_shown_text_and_stems():
    (passage,) = passages(Passage("The Lighthouse's keeper", 3))
    assert passage == {"n": 1, "page": 3, "text": "The Lighthouse's keeper", "words": "the lighthous s keeper"}


def test_text_and_page_breaks_are_as_they_were():
    (passage,) = passages(Passage("ﬁﬁ", 1), Passage(" ㎏", 2), Passage("東京", 4))
    text = "ﬁﬁ\n ㎏\n東京"
    assert passage["text"] == text
    assert passage["breaks"] == [text.index(" "), 2, text.index("東"), 4]
    assert passages(Passage("ab", 1), Passage("cd", 2))[0]["breaks"] == [3, 2]


def test_the_order_of_titles_ignores_case_and_is_bounded():
    source = orjson.loads(source_of(entry(title="Ä" * 5000, key="a/b.txt")))
    assert source["title_order"] == "ä" * 200
    assert source["title"] == "Ä" * 5000
    assert source["words"] == "ä" * 4000 + " a b txt"


def test_a_media_type_is_bounded():
    assert len(orjson.loads(source_of(entry(media_type="x" * 40_000)))["media_type"]) == 255


def test_a_tombstone_is_small():
    document = uuid4()
    source = source_of(entry("text", 7, document_id=document, tombstone=True, title="Title"))
    assert orjson.loads(source) == {
        "document_id": str(document), "version": 7, "tombstone": True, "collection_id": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        (5, "5"),
        (5.0, "5"),
        (2.5, "2.5"),
        (True, "true"),
        (-0.0, "0"),
        (1e300, "1e+300"),
        (2**63, str(2**63)),
    ],
)
def test_values_of_metadata_as_text(value: str | float, text: str):
    assert metadata_text(value) == text


def test_long_values_and_names_of_metadata_stay_different():
    values = {metadata_text("x" * 50_000 + end) for end in "ab"} | {metadata_name("x" * 50_000 + end) for end in "ab"}
    assert len(values) == 4
    assert max(len(value) for value in values) == 1000
    assert metadata_text("x" * 1000) == "x" * 1000


def test_an_older_index_gets_no_field_that_it_would_refuse():
    document = entry([Passage("text", heading="Head")], language="de")
    new, old = (orjson.loads(source_of(document, is_older=is_older)) for is_older in (False, True))
    assert new.pop("language") == "de"
    assert new["passages"][0].pop("headings") == '[[0,"Head"]]'
    assert old == new
