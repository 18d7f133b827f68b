import pytest

from indexer.search.backend import Sort
from tests.support.search_index import SearchIndex


def counts(facets: object) -> dict[str, int]:
    return {facet.value: facet.count for facet in facets}  # type: ignore[attr-defined]


@pytest.fixture
def two(index: SearchIndex) -> SearchIndex:
    """Two collections with the same words in them."""
    ours, theirs = index.collection("ours"), index.collection("theirs")
    index.add("o1", "lighthouse keeper", collection_id=ours, title="Lighthouse", media_type="text/html")
    index.add("o2", "lighthouse keeper", collection_id=ours)
    index.add("t1", "lighthouse keeper secret", collection_id=theirs, title="Lighthouse")
    return index


@pytest.mark.parametrize("sort", list(Sort))
@pytest.mark.parametrize(
    "query", ["lighthouse", "lighthouse keeper", '"lighthouse keeper"', '"lighthouse keeper" secret']
)
def test_another_collection_is_seen_in_no_part_of_the_answer(two: SearchIndex, query: str, sort: Sort):
    page = two.search(query, collections=frozenset({"ours"}), sort=sort)
    assert {hit.key for hit in page.hits} == {"o1", "o2"}
    assert {hit.collection for hit in page.hits} == {"ours"}
    assert page.total == 2
    assert counts(page.facets["collection"]) == {"ours": 2}
    assert counts(page.facets["media_type"]) == {"text/html": 1, "text/plain": 1}


def test_a_word_of_another_collection_is_not_found(two: SearchIndex):
    page = two.search("secret", collections=frozenset({"ours"}))
    assert (page.total, page.hits, page.facets) == (0, [], {"collection": [], "media_type": [], "language": []})


@pytest.mark.parametrize("names", [frozenset({"nowhere"}), frozenset()])
def test_a_collection_that_is_not_there_has_no_documents(two: SearchIndex, names: frozenset[str]):
    assert two.find("lighthouse", collections=names) == []


def test_several_collections(two: SearchIndex):
    assert set(two.find("lighthouse", collections=frozenset({"ours", "theirs"}))) == {"o1", "o2", "t1"}
    assert set(two.find("lighthouse")) == {"o1", "o2", "t1"}


def test_media_types(two: SearchIndex):
    assert two.find("lighthouse", media_types=frozenset({"text/html"})) == ["o1"]
    assert set(two.find("lighthouse", media_types=frozenset({"text/html", "text/plain"}))) == {"o1", "o2", "t1"}
    assert two.find("lighthouse", media_types=frozenset({"text/plain"}), collections=frozenset({"ours"})) == ["o2"]


@pytest.mark.parametrize("query", ["lighthouse", '"lighthouse keeper" secret', "-secret keeper"])
def test_facets_alone_are_those_of_the_search(two: SearchIndex, query: str):
    for narrowed in ({}, {"collections": frozenset({"ours"})}, {"media_types": frozenset({"text/html"})}):
        facets, page = two.facets(query, **narrowed), two.search(query, **narrowed)
        assert facets.capped is page.total_capped is False
        assert facets.values == page.facets


def test_languages(index: SearchIndex):
    ours = index.collection("ours")
    index.add("de", "Text", language="de", collection_id=ours)
    index.add("en", "Text", language="en")
    index.add("ja", "Text", language="ja")
    index.add("none", "Text")
    assert counts(index.search("text").facets["language"]) == {"de": 1, "en": 1, "ja": 1}
    assert index.find("text", languages=frozenset({"de"})) == ["de"]
    assert set(index.find("text", languages=frozenset({"ja", "en"}))) == {"ja", "en"}
    assert index.find("text", languages=frozenset({"en"}), collections=frozenset({"ours"})) == []
    assert {hit.key: hit.language for hit in index.search("text").hits} == {
        "de": "de", "en": "en", "ja": "ja", "none": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [("word", "red"), ("number", "2026"), ("fraction", "1.5"), ("truth", "true"), ("list", "a"), ("numbers", "7"),
     ("digits", "0042"), ("odd name: ü'\"", "x:y")],
)  # fmt: skip
def test_metadata_of_every_kind(index: SearchIndex, name: str, value: str):
    metadata = {
        "word": "red", "number": 2026, "fraction": 1.5, "truth": True, "list": ["a", "b"], "numbers": [7, 8],
        "digits": "0042", "odd name: ü'\"": "x:y",
    }  # fmt: skip
    index.add("with", "lighthouse", metadata=metadata)
    index.add("without", "lighthouse", metadata=dict.fromkeys(metadata, "other"))
    index.add("bare", "lighthouse")
    assert index.find("lighthouse", metadata={name: frozenset({value})}) == ["with"]


def test_values_of_one_field_are_alternatives_and_fields_add_up(index: SearchIndex):
    index.add("red 1", "word", metadata={"colour": "red", "n": 1})
    index.add("blue 1", "word", metadata={"colour": "blue", "n": 1})
    index.add("blue 2", "word", metadata={"colour": "blue", "n": 2})
    either = frozenset({"red", "blue"})
    assert len(index.find("word", metadata={"colour": either})) == 3
    assert set(index.find("word", metadata={"colour": either, "n": frozenset({"1"})})) == {"red 1", "blue 1"}
    assert index.find("word", metadata={"colour": frozenset({"green"})}) == []


def test_filters_hold_for_total_and_facets(index: SearchIndex):
    for n in range(20):
        index.add(str(n), "word", metadata={"even": n % 2 == 0}, media_type=f"text/{n % 4}")
    page = index.search("word", metadata={"even": frozenset({"true"})}, limit=3)
    assert page.total == 10
    assert counts(page.facets["media_type"]) == {"text/0": 5, "text/2": 5}


def test_the_largest_facet_comes_first_and_equal_ones_by_name(index: SearchIndex):
    for name, media_type, language in [("c", "text/z", "fr"), ("b", "text/y", "en"), ("a", "text/x", "de")]:
        of = {"collection_id": index.collection(name), "media_type": media_type, "language": language}
        index.add(name, "word", **of)
        if name == "b":
            index.add("another", "word", **of)
    for facets in (index.search("word").facets, index.facets("word").values):
        assert {kind: [(facet.value, facet.count) for facet in found] for kind, found in facets.items()} == {
            "collection": [("b", 2), ("a", 1), ("c", 1)],
            "media_type": [("text/y", 2), ("text/x", 1), ("text/z", 1)],
            "language": [("en", 2), ("de", 1), ("fr", 1)],
        }


def test_sorts(index: SearchIndex):
    index.add("1", "word", title="banana")
    index.add("2", "word word word word", title="Cherry")
    index.add("3", "word", title="apple")
    assert index.find("word", sort=Sort.NEWEST) == ["3", "2", "1"]
    assert index.find("word", sort=Sort.TITLE) == ["3", "1", "2"]
