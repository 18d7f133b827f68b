"""A search while the engine is away, slow or without our index says so, and nothing else."""

import socket
from collections.abc import Iterator

import httpx
import pytest

from indexer.search.backend import SearchRequest
from indexer.search.opensearch import OpenSearchBackend
from pipeline.errors import IndexUnavailable
from pipeline.settings import Settings
from tests.support.api import serving
from tests.support.search_index import SearchIndex
from tests.support.servers import Database


@pytest.fixture
def nowhere() -> Iterator[str]:
    """The address of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def settings(url: str) -> Settings:
    return Settings(opensearch_url=url, opensearch={"timeout_seconds": 0.3})


def search(database: Database, url: str) -> None:
    OpenSearchBackend(settings(url)).search(database.engine, SearchRequest("word"))


def test_an_engine_that_does_not_answer(database: Database, nowhere: str):
    with pytest.raises(IndexUnavailable, match="did not answer in time"):
        search(database, nowhere)


def test_an_engine_that_is_not_there(database: Database):
    with pytest.raises(IndexUnavailable, match="cannot be reached"):
        search(database, "http://127.0.0.1:1")


def test_an_index_that_somebody_removed(index: SearchIndex, index_prefix: str, node: httpx.Client):
    node.delete(f"/{index_prefix}-*").raise_for_status()
    with pytest.raises(IndexUnavailable, match="is not in OpenSearch any more"):
        index.search("word")


def test_a_next_page_does_not_wait_twice(index: SearchIndex, nowhere: str):
    index.publish(*(index.entry(f"{n}", "word") for n in range(3)))
    cursor = index.search("word", limit=1).next
    with pytest.raises(IndexUnavailable, match="did not answer in time"):
        OpenSearchBackend(settings(nowhere)).search(index.engine, SearchRequest("word", limit=1, cursor=cursor))


def test_the_api_answers_503(database: Database, nowhere: str):
    with serving(database, settings(nowhere)) as client:
        answer = client.get("/v1/search", params={"q": "word"})
    assert answer.status_code == 503
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "index_unavailable"


def test_its_page_is_a_page(database: Database, nowhere: str):
    with serving(database, settings(nowhere)) as client:
        answer = client.get("/search", params={"q": "word"})
    assert (answer.status_code, answer.headers["content-type"]) == (503, "text/html; charset=utf-8")
    assert "The search index does not answer just now: OpenSearch did not answer in time." in answer.text


def test_a_search_never_reads_the_whole_of_a_document(index: SearchIndex, index_prefix: str, node: httpx.Client):
    index.add("a", "the lighthouse", title="Tower")
    index.visible()
    (hit,) = node.get(f"/{index_prefix}/_search").raise_for_status().json()["hits"]["hits"]
    assert hit["_source"]["title"] == "Tower"
    assert hit["_source"].keys().isdisjoint({"passages", "words"})
