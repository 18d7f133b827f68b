"""A real OpenSearch fails, or its workers do, under real processes: the index ends as the database says, by itself."""

import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier
from uuid import uuid4

import pytest
from httpx import Client
from hypothesis import settings as hypothesis_settings

from fencepost.local.opensearch import LocalOpenSearch
from indexer.search.backend import Entry
from pipeline import waiting
from pipeline.faults import Fault
from pipeline.outcomes import Superseded
from tests.faults.test_worker_faults import all_succeeded, ready
from tests.support.entries import entry, tombstone
from tests.support.indexing import Library, installed
from tests.support.stack import Stack, killed
from tests.support.waiting import until
from tests.support.world import World

_pace = threading.Event()
OUTAGE_SECONDS = 60 if hypothesis_settings.get_current_profile_name() == "soak" else 3


@pytest.fixture
def library(world: World, opensearch: LocalOpenSearch, index_prefix: str) -> Library:
    return installed(world, opensearch, index_prefix)


@pytest.fixture
def node(opensearch: LocalOpenSearch) -> Iterator[Client]:
    """The engine, past our client."""
    with Client(base_url=opensearch.url, trust_env=False, timeout=30) as client:
        yield client


def start(stack: Stack, library: Library, *kinds: str) -> None:
    for kind in kinds:
        stack.start(kind, **library.variables)


def block(node: Client, library: Library, name: str, *, is_on: bool) -> None:
    setting = {f"index.blocks.{name}": is_on or None}
    node.put(f"/{library.live}/_settings", json=setting).raise_for_status()


def is_open(world: World) -> bool:
    return bool(world.rows("SELECT FROM breakers WHERE name = 'index'"))


def everything_ended(world: World) -> bool:
    return not world.rows("SELECT FROM jobs WHERE state NOT IN ('succeeded', 'superseded') LIMIT 1")


def nobody_paid(world: World) -> None:
    """An outage costs no attempt, no elapsed time, no suspicion and no second extraction."""
    assert world.rows("SELECT * FROM quarantine") == []
    assert world.row("SELECT max(attempt) AS n FROM jobs WHERE state = 'succeeded'")["n"] == 1
    assert world.rows("SELECT job_id FROM jobs WHERE alone") == []
    assert world.rows("SELECT document_id FROM documents WHERE suspect") == []
    for job in world.rows("""
        SELECT j.elapsed_spent, sum(a.ended_at - a.started_at) FILTER (WHERE a.outcome = 'published') AS worked,
               count(a.store_ms) AS extractions
        FROM jobs j JOIN attempts a USING (job_id) WHERE j.state = 'succeeded' GROUP BY j.job_id
    """):
        assert timedelta() < job["elapsed_spent"] <= job["worked"]
        assert job["extractions"] <= 1
    world.check()


def test_an_outage_under_load_costs_nothing_and_ends_by_itself(
    world: World, stack: Stack, library: Library, opensearch: LocalOpenSearch
) -> None:
    start(stack, library, "relay", "worker", "worker", "sweeper")
    for kind in ("relay", "worker", "sweeper"):
        ready(world, kind)
    before = [world.upload(f"old words {n}", key=f"k{n}") for n in range(31)]
    until(all_succeeded(world, 31), seconds=60, what="the first documents")
    gone = before.pop().document_id
    world.delete(gone)
    until(all_succeeded(world, 32), seconds=60, what="a delete before the outage")

    opensearch.stop()
    n = 0
    deadline = time.monotonic() + OUTAGE_SECONDS
    while time.monotonic() < deadline or not is_open(world):
        assert time.monotonic() < deadline + 30, "nobody noticed"
        world.upload(f"new words {n}", key=f"n{n}")
        world.upload(f"newer words {n}", key=f"k{n % 20}")
        if n < 10:
            world.delete(before[20 + n].document_id)
        n += 1
        _pace.wait(0.05)
    until(lambda: world.row("SELECT count(*) AS n FROM jobs WHERE state = 'leased'")["n"] == 0, what="the hand-back")
    (job,) = world.rows("SELECT job_id FROM jobs WHERE state = 'queued' LIMIT 1")
    with world.engine.connect() as connection:
        (sentence,) = waiting.explain(connection, [job["job_id"]], world.settings).values()
    assert sentence == "publishing is paused: OpenSearch cannot be reached"
    paused = world.row("SELECT count(*) AS n FROM attempts")["n"]

    opensearch.start()
    until(lambda: everything_ended(world), seconds=OUTAGE_SECONDS + 90, what="the end of all jobs")
    assert not is_open(world)
    assert paused > 32, "some were in hand when it went away"
    nobody_paid(world)
    assert "index.recovered" in stack.logs()
    late = entry(document_id=gone)
    assert library.backend.publish(None, [library.live], [late]) == {gone: Superseded()}, "the restart forgot no delete"
    library.check()


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [("read_only_allow_delete", "The index is read-only (disk)"), ("write", "The index is read-only")],
)
def test_a_read_only_index_pauses_publishing_until_it_takes_writes_again(
    world: World, stack: Stack, library: Library, node: Client, trouble: str, reason: str
) -> None:
    start(stack, library, "relay", "worker", "sweeper")
    ready(world, "worker")
    block(node, library, trouble, is_on=True)
    for n in range(10):
        world.upload(f"words {n}")
    until(lambda: is_open(world), seconds=30, what="the breaker")
    assert world.row("SELECT reason FROM breakers")["reason"].startswith(reason)
    until(lambda: world.row("SELECT failures FROM breakers")["failures"] >= 2, what="a probe")
    until(lambda: world.row("SELECT count(*) AS n FROM jobs WHERE state = 'queued'")["n"] == 10, what="the hand-back")
    block(node, library, trouble, is_on=False)
    until(all_succeeded(world, 10), seconds=60, what="the end of all jobs")
    nobody_paid(world)
    library.check()


