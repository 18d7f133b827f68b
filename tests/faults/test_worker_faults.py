"""A real worker is killed at every boundary of an attempt; afterwards everything is as if it had not been."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import redis

from pipeline.broker import NAMESPACE
from pipeline.contents import PIECE
from pipeline.faults import Fault
from tests.support.documents import archive
from tests.support.hostile import endless_pdf
from tests.support.stack import Stack, killed
from tests.support.waiting import until
from tests.support.world import World

BOUNDARIES = [
    Fault.AFTER_LEASE,
    Fault.AFTER_EXTRACTION,
    Fault.AFTER_RESULT_STORED,
    Fault.AFTER_PUBLISH_BEFORE_FINISH,
    Fault.AFTER_FINISH_BEFORE_ACKNOWLEDGE,
]


def all_succeeded(world: World, n: int) -> Callable[[], bool]:
    return lambda: world.row("SELECT count(*) AS n FROM jobs WHERE state = 'succeeded'")["n"] == n


def ready(world: World, kind: str) -> None:
    """Waits until a process of this kind is registered."""
    until(
        lambda: world.rows("SELECT 1 FROM processes WHERE kind = :kind AND locked_at IS NOT NULL", kind=kind),
        what=f"a {kind}",
    )


@pytest.mark.parametrize("fault", BOUNDARIES)
def test_a_worker_killed_here_loses_nothing_and_repeats_nothing(world: World, stack: Stack, fault: Fault) -> None:
    accepted = [world.upload(f"lighthouse number {n}", key=f"k{n}") for n in range(8)]
    stack.start("relay")
    stack.start("sweeper")
    victim = stack.start_armed(f"kill:{fault}", "worker")
    assert killed(victim)
    stack.start("worker")
    until(all_succeeded(world, 8), seconds=60, what="the end of all jobs")
    world.check()
    versions = world.rows("SELECT document_id, version FROM fencepost_1_1.entries WHERE NOT tombstone")
    assert {row["document_id"]: row["version"] for row in versions} == {a.document_id: 1 for a in accepted}
    assert world.row("SELECT count(*) AS n FROM fencepost_1_1.passages")["n"] == 8, (
        "one passage each: nothing was applied twice"
    )


def test_a_stored_result_is_not_extracted_again(world: World, stack: Stack) -> None:
    """The central case: stored, killed before the acknowledgement, delivered again, not extracted again."""
    world.upload("kept words", key="a")
    stack.start("relay")
    stack.start("sweeper")
    assert killed(stack.start_armed(f"kill:{Fault.AFTER_RESULT_STORED}", "worker"))
    stored = world.row("SELECT result_id, created_at FROM results")
    stack.start("worker")
    until(all_succeeded(world, 1), seconds=60)
    first, second = world.rows("SELECT outcome, extract_ms, store_ms FROM attempts ORDER BY generation")
    assert first["outcome"] == "lease_lost"
    assert (second["outcome"], second["extract_ms"], second["store_ms"]) == ("published", None, None)
    assert world.row("SELECT result_id, created_at FROM results") == stored
    world.check()


@pytest.mark.parametrize("fault", [Fault.AFTER_PUBLISH_BEFORE_FINISH, Fault.AFTER_FINISH_BEFORE_ACKNOWLEDGE])
def test_the_message_is_still_unacknowledged_when_the_outcome_commits(
    world: World, stack: Stack, broker_url: str, fault: Fault
) -> None:
    accepted = world.upload("x")
    partition = world.job(accepted.job_id)["partition"]
    stack.start("relay")
    assert killed(stack.start_armed(f"kill:{fault}", "worker"))
    with redis.Redis.from_url(broker_url) as broker:
        pending = [key for key in broker.scan_iter(f"{NAMESPACE}:__acks__.*.p{partition}") if broker.scard(key)]
        assert len(pending) == 1, "acknowledged before the end was committed"


def test_after_the_finish_the_redelivered_job_is_only_acknowledged(world: World, stack: Stack, broker_url: str) -> None:
    accepted = world.upload("x")
    partition = world.job(accepted.job_id)["partition"]
    stack.start("relay")
    assert killed(stack.start_armed(f"kill:{Fault.AFTER_FINISH_BEFORE_ACKNOWLEDGE}", "worker"))
    assert world.job(accepted.job_id)["state"] == "succeeded"
    with redis.Redis.from_url(broker_url) as broker:
        (message_id,) = broker.hkeys(f"{NAMESPACE}:p{partition}.msgs")
        broker.rpush(f"{NAMESPACE}:p{partition}", message_id)  # as the broker's own redelivery does, minutes later
        stack.start("worker")
        until(lambda: not broker.exists(f"{NAMESPACE}:p{partition}.msgs"), what="the acknowledgement")
    assert world.row("SELECT count(*) AS n FROM attempts")["n"] == 1
    world.check()


def test_a_paused_worker_wakes_up_late_and_is_refused(world: World, stack: Stack) -> None:
    """Stopped past its lease while it holds a finished extraction; its job succeeds elsewhere; then it goes on."""
    accepted = world.upload("old words", key="a")
    stack.start("relay")
    stack.start("sweeper")
    paused = stack.start_armed(f"stop:{Fault.AFTER_RESULT_STORED}", "worker")
    until(lambda: Path(f"/proc/{paused.pid}/stat").read_text().split()[2] == "T", what="the pause")
    world.execute("UPDATE jobs SET lease_until = now() - interval '1 s'")
    until(lambda: world.job(accepted.job_id)["state"] == "queued", what="the reclaim")
    stack.start("worker")
    until(all_succeeded(world, 1), seconds=60)
    newer = world.upload("new words", key="a")
    until(all_succeeded(world, 2), seconds=60)
    paused.send_signal(signal.SIGCONT)
    until(lambda: "lease.lost" in stack.logs(), seconds=60, what="the refusal")
    assert world.document(newer.document_id)["published_version"] == 2
    assert world.row("SELECT version FROM fencepost_1_1.entries")["version"] == 2
    assert world.row("SELECT count(*) AS n FROM attempts WHERE outcome = 'published'")["n"] == 2
    world.check()


def test_sigterm_finishes_or_hands_back_and_burns_no_attempt(world: World, stack: Stack) -> None:
    stack.start("relay")
    worker = stack.start("worker")
    ready(world, "worker")
    for n in range(30):
        world.upload(f"words {n}")
    worker.terminate()
    assert worker.wait(10) == 0
    assert world.row("SELECT count(*) AS n FROM jobs WHERE state = 'leased'")["n"] == 0
    assert world.row("SELECT max(attempt - CASE state WHEN 'succeeded' THEN 1 ELSE 0 END) AS n FROM jobs")["n"] == 0
    assert world.row("SELECT ended_at FROM processes WHERE kind = 'worker'")["ended_at"] is not None
    world.check()


def test_a_document_under_way_at_sigterm_is_handed_back_and_leaves_no_folder(
    world: World, stack: Stack, tmp_path: Path
) -> None:
    stack.start("relay")
    worker = stack.start("worker", TMPDIR=str(tmp_path), FENCEPOST_WORKER__STOP_GRACE_SECONDS="3")
    hanging = world.upload(archive({"a.pdf": endless_pdf(), "b.bin": bytes(PIECE)}), filename="large.zip").job_id
    until(lambda: list(tmp_path.glob("fencepost-extract-*/*")) != [], seconds=30, what="its reader")
    assert list(tmp_path.glob("fencepost-load-*/content")) != []
    worker.terminate()
    assert worker.wait(20) == 0
    assert list(tmp_path.glob("fencepost-*")) == []
    assert hanging is not None
    assert (world.job(hanging)["state"], world.job(hanging)["attempt"]) == ("queued", 0)
