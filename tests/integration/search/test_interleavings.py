"""Whatever is delivered twice, out of order or late, the newest version is visible in the end, or nothing.

Of {index v1, index v2, delete v3, index v4} some come, in any order and in any batches.
"""

from uuid import uuid4

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fencepost.local.opensearch import LocalOpenSearch
from fencepost.local.postgres import LocalPostgres
from indexer.search.backend import Entry
from tests.support.search_index import SearchIndex

DELETED = 3
DELIVERIES = st.lists(st.lists(st.sampled_from([1, 2, DELETED, 4]), min_size=1, max_size=3), min_size=1, max_size=6)


def version(index: SearchIndex, key: str, number: int) -> Entry:
    """One version of a document. Each has a word of its own, and all have the key."""
    if number == DELETED:
        return index.entry(key, (), version=number, tombstone=True, key=None)
    return index.entry(key, f"lighthouse {key} edition{number}", version=number, title=f"Edition {number}")


def assert_shows(index: SearchIndex, key: str, newest: int) -> None:
    """The index has this version, and every part of an answer is of it or of nothing."""
    assert index.version_of(key) == newest
    page = index.search(key)
    if newest == DELETED:
        assert (page.total, page.hits, page.facets) == (0, [], {"collection": [], "media_type": [], "language": []})
        return
    (hit,) = page.hits
    assert (hit.key, hit.published_version, hit.title) == (key, newest, f"Edition {newest}")
    assert f"edition{newest}" in hit.passages[0].html
    assert page.total == page.facets["collection"][0].count == 1
    for older in range(1, newest):
        assert index.search(f'"{key} edition{older}"').total == 0


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=DELIVERIES)
def test_only_the_newest_version_is_visible(index: SearchIndex, batches: list[list[int]]):
    key, newest = f"k{uuid4().hex}", 0
    for batch in batches:
        refused = index.publish(*(version(index, key, number) for number in batch))
        assert refused == ({index.ids[key]} if max(batch) < newest else set())
        newest = max(newest, *batch)
    assert_shows(index, key, newest)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=DELIVERIES)
def test_only_the_newest_version_is_visible_at_every_moment(index: SearchIndex, batches: list[list[int]]):
    key, newest = f"k{uuid4().hex}", 0
    for batch in batches:
        index.publish(*(version(index, key, number) for number in batch))
        newest = max(newest, *batch)
        assert_shows(index, key, newest)


@pytest.mark.parametrize("late", [1, 2])
def test_a_restart_between_a_delete_and_a_late_older_version(
    index: SearchIndex, postgres: LocalPostgres, late: int, request: pytest.FixtureRequest
):
    index.publish(version(index, "a", 1))
    index.publish(version(index, "a", DELETED))
    if index.backend.kind == "opensearch":
        request.getfixturevalue("opensearch").restart()
    else:
        postgres.restart()
        index.engine.dispose()
    assert index.publish(version(index, "a", late)) == {index.ids["a"]}
    assert_shows(index, "a", DELETED)
    assert not index.publish(version(index, "a", 4))
    assert_shows(index, "a", 4)


@pytest.mark.parametrize("kind", ["opensearch"], indirect=True)
def test_an_engine_that_forgets_deletes_at_once_refuses_a_late_older_version(
    index: SearchIndex, opensearch: LocalOpenSearch, index_prefix: str
):
    with httpx.Client(base_url=f"{opensearch.url}/{index_prefix}", trust_env=False, timeout=30) as client:
        client.put("/_settings", json={"index.gc_deletes": "0s"}).raise_for_status()
        index.publish(version(index, "a", 2))
        index.publish(version(index, "a", DELETED))
        client.post("/_flush?force=true").raise_for_status()
        client.post("/_forcemerge?max_num_segments=1").raise_for_status()
    assert index.publish(version(index, "a", 2)) == {index.ids["a"]}
    assert_shows(index, "a", DELETED)