def test_a_worker_killed_between_publish_and_finish_is_repeated_without_harm(
    world: World, stack: Stack, library: Library
) -> None:
    accepted = [world.upload(f"lighthouse {n}", key=f"k{n}") for n in range(8)]
    gone = [world.delete(one.document_id) for one in accepted[:2]]
    start(stack, library, "relay", "sweeper")
    fault = f"kill:{Fault.AFTER_PUBLISH_BEFORE_FINISH}"
    assert killed(stack.start_armed(fault, "worker", **library.variables))
    assert library.entries(), "it had published"
    start(stack, library, "worker")
    until(lambda: everything_ended(world), seconds=60, what="the end of all jobs")
    assert all(world.job(one.job_id)["state"] == "succeeded" for one in gone)
    assert (
        world.rows("SELECT job_id FROM attempts WHERE store_ms IS NOT NULL GROUP BY job_id HAVING count(*) > 1") == []
    )
    library.check()
    world.check()


def test_a_worker_paused_before_its_publish_is_refused_by_the_index(
    world: World, stack: Stack, library: Library, node: Client
) -> None:
    first = world.upload("old words", key="a")
    start(stack, library, "relay", "sweeper")
    paused = stack.start_armed(f"stop:{Fault.AFTER_RESULT_STORED}", "worker", **library.variables)
    until(lambda: Path(f"/proc/{paused.pid}/stat").read_text().split()[2] == "T", seconds=30, what="the pause")
    newer = world.upload("new words", key="a")
    world.execute("UPDATE jobs SET lease_until = now() - interval '1 s' WHERE state = 'leased'")
    until(lambda: world.job(first.job_id)["state"] == "superseded", what="the reclaim")
    start(stack, library, "worker")
    until(all_succeeded(world, 1), seconds=60, what="the newer version")
    refusals = refused_by(node, library)
    paused.send_signal(signal.SIGCONT)
    until(lambda: "lease.lost" in stack.logs(), seconds=60, what="the late end")
    assert refused_by(node, library) == refusals + 1, "the index itself refused it"
    assert world.document(newer.document_id)["published_version"] == 2
    library.check()
    world.check()


def test_of_two_versions_at_once_the_newer_stays(library: Library) -> None:
    """Whichever comes first, and also when the newer one is a tombstone."""
    with ThreadPoolExecutor(2) as pool:
        for is_deleted in (False, True) * 15:
            document_id, barrier = uuid4(), Barrier(2)

            def publish(one: Entry) -> object:
                barrier.wait()  # noqa: B023 - at once
                return library.backend.publish(None, [library.live], [one]).get(one.document_id)

            newest = tombstone(document_id, 2) if is_deleted else entry(version=2, document_id=document_id)
            older = pool.submit(publish, entry(document_id=document_id))
            newer = pool.submit(publish, newest)
            assert newer.result(30) is None
            assert older.result(30) in {None, Superseded()}
            state = library.entries()[document_id]
            assert (state.version, state.tombstone) == (2, is_deleted)


def test_a_wiped_index_pauses_publishing_until_a_rebuild_has_made_another(
    world: World, stack: Stack, library: Library, node: Client
) -> None:
    start(stack, library, "relay", "worker", "sweeper")
    ready(world, "worker")
    for n in range(10):
        world.upload(f"words {n}")
    until(all_succeeded(world, 10), seconds=60, what="the first documents")
    node.delete(f"/{library.live}").raise_for_status()
    for n in range(10, 15):
        world.upload(f"words {n}")
    until(lambda: is_open(world), seconds=30, what="the breaker")
    assert "is not in OpenSearch any more" in world.row("SELECT reason FROM breakers")["reason"]
    library.rebuild()
    until(all_succeeded(world, 15), seconds=120, what="the end of all jobs")
    nobody_paid(world)
    library.check()


def refused_by(node: Client, library: Library) -> int:
    """How many writes the index has refused."""
    stats = node.get(f"/{library.live}/_stats/indexing").raise_for_status().json()
    return int(stats["_all"]["total"]["indexing"]["index_failed"])
