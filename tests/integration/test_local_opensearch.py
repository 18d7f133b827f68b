"""The real OpenSearch of one machine: what it answers, what it keeps, what it leaves behind, and what it says."""

from collections.abc import Iterator

import httpx
import pytest

from fencepost.local.opensearch import LocalOpenSearch
from tests.support import servers

THAI = "การทดสอบภาษาไทย"


@pytest.fixture
def client(opensearch: LocalOpenSearch) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=opensearch.url, trust_env=False, timeout=30) as each:
        yield each


def test_it_finds_the_words_of_thai(client: httpx.Client) -> None:
    answer = client.post("/_analyze", json={"tokenizer": "thai", "text": THAI}).raise_for_status().json()
    assert [token["token"] for token in answer["tokens"]] == ["การ", "ทดสอบ", "ภาษา", "ไทย"]


def test_a_restart_and_a_kill_keep_the_data_and_the_address(
    opensearch: LocalOpenSearch, client: httpx.Client, index_prefix: str
) -> None:
    client.put(f"/{index_prefix}-1").raise_for_status()
    client.put(f"/{index_prefix}-1/_doc/7?version=3&version_type=external_gte", json={"kept": 1}).raise_for_status()
    pid = opensearch.pid
    opensearch.restart()
    opensearch.kill()
    opensearch.start()
    assert opensearch.pid != pid
    kept = client.get(f"/{index_prefix}-1/_doc/7").json()
    assert (kept["_version"], kept["_source"]) == (3, {"kept": 1})


def test_an_index_that_is_not_there_is_never_made_by_writing_to_it(client: httpx.Client, index_prefix: str) -> None:
    answer = client.put(f"/{index_prefix}-1/_doc/7", json={})
    assert answer.status_code == 404
    assert answer.json()["error"]["type"] == "index_not_found_exception"


def test_a_test_leaves_nothing_behind(opensearch: LocalOpenSearch, client: httpx.Client) -> None:
    with servers.fresh_prefix(opensearch) as prefix:
        client.put(f"/{prefix}-1", json={"aliases": {prefix: {}}}).raise_for_status()
        client.put(f"/_index_template/{prefix}", json={"index_patterns": [f"{prefix}-*"]}).raise_for_status()
        client.post(f"/{prefix}/_search/point_in_time?keep_alive=1m").raise_for_status()
        client.put(f"/{prefix}-1/_block/read_only").raise_for_status()
        client.put("/_cluster/settings", json={"persistent": {"cluster.blocks.read_only": True}}).raise_for_status()
    assert client.get(f"/_resolve/index/{prefix}*?expand_wildcards=all").json() == {
        "indices": [],
        "aliases": [],
        "data_streams": [],
    }
    assert client.head(f"/_index_template/{prefix}").status_code == 404
    assert client.get("/_search/point_in_time/_all").json() == {"pits": []}
    assert client.get("/_cluster/settings").json() == {"persistent": {}, "transient": {}}
