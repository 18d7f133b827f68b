"""A real relay and a real sweeper are killed at every boundary."""

import pytest

from pipeline.faults import Fault
from tests.faults.test_worker_faults import all_succeeded, ready
from tests.support.stack import Stack, killed
from tests.support.waiting import until
from tests.support.world import World


@pytest.mark.parametrize("fault", [Fault.RELAY_AFTER_CLAIM, Fault.RELAY_AFTER_PUBLISH, Fault.RELAY_BEFORE_CONFIRM])
def test_a_relay_killed_here_loses_nothing_and_harms_nothing(world: World, stack: Stack, fault: Fault) -> None:
    for n in range(8):
        world.upload(f"words {n}")
    assert killed(stack.start_armed(f"kill:{fault}", "relay"))
    assert world.row("SELECT count(*) AS n FROM outbox")["n"] == 8, "unconfirmed rows stay"
    stack.start("relay")
    stack.start("worker")
    until(all_succeeded(world, 8), seconds=60, what="the end of all jobs")
    until(lambda: world.rows("SELECT 1 FROM outbox") == [], what="an empty outbox")
    assert world.row("SELECT count(*) AS n FROM attempts")["n"] == 8
    assert world.row("SELECT sum(attempt) AS n FROM jobs")["n"] == 8
    world.check()


@pytest.mark.parametrize(
    "fault", [Fault.SWEEP_AFTER_DEAD, Fault.SWEEP_BEFORE_RECLAIM_COMMIT, Fault.SWEEP_AFTER_RECLAIM]
)
def test_a_sweeper_killed_while_it_takes_work_back(world: World, stack: Stack, fault: Fault) -> None:
    for n in range(8):
        world.upload(f"words {n}")
    stack.start("relay")
    assert killed(stack.start_armed(f"kill:{Fault.AFTER_LEASE}", "worker"))
    assert killed(stack.start_armed(f"kill:{fault}", "sweeper"))
    stack.start("worker")
    stack.start("sweeper")
    until(all_succeeded(world, 8), seconds=60, what="the end of all jobs")
    assert world.row("SELECT max(attempt) AS n FROM jobs")["n"] == 2
    world.check()


def test_a_sweeper_killed_after_it_sent_again(world: World, stack: Stack) -> None:
    accepted = world.upload("words")
    world.relay()  # to a broker that forgot it
    world.execute("UPDATE jobs SET sent_at = now() - interval '31 s'")
    assert killed(stack.start_armed(f"kill:{Fault.SWEEP_AFTER_RESEND}", "sweeper"))
    for kind in ("relay", "worker", "sweeper"):
        stack.start(kind)
    until(all_succeeded(world, 1), seconds=60)
    assert world.job(accepted.job_id)["attempt"] == 1
    world.check()


def test_a_sweeper_killed_while_it_purges(world: World, stack: Stack) -> None:
    stack.start("relay")
    stack.start("worker")
    for content in ("one", "two", "three"):
        world.upload(content, key="a")
        until(lambda: not world.rows("SELECT 1 FROM jobs WHERE finished_at IS NULL"), seconds=60)
    world.execute("UPDATE jobs SET finished_at = now() - interval '8 days'")
    assert killed(stack.start_armed(f"kill:{Fault.SWEEP_AFTER_PURGE}", "sweeper"))
    world.check()
    stack.start("sweeper")
    ready(world, "sweeper")
    until(lambda: world.rows("SELECT 1 FROM jobs") == [], what="the purge")
    world.check()
