"""A document that kills every worker that takes it ends before a person, alone; whatever else was there is indexed."""

import signal
import subprocess

from tests.faults.test_worker_faults import all_succeeded
from tests.support.hostile import endless_pdf
from tests.support.stack import Stack
from tests.support.waiting import until
from tests.support.world import World

ATTEMPTS = 4
OTHERS = 10
SOON = 10.0
"""Seconds within which the death of a worker is noticed; its lease would have run out only after 30."""


def test_the_killer_of_its_workers_is_quarantined_alone(world: World, stack: Stack) -> None:
    few = {"FENCEPOST_BUDGET__ATTEMPTS": str(ATTEMPTS), "FENCEPOST_PARTITIONS": "1"}
    killer = world.upload(endless_pdf(), filename="killer.pdf", key="killer").job_id
    for n in range(OTHERS):
        world.upload(f"words {n}")
    world.execute("UPDATE jobs SET partition = 0")
    world.execute("UPDATE outbox SET partition = 0")
    stack.start("relay", **few)
    stack.start("sweeper", **few)
    for attempt in range(1, ATTEMPTS + 1):
        worker = stack.start("worker", **few)
        until(lambda: held(world, killer, attempt), seconds=30, what="the lease")  # noqa: B023 - called at once
        if attempt > 1:
            until(all_succeeded(world, OTHERS), seconds=30, what="the end of the others")
        kill(worker)
        until(lambda: world.job(killer)["state"] != "leased", seconds=SOON, what="the notice of the death")
    assert world.job(killer)["state"] == "quarantined"
    row = world.row("SELECT * FROM quarantine")
    assert (row["job_id"], row["code"], row["owner"]) == (killer, "worker_lost", "operators")
    attempts = world.row("SELECT max(attempt) AS n FROM jobs WHERE state = 'succeeded'")
    assert attempts["n"] == 2, "the first death took its batch along, the others took nobody"
    world.check()


def held(world: World, job_id: object, attempt: int) -> bool:
    row = world.row("SELECT state, attempt FROM jobs WHERE job_id = :id", id=job_id)
    return (row["state"], row["attempt"]) == ("leased", attempt)


def kill(worker: subprocess.Popen[bytes]) -> None:
    worker.kill()
    assert worker.wait() == -signal.SIGKILL
