"""Among 5,000 documents that all have the word, a search reads a bounded number of rows, and never a whole table."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import event, text

from fencepost.local.postgres import LocalPostgres
from indexer.search import postgres_search
from indexer.search.backend import Sort
from indexer.search.postgres import Postgres
from tests.support import servers
from tests.support.search_index import SearchIndex

DOCUMENTS = 5000
BOUND = 300


@pytest.fixture(scope="module")
def index(postgres: LocalPostgres) -> Iterator[SearchIndex]:
    with servers.fresh_database(postgres) as database:
        index = SearchIndex(Postgres(), database.engine)
        index.publish(
            *(index.entry(f"{n}", "common words of every document", title=f"Title {n}") for n in range(DOCUMENTS))
        )
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM ANALYZE"))
        yield index


def plans(index: SearchIndex, query: str, **request: Any) -> list[dict[str, Any]]:
    """The executed plan of every statement of a search."""
    found: list[dict[str, Any]] = []

    def explain(_connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if statement.lstrip().startswith(("WITH", "SELECT")):
            cursor.execute("SET LOCAL plan_cache_mode = force_custom_plan")
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters)
            found.append(cursor.fetchone()[0][0]["Plan"])

    event.listen(index.engine, "before_cursor_execute", explain)
    try:
        assert index.search(query, **request).hits
    finally:
        event.remove(index.engine, "before_cursor_execute", explain)
    return found


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


@pytest.mark.parametrize("sort", list(Sort))
@pytest.mark.parametrize(
    "query",
    ["common", "common words document", '"every document"', "common document -absent"],
)
def test_a_common_word_is_read_up_to_a_bound(
    index: SearchIndex, query: str, sort: Sort, monkeypatch: pytest.MonkeyPatch
):
    for name in ("MOST_CANDIDATES", "POOL", "COUNTED_FIRST", "MOST_COUNTED"):
        monkeypatch.setattr(postgres_search, name, BOUND)
    scans = [
        node
        for plan in plans(index, query, sort=sort)
        for node in nodes(plan)
        if node.get("Relation Name") in {"entries", "passages"}
    ]
    assert scans
    assert not [node["Node Type"] for node in scans if node["Node Type"] == "Seq Scan"]
    assert max(node["Actual Rows"] * node["Actual Loops"] for node in scans) <= 2 * BOUND
