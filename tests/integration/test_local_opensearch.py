"""The real OpenSearch of one machine: what it answers, what it keeps, what it leaves behind, and what it says."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from fencepost.local import processes
from fencepost.local.opensearch import LocalOpenSearch
from fencepost.local.processes import StartError, User
from pipeline.settings import LocalNode
from tests.support import servers
from tests.support.waiting import until

THAI = "การทดสอบภาษาไทย"


@pytest.fixture
def client(opensearch: LocalOpenSearch) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=opensearch.url, trust_env=False, timeout=30) as each:
        yield each


def quick(data: Path, wanted: LocalNode | None = None) -> LocalOpenSearch:
    return LocalOpenSearch(data, wanted, options=servers.QUICK_JAVA)


def test_it_finds_the_words_of_thai(client: httpx.Client) -> None:
    answer = client.post("/_analyze", json={"tokenizer": "thai", "text": THAI}).raise_for_status().json()
    assert [token["token"] for token in answer["tokens"]] == ["การ", "ทดสอบ", "ภาษา", "ไทย"]


def test_it_survives_a_kill_with_its_data_on_the_same_address(
    opensearch: LocalOpenSearch, client: httpx.Client, index_prefix: str
) -> None:
    client.put(f"/{index_prefix}-1").raise_for_status()
    client.put(f"/{index_prefix}-1/_doc/7?version=3&version_type=external_gte", json={"kept": 1}).raise_for_status()
    pid = opensearch.pid
    opensearch.kill()
    opensearch.start()
    assert opensearch.pid != pid
    kept = client.get(f"/{index_prefix}-1/_doc/7").json()
    assert (kept["_version"], kept["_source"]) == (3, {"kept": 1})


def test_an_index_that_is_not_there_is_never_made_by_writing_to_it(client: httpx.Client, index_prefix: str) -> None:
    answer = client.put(f"/{index_prefix}-1/_doc/7", json={})
    assert answer.status_code == 404
    assert answer.json()["error"]["type"] == "index_not_found_exception"


def test_it_keeps_to_loopback_and_has_the_heap_that_was_asked_for(
    opensearch: LocalOpenSearch, client: httpx.Client
) -> None:
    sockets = psutil.Process(opensearch.pid).net_connections()
    assert {each.laddr.ip for each in sockets} <= {"127.0.0.1", "::ffff:127.0.0.1"}
    nodes = client.get("/_nodes/jvm").json()["nodes"]
    heap = next(iter(nodes.values()))["jvm"]["mem"]["heap_max_in_bytes"]
    assert LocalNode().heap_bytes * 0.9 < heap <= LocalNode().heap_bytes


def test_a_test_leaves_nothing_behind(opensearch: LocalOpenSearch, client: httpx.Client) -> None:
    with servers.fresh_prefix(opensearch) as prefix:
        client.put(f"/{prefix}-1", json={"aliases": {prefix: {}}}).raise_for_status()
        client.put(f"/_index_template/{prefix}", json={"index_patterns": [f"{prefix}-*"]}).raise_for_status()
        client.post(f"/{prefix}/_search/point_in_time?keep_alive=1m").raise_for_status()
        client.put(f"/{prefix}-1/_block/read_only").raise_for_status()
        client.put("/_cluster/settings", json={"persistent": {"cluster.blocks.read_only": True}}).raise_for_status()
    found = client.get(f"/_resolve/index/{prefix}*?expand_wildcards=all").json()
    assert found == {"indices": [], "aliases": [], "data_streams": []}
    assert client.head(f"/_index_template/{prefix}").status_code == 404
    assert client.get("/_search/point_in_time/_all").json() == {"pits": []}
    assert client.get("/_cluster/settings").json() == {"persistent": {}, "transient": {}}


def test_it_runs_as_nobody_opens_nothing_above_its_data_and_is_found_again(
    enterable_folder: Path,
) -> None:
    above = [*enterable_folder.parents, enterable_folder]
    before = [folder.stat().st_mode for folder in above]
    data = enterable_folder / "Daten für später"
    with quick(data) as first:
        if os.getuid() == 0:
            assert Path(f"/proc/{first.pid}").stat().st_uid == User.for_servers().uid
            assert data.stat().st_mode & 0o777 == 0o710
        assert first.folder.stat().st_mode & 0o777 == 0o700
        assert first.log.stat().st_mode & 0o777 == 0o600
        assert httpx.get(first.url, trust_env=False, timeout=60).status_code == 200
        quick(data)._end_leftover()  # the next start, which takes this one for lost
        assert processes.born(first.pid) is None
    assert [folder.stat().st_mode for folder in above] == before
    assert sorted(entry.name for entry in data.iterdir()) == ["opensearch", "opensearch.log"]


def test_it_ends_when_its_starter_is_killed(enterable_folder: Path) -> None:
    code = (
        "import sys, signal; from pathlib import Path; from tests.integration.test_local_opensearch import quick\n"
        "print(quick(Path(sys.argv[1])).start().pid, flush=True); signal.pause()"
    )
    starter = subprocess.Popen([sys.executable, "-c", code, enterable_folder], stdout=subprocess.PIPE, text=True)
    pid = int(starter.stdout.readline())
    assert processes.born(pid)
    starter.send_signal(signal.SIGKILL)
    assert starter.wait() == -signal.SIGKILL
    starter.stdout.close()
    until(lambda: processes.born(pid) is None)


@pytest.mark.skipif(os.getuid() != 0, reason="only root runs it as another user")
def test_a_folder_that_its_user_cannot_enter_is_said(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    with pytest.raises(StartError, match=rf"cannot enter \S+, which is on the way to {tmp_path}/data/opensearch: "):
        quick(tmp_path / "data").start()


def test_a_port_that_was_asked_for_and_is_taken_is_said(opensearch: LocalOpenSearch, enterable_folder: Path) -> None:
    taken = LocalNode(port=opensearch.port)
    with pytest.raises(StartError, match=rf"Port {opensearch.port} is taken .* FENCEPOST_LOCAL_OPENSEARCH__PORT"):
        quick(enterable_folder, taken).start()


def test_why_it_did_not_start_is_said_without_a_stack(enterable_folder: Path) -> None:
    server = LocalOpenSearch(enterable_folder, options=["-XX:Nonsense"])
    with pytest.raises(StartError, match=r"opensearch did not start: Unrecognized VM option 'Nonsense' \(more in "):
        server.start()
    server.options = servers.QUICK_JAVA
    (server.folder / "data").chmod(0o000)
    with pytest.raises(StartError, match=r"did not start: java\.nio\.file\.AccessDeniedException: \S+/data \("):
        server.start()
    (server.folder / "data").chmod(0o700)


def test_one_that_takes_too_long_is_ended_and_that_is_said(
    enterable_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LocalOpenSearch, "start_seconds", 0.2)
    server = quick(enterable_folder)
    with pytest.raises(StartError, match=r"opensearch did not answer within 0\.2 s; its last words: .*opensearch\.log"):
        server.start()
    assert server.process is None
