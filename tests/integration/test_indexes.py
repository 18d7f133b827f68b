"""The registry of physical indexes: who publishes to which."""

import threading

from sqlalchemy import text

from indexer.search.postgres import Postgres
from pipeline import indexes
from pipeline.indexes import IndexState
from pipeline.leases import lease
from tests.support.waiting import until
from tests.support.world import World


def filling(world: World) -> tuple[indexes.PhysicalIndex, int]:
    """A second index to which everything is published from now on, and the epoch of that."""
    with world.engine.begin() as connection:
        new = indexes.begin(connection, backend="postgres", fingerprint="1", prefix="fencepost", joint="_")
        Postgres().create(connection, new)
        return new, indexes.change(connection, {new.index_id: IndexState.FILLING})


def test_a_lease_names_the_live_index_and_the_one_that_fills(world: World):
    first = world.upload("one")
    assert world.lease(first.job_id)[0].targets == ["fencepost_1_1"]
    new, _ = filling(world)
    second = world.upload("two")
    assert world.lease(second.job_id)[0].targets == ["fencepost_1_1", new.name]


def test_the_list_is_settled_when_the_attempts_of_the_older_one_have_ended(world: World):
    (early,) = world.lease(world.upload("one").job_id)
    _, epoch = filling(world)
    (late,) = world.lease(world.upload("two").job_id)
    with world.engine.connect() as connection:
        assert not indexes.is_settled(connection, epoch)
        world.finish(early)
        connection.rollback()
        assert indexes.is_settled(connection, epoch)
    world.finish(late)


def test_a_change_of_the_list_waits_for_a_lease_under_way(world: World):
    job = world.upload("one").job_id
    with world.engine.begin() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock_shared(:lock)"), {"lock": indexes.TARGETS_LOCK})
        changing = threading.Thread(target=filling, args=(world,))
        changing.start()
        until(lambda: waits_for_a_lock(world), what="the change to wait")
    changing.join(30)
    assert len(world.lease(job)[0].targets) == 2


def test_a_swap_leaves_one_live_index(world: World):
    new, _ = filling(world)
    with world.engine.begin() as connection:
        old = indexes.live(connection)
        assert old is not None
        indexes.change(connection, {old.index_id: IndexState.RETIRED, new.index_id: IndexState.LIVE})
        assert indexes.targets(connection) == (new.name,)
        assert [one.state for one in indexes.everyone(connection)] == [IndexState.RETIRED, IndexState.LIVE]


def waits_for_a_lock(world: World) -> bool:
    return bool(world.rows("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"))


def test_a_worker_of_the_other_backend_leases_nothing(world: World):
    job = world.upload("one").job_id
    assert job is not None
    with world.engine.begin() as connection:
        assert lease(connection, [job], worker_id=1, seconds=30, backend="opensearch") == []
    assert world.job(job)["state"] == "queued"
    assert len(world.lease(job)) == 1
