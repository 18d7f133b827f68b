"""The local stack with an OpenSearch of its own, or one elsewhere, and with stand-ins for our processes."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic

import httpx
import pytest

from fencepost.local import processes
from fencepost.local.opensearch import LocalOpenSearch
from tests.support import leaks
from tests.support.running_stack import RunningStack
from tests.support.servers import Database
from tests.support.waiting import until

Run = Callable[..., RunningStack]
WITHOUT_PASSWORD = "asks for no password: all users of this machine can use it"


@pytest.fixture
def run(enterable_folder: Path, database: Database, broker_url: str) -> Iterator[Run]:
    """Starts stacks on one data folder, with the session's PostgreSQL and Valkey, and ends them after the test."""
    addresses = {"FENCEPOST_DATABASE_URL": database.url, "FENCEPOST_BROKER_URL": broker_url}
    started: list[RunningStack] = []

    def start(**variables: str) -> RunningStack:
        started.append(RunningStack(enterable_folder / "data", "0", **addresses, **variables))
        return started[-1]

    yield start
    for each in started:
        each.close()


def opensearch_of(running: RunningStack) -> str:
    return running.environment_of("worker-1")["FENCEPOST_OPENSEARCH_URL"]


def search_of(running: RunningStack) -> str:
    return running.environment_of("worker-1")["FENCEPOST_SEARCH"]


def pid_of_opensearch(running: RunningStack) -> int:
    with suppress(OSError, ValueError):
        return int((running.data / "opensearch.pid").read_text())
    return 0


def stops_in_time(running: RunningStack, told: signal.Signals) -> bool:
    began = monotonic()
    return running.told(told) == 0 and monotonic() - began < 10


def test_its_own_node_is_remembered_with_its_data_and_leaves_nothing(run: Run) -> None:
    before = set(leaks.descendants())
    first = run(FENCEPOST_SEARCH="opensearch")
    first.hears(WITHOUT_PASSWORD, seconds=120)
    first.hears("ready at")
    assert search_of(first) == "opensearch"
    largest = int(first.environment_of("worker-1")["FENCEPOST_OPENSEARCH__ENTRY_BYTES"])
    assert largest == 512 * 2**20 / 32, "more could end a node with so little heap"
    httpx.put(f"{opensearch_of(first)}/kept", trust_env=False, timeout=60).raise_for_status()

    refused = run()
    assert refused.code() == 1
    httpx.put(f"{opensearch_of(first)}/made-after-the-refusal", trust_env=False, timeout=60).raise_for_status()

    pid = pid_of_opensearch(first)
    assert first.told(signal.SIGKILL) == -signal.SIGKILL
    until(lambda: processes.born(pid) is None)

    second = run()
    second.hears("search is in opensearch, as at the last start; --search postgres moves it")
    second.hears("ready at", seconds=120)
    assert httpx.head(f"{opensearch_of(second)}/kept", trust_env=False, timeout=60).status_code == 200
    pid = pid_of_opensearch(second)
    os.kill(pid, signal.SIGKILL)
    assert second.hears("ended with signal 9").startswith("opensearch")
    until(lambda: pid_of_opensearch(second) not in (0, pid))
    assert stops_in_time(second, signal.SIGTERM), "although it was being started again"
    until(lambda: set(leaks.descendants()) <= before)  # PostgreSQL may have started a worker in between


def test_ctrl_c_while_it_starts_is_heeded_and_leaves_nothing(run: Run) -> None:
    before = set(leaks.descendants())
    running = run(FENCEPOST_SEARCH="opensearch")
    pid = until(lambda: pid_of_opensearch(running), seconds=60)
    assert processes.born(pid)
    assert stops_in_time(running, signal.SIGINT)
    until(lambda: set(leaks.descendants()) <= before)  # PostgreSQL may have started a worker in between


@pytest.fixture
def elsewhere(opensearch: LocalOpenSearch, index_prefix: str) -> dict[str, str]:
    """The variables that lead a stack to the session's OpenSearch."""
    return {"FENCEPOST_OPENSEARCH_URL": opensearch.url, "FENCEPOST_OPENSEARCH__PREFIX": index_prefix}


def test_one_elsewhere_is_used_and_none_is_started(
    run: Run, opensearch: LocalOpenSearch, elsewhere: dict[str, str]
) -> None:
    running = run(**elsewhere)
    running.hears("ready at")
    assert (search_of(running), opensearch_of(running)) == ("opensearch", opensearch.url)
    assert not any(WITHOUT_PASSWORD in line for line in running.lines)
    assert not (running.data / "opensearch").exists()


def test_a_move_is_said_and_what_is_named_wins(run: Run, elsewhere: dict[str, str]) -> None:
    for variables, said in (
        (elsewhere, ""),
        ({"FENCEPOST_SEARCH": "postgres"}, "search moves from opensearch to postgres"),
        ({}, ""),
        (elsewhere, "search moves from postgres to opensearch"),
    ):
        running = run(**variables)
        running.hears("ready at")
        assert said == "".join(line.partition(" ")[2].strip() for line in running.lines if "search moves" in line)
        assert search_of(running) == ("opensearch" if variables is elsewhere else "postgres")
        assert running.told(signal.SIGTERM) == 0
