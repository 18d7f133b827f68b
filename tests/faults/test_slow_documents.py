"""Documents that take longer than a lease: they keep it, they end once, and they hold up nobody else."""

from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

import pytest

from fencepost.local.postgres import LocalPostgres
from fencepost.local.valkey import LocalValkey
from tests.faults.test_worker_faults import all_succeeded
from tests.support.hostile import endless_pdf
from tests.support.sessions import shared
from tests.support.waiting import until
from tests.support.world import World

SHORT_LEASE = {"FENCEPOST_LEASE__SECONDS": "3", "FENCEPOST_LEASE__BEAT_SECONDS": "1"}
OTHERS = 100


class Scene(NamedTuple):
    """One document that hangs, and many that do not."""

    world: World
    hanging: UUID


@pytest.fixture(scope="module")
def scene(postgres: LocalPostgres, valkey: LocalValkey) -> Iterator[Scene]:
    with shared(postgres, valkey) as (world, stack):
        hanging = world.upload(endless_pdf(), filename="endless.pdf").job_id
        assert hanging is not None
        for kind in ("relay", "worker", "sweeper"):
            stack.start(kind, FENCEPOST_EXTRACT__SECONDS="12", **SHORT_LEASE)
        until(lambda: world.job(hanging)["state"] == "leased", seconds=30, what="the lease of the one that hangs")
        for n in range(OTHERS):
            world.upload(f"words {n}")
        yield Scene(world, hanging)


def test_one_that_hangs_delays_no_other(scene: Scene) -> None:
    until(all_succeeded(scene.world, OTHERS), seconds=12, what="the end of the others")
    assert scene.world.job(scene.hanging)["state"] == "leased", "it still hangs"


def test_an_attempt_longer_than_its_lease_keeps_it_and_ends_once(scene: Scene) -> None:
    until(lambda: scene.world.job(scene.hanging)["state"] == "quarantined", seconds=30, what="its deadline")
    attempt = scene.world.row("SELECT *, ended_at - started_at AS took FROM attempts WHERE outcome <> 'published'")
    assert (attempt["generation"], attempt["code"]) == (1, "extractor_timeout")
    assert attempt["took"].total_seconds() > 9, "three leases at least"
    scene.world.check()


def test_nobody_was_taken_for_dead(scene: Scene) -> None:
    assert scene.world.rows("SELECT 1 FROM attempts WHERE outcome = 'lease_lost'") == []
    assert scene.world.row("SELECT max(attempt) AS n FROM jobs")["n"] == 1
