"""One statement renews all leases of a process: a row that is being ended is passed by and delays no other."""

import time

import pytest
from sqlalchemy import text

from pipeline.leases import renew_if_held
from tests.races.test_races import expire, leased
from tests.support.servers import Database
from tests.support.world import World


@pytest.fixture
def world(database: Database) -> World:
    return World(database.engine)


def test_a_locked_row_is_passed_by_and_delays_no_other(world: World) -> None:
    held = [leased(world, str(n)) for n in range(5)]
    expire(world)
    with world.engine.begin() as ending:
        ending.execute(text("SELECT 1 FROM jobs WHERE job_id = :job FOR UPDATE"), {"job": held[0].job_id})
        started = time.monotonic()
        with world.engine.begin() as beat:
            renewed = renew_if_held(beat, [(lease.job_id, lease.generation) for lease in held], seconds=30)
        assert time.monotonic() - started < 2
    assert renewed == {lease.job_id for lease in held[1:]}
    expired = world.rows("SELECT job_id FROM jobs WHERE lease_until < now()")
    assert [row["job_id"] for row in expired] == [held[0].job_id]


def test_an_older_generation_renews_nothing(world: World) -> None:
    held = leased(world)
    with world.engine.begin() as beat:
        assert renew_if_held(beat, [(held.job_id, held.generation - 1)], seconds=30) == set()
        assert renew_if_held(beat, [(held.job_id, held.generation)], seconds=30) == {held.job_id}
