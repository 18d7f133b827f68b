"""Paging by relevance looks at the index as it was, while the engine can keep that, and goes on when it cannot."""

import base64
import json
from typing import Any

import httpx
import pytest

from indexer.search.backend import Sort
from indexer.search.opensearch import OpenSearchBackend, points
from indexer.search.opensearch.points import Points
from pipeline import indexes
from pipeline.indexes import IndexState
from tests.support.search_index import SearchIndex, make_live


@pytest.fixture
def many(index: SearchIndex) -> SearchIndex:
    """30 documents, each of another rank."""
    index.publish(*(index.entry(f"{n}", "word " * (n + 1) + "filler " * n) for n in range(30)))
    return index


def open_points(node: httpx.Client) -> list[Any]:
    """The points in time that the engine keeps."""
    return list(node.get("/_search/point_in_time/_all").raise_for_status().json()["pits"])


def keys(index: SearchIndex, cursor: str | None) -> list[str]:
    """The documents of the page after a cursor."""
    return [hit.key or "" for hit in index.search("word", limit=20, cursor=cursor).hits]


def test_the_last_page_closes_the_point(many: SearchIndex, node: httpx.Client):
    first = many.search("word", limit=10)
    assert len(open_points(node)) == 1
    second = many.search("word", limit=10, cursor=first.next)
    assert len(open_points(node)) == 1
    assert many.search("word", limit=10, cursor=second.next).next is None
    assert open_points(node) == []


def test_a_search_of_one_page_or_in_the_order_of_a_column_needs_no_point(many: SearchIndex, node: httpx.Client):
    many.search("word", limit=30)
    for sort in (Sort.NEWEST, Sort.TITLE):
        assert many.search("word", limit=10, sort=sort).next is not None
    assert open_points(node) == []


def test_paging_goes_on_when_the_point_has_expired(many: SearchIndex, node: httpx.Client):
    first = many.search("word", limit=20)
    node.delete("/_search/point_in_time/_all").raise_for_status()
    assert {*(hit.key for hit in first.hits), *keys(many, first.next)} == {str(n) for n in range(30)}


def test_paging_goes_on_when_the_index_was_swapped_and_dropped(many: SearchIndex, index_prefix: str):
    entries = [many.entry(f"{n}", "word " * (n + 1) + "filler " * n) for n in range(30)]
    first = many.search("word", limit=20)
    with many.engine.begin() as connection:
        old = indexes.live(connection)
        assert old is not None
    make_live(many.backend, many.engine, index_prefix)
    many.publish(*entries)
    assert len(keys(many, first.next)) == 10  # the point still leads to the old one
    with many.engine.begin() as connection:
        many.backend.drop(connection, old)
        indexes.change(connection, {old.index_id: IndexState.DROPPED})
    assert {*(hit.key for hit in first.hits), *keys(many, first.next)} == {str(n) for n in range(30)}


def test_paging_goes_on_when_the_engine_gives_no_more_points(many: SearchIndex, node: httpx.Client):
    limit = {"transient": {"search.max_open_pit_context": 1}}
    node.put("/_cluster/settings", json=limit).raise_for_status()
    first, second = many.search("word", limit=20), many.search("word", limit=20)
    assert len(open_points(node)) == 1
    assert keys(many, first.next) == keys(many, second.next) != []


def test_a_process_opens_a_bounded_number_of_points(
    many: SearchIndex, index_prefix: str, node: httpx.Client, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(points, "MOST_OPEN", 3)
    assert isinstance(many.backend, OpenSearchBackend)
    ours = Points(many.backend._client, index_prefix)
    assert sum(ours.open("x") is not None for _ in range(10)) == len(open_points(node)) == 3
    ours._opened[0] -= points.KEPT_SECONDS
    assert ours.open("x") is not None


def test_a_point_that_does_not_fit_into_a_cursor_is_given_back(
    many: SearchIndex, node: httpx.Client, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(points, "LONGEST_POINT", 10)
    first = many.search("word", limit=20)
    assert open_points(node) == []
    assert len(keys(many, first.next)) == 10


def test_a_point_of_another_index_shows_nothing_of_it(many: SearchIndex, index_prefix: str, node: httpx.Client):
    node.put(f"/{index_prefix}-foreign").raise_for_status()
    node.put(f"/{index_prefix}-foreign/_doc/1?refresh=true", json={"words": "word"}).raise_for_status()
    answer = node.post(f"/{index_prefix}-foreign/_search/point_in_time?keep_alive=1m").raise_for_status()
    cursor = many.search("word", limit=20).next
    assert cursor is not None
    fields = json.loads(base64.urlsafe_b64decode(cursor + "==")) | {"point": answer.json()["pit_id"]}
    forged = base64.urlsafe_b64encode(json.dumps(fields).encode()).decode()
    assert set(keys(many, forged)) <= {str(n) for n in range(30)}
