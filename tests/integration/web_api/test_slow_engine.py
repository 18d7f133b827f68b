"""While OpenSearch is slow, searches wait, and nothing else does."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import orjson
import pytest

from fencepost.http.app import SEARCHES, THREADS
from indexer.search.backend import SearchRequest
from indexer.search.opensearch import OpenSearchBackend
from pipeline.database import connect
from pipeline.settings import Settings
from tests.support import api
from tests.support.scripted_engine import Reply, ScriptedEngine
from tests.support.servers import Database
from tests.support.waiting import until

NO_BUCKETS: dict[str, list[object]] = {"buckets": []}
NOTHING = {
    "hits": {"hits": [], "total": {"value": 0, "relation": "eq"}},
    "aggregations": {"collection": NO_BUCKETS, "media_type": NO_BUCKETS, "language": NO_BUCKETS},
}


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Answers come when it is set."""
    gate = threading.Event()
    yield gate
    gate.set()


@pytest.fixture
def slow(gate: threading.Event) -> Iterator[ScriptedEngine]:
    with ScriptedEngine() as engine:
        engine.script(*[Reply(body=orjson.dumps(NOTHING), waits_for=gate)] * 2 * THREADS)
        yield engine


def test_a_search_holds_no_connection_while_the_engine_answers(
    database: Database, slow: ScriptedEngine, gate: threading.Event
) -> None:
    engine = connect(database.url, size=1)
    backend = OpenSearchBackend(Settings(opensearch_url=slow.url))
    with ThreadPoolExecutor(1) as threads:
        search = threads.submit(backend.search, engine, SearchRequest("word"))
        until(lambda: slow.calls)
        try:
            assert engine.pool.checkedout() == 0  # type: ignore[attr-defined]
        finally:
            gate.set()
        assert search.result().total == 0
    engine.dispose()


@pytest.mark.parametrize("path", ["/v1/search", "/search"])
def test_slow_searches_leave_threads_to_others(
    database: Database, slow: ScriptedEngine, gate: threading.Event, path: str
) -> None:
    with api.serving(database, Settings(opensearch_url=slow.url)) as client, ThreadPoolExecutor(THREADS) as threads:
        address = f"{client.base_url.join(path)}?q=word"
        searches = [threads.submit(httpx.get, address, timeout=60) for _ in range(THREADS)]
        until(lambda: len(slow.calls) >= SEARCHES)
        try:
            assert client.get("/v1/documents", timeout=5).status_code == 200
            assert len(slow.calls) == SEARCHES
        finally:
            gate.set()
        assert {search.result().status_code for search in searches} == {200}
