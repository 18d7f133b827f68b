"""Queries at the limits, which no engine may refuse for their size or answer slowly."""

import pytest

from indexer.search.backend import Sort
from indexer.search.query import MOST_CHARACTERS, MOST_EXCLUDED
from pipeline.errors import Invalid
from tests.support.search_index import SearchIndex

HAN = [chr(0x4E00 + n) for n in range(4000)]


def words(n: int) -> list[str]:
    """Different words of two letters."""
    return [f"{chr(97 + at // 26 % 26)}{chr(97 + at % 26)}q" for at in range(n)]


@pytest.mark.parametrize("sort", [Sort.RELEVANCE, Sort.NEWEST])
@pytest.mark.parametrize(
    "query",
    [
        pytest.param("lighthouse " + " ".join(words(490)), id="hundreds of words"),
        pytest.param("lighthouse OR " + " OR ".join(words(280)), id="hundreds of alternatives"),
        pytest.param('lighthouse OR "' + '" OR "'.join(words(180)) + '"', id="hundreds of quoted alternatives"),
        pytest.param('"the lighthouse" ' + " ".join(f"-{word}" for word in words(100)), id="without much"),
        pytest.param("lighthouse " + " ".join(f"-{one}" for one in HAN[:MOST_EXCLUDED]), id="without many beginnings"),
        pytest.param("lighthouse OR " + " OR ".join(HAN[:300]), id="hundreds of beginnings"),
        pytest.param("lighthouse " + "".join(HAN[:1500]), id="a long run"),
        pytest.param("lighthouse OR " + '"' + "a " * 900, id="a phrase of one repeated word"),
        pytest.param("lighthouse OR " + '"' + "".join(HAN[:1500]), id="a phrase without spaces"),
        pytest.param("lighthouse OR " + "x" * 1900, id="a long word"),
    ],
)
def test_a_query_at_the_limits_is_answered(index: SearchIndex, query: str, sort: Sort):
    assert len(query) <= MOST_CHARACTERS
    index.add("a", "the lighthouse")
    assert index.find(query, sort=sort) in (["a"], [])  # its word may not be among those that are looked up


def test_everything_at_once_is_answered(index: SearchIndex):
    index.add("a", "the lighthouse", metadata={f"n{n}": "v" for n in range(20)})
    query = " ".join(["lighthouse", *(f'"{a} {b}" OR {a}' for a, b in zip(words(15), words(30)[15:], strict=True))])
    excluded = " ".join(f"-{one}" for one in HAN[:MOST_EXCLUDED])
    filters = {f"n{n}": frozenset({"v", "1", "true", "1.5"}) for n in range(20)}
    names = frozenset({"default", *map(str, range(100))})
    for sort in Sort:
        page = index.search(f"{query} {excluded}", metadata=filters, collections=names, sort=sort)
        assert page.total == 1


def test_too_many_excluded_words_are_refused(index: SearchIndex):
    with pytest.raises(Invalid) as refusal:
        index.search("lighthouse " + " ".join(f"-{word}" for word in words(MOST_EXCLUDED + 1)))
    assert refusal.value.code == "query_too_long"


def test_a_phrase_ends_with_the_beginning_of_any_of_many_words(index: SearchIndex):
    index.publish(*(index.entry(f"{n}", f"東京 の{one}") for n, one in enumerate(HAN[:900])))
    assert index.search('"東京 の"').total == 900
    assert index.search("の").total == 900


def test_words_of_any_length_are_found(index: SearchIndex):
    for length in (254, 255, 256, 300, 1000, 1990):
        index.add(str(length), f"before {'x' * length} after")
    for length in (254, 255, 256, 300, 1000, 1990):
        assert index.find("x" * length) == [str(length)]
    assert index.find('"before ' + "x" * 300 + ' after"') == ["300"]
