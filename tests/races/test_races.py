"""Every pair of contenders, with each side winning once. The loser is named in the test."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, text

from indexer.search.backend import Entry
from indexer.search.postgres import Postgres
from pipeline import outbox
from pipeline.acceptance import Submission, accept, accept_one
from pipeline.broker import Postman
from pipeline.leases import Ending, Lease, finish_if_held, lock_held
from pipeline.outcomes import Published, RetryLater
from pipeline.states import State
from pipeline.sweeper import Sweeper
from tests.integration.test_sweeper import NoIndex
from tests.support.waiting import until
from tests.support.world import World


def beside(action: Callable[[], Any]) -> Future[Any]:
    """Runs the other contender in a thread."""
    executor = ThreadPoolExecutor(1)
    future = executor.submit(action)
    executor.shutdown(wait=False)
    return future


def is_blocked(world: World) -> bool:
    """Whether some statement waits for a lock."""
    return bool(world.rows("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"))


def sweep(world: World) -> list[UUID]:
    return Sweeper(world.engine, Postman("redis://127.0.0.1:1"), NoIndex(), world.settings).reclaim()


def leased(world: World, content: str = "x", **fields: Any) -> Lease:
    accepted = world.upload(content, **fields)
    world.relay()
    (held,) = world.lease(accepted.job_id)
    return held


def expire(world: World) -> None:
    world.execute("UPDATE jobs SET lease_until = now() - interval '1 s' WHERE state = 'leased'")


def finish(connection: Connection, world: World, held: Lease) -> dict[UUID, State]:
    lock_held(connection, [held])
    return finish_if_held(connection, [Ending(held.job_id, held.generation, Published())], world.settings)


def publish(connection: Connection, held: Lease, *, tombstone: bool = False) -> set[UUID]:
    entry = Entry(
        held.document_id, held.input_version, tombstone, held.collection_id, None, "t", "text/plain", {},
        held.accepted_at, (),
    )  # fmt: skip
    return set(Postgres().publish(connection, held.targets, [entry]))


def version(world: World, document_id: UUID) -> tuple[int, bool]:
    row = world.row("SELECT version, tombstone FROM fencepost_1_1.entries WHERE document_id = :id", id=document_id)
    return row["version"], row["tombstone"]


# -- finish and sweep ------------------------------------------------------------------------------------------------


def test_finish_wins_and_the_sweeper_leaves_it_alone(world: World) -> None:
    held = leased(world)
    expire(world)
    with world.engine.begin() as connection:
        assert finish(connection, world, held) == {held.job_id: State.SUCCEEDED}
        assert sweep(world) == [], "the document is locked: the sweeper passes by"
    assert sweep(world) == []
    assert world.job(held.job_id)["state"] == "succeeded"
    world.check()


def test_the_sweeper_wins_and_the_late_finish_changes_nothing(world: World) -> None:
    held = leased(world)
    expire(world)
    assert sweep(world) == [held.job_id]
    with world.engine.begin() as connection:
        assert finish(connection, world, held) == {}
    assert world.job(held.job_id)["state"] == "queued"
    world.check()


def test_a_renewal_wins_and_the_sweeper_reads_it(world: World) -> None:
    held = leased(world)
    expire(world)
    with world.engine.begin() as renewing:
        renewing.execute(text("UPDATE jobs SET lease_until = now() + interval '30 s'"))
        assert sweep(world) == []
    assert sweep(world) == []
    assert world.job(held.job_id)["state"] == "leased"


def test_two_sweepers_reclaim_each_job_once(world: World) -> None:
    jobs = [leased(world, str(n)).job_id for n in range(20)]
    expire(world)
    barrier = Barrier(2)

    def run() -> list[UUID]:
        barrier.wait()
        return sweep(world) + sweep(world)

    one, two = beside(run), beside(run)
    assert sorted(one.result(20) + two.result(20)) == sorted(jobs)
    assert all(row["attempt"] == 1 for row in world.rows("SELECT attempt FROM jobs"))
    world.check()


# -- older and newer publish -----------------------------------------------------------------------------------------


def test_the_older_publish_comes_late_and_is_refused(world: World) -> None:
    older = leased(world, "old", key="a")
    world.finish(older, RetryLater("handler_error", "again"))
    newer = leased(world, "new", key="a")
    with world.engine.begin() as connection:
        assert publish(connection, newer) == set()
        finish(connection, world, newer)
    with world.engine.begin() as connection:
        assert publish(connection, older) == {older.document_id}
    assert version(world, older.document_id) == (2, False)


def test_the_older_publish_comes_first_and_is_replaced(world: World) -> None:
    older = leased(world, "old", key="a")
    with world.engine.begin() as connection:
        assert publish(connection, older) == set()
        finish(connection, world, older)
    newer = leased(world, "new", key="a")
    with world.engine.begin() as connection:
        assert publish(connection, newer) == set()
        finish(connection, world, newer)
    assert version(world, older.document_id) == (2, False)
    world.check()


def test_two_publishes_at_once_end_with_the_newer(world: World) -> None:
    older = leased(world, "old", key="a")
    world.execute("UPDATE jobs SET state = 'superseded', finished_at = now(), worker_id = NULL, lease_until = NULL")
    newer = leased(world, "new", key="a")
    with world.engine.begin() as connection:
        publish(connection, newer)
        late = beside(lambda: in_own_transaction(world, older))
        until(lambda: is_blocked(world))
    assert late.result(20) == {older.document_id}
    assert version(world, older.document_id) == (2, False)


def in_own_transaction(world: World, held: Lease) -> set[UUID]:
    with world.engine.begin() as connection:
        return publish(connection, held)


# -- publish and delete ----------------------------------------------------------------------------------------------


def test_a_delete_wins_and_the_late_publish_is_refused_also_long_after(world: World) -> None:
    older = leased(world, "old", key="a")
    gone = world.delete(older.document_id)
    (delete,) = world.lease(gone.job_id)
    with world.engine.begin() as connection:
        publish(connection, delete, tombstone=True)
        finish(connection, world, delete)
    world.execute("UPDATE fencepost_1_1.entries SET accepted_at = accepted_at - interval '20 days'")
    assert in_own_transaction(world, older) == {older.document_id}
    assert version(world, older.document_id) == (2, True)
    assert world.finish(older) is None
    world.check()


def test_a_publish_wins_and_the_delete_comes_after_it(world: World) -> None:
    older = leased(world, "old", key="a")
    with world.engine.begin() as connection:
        publish(connection, older)
        finish(connection, world, older)
        delete = beside(lambda: world.delete(older.document_id))
        until(lambda: is_blocked(world))
    (held,) = world.lease(delete.result(20).job_id)
    with world.engine.begin() as connection:
        publish(connection, held, tombstone=True)
        finish(connection, world, held)
    assert version(world, older.document_id) == (2, True)
    world.check()


# -- relays ----------------------------------------------------------------------------------------------------------


def test_a_second_relay_passes_by_what_the_first_is_claiming(world: World) -> None:
    first, second = world.upload("one"), world.upload("two")
    with world.engine.begin() as claiming:
        claimed = outbox.claim(claiming, world.settings)
        assert {job for d in claimed.deliveries for job in d.jobs} == {first.job_id, second.job_id}
        late = world.upload("three")
        with world.engine.begin() as other:
            other.execute(text("SET LOCAL lock_timeout = '2s'"))
            assert [d.jobs for d in outbox.claim(other, world.settings).deliveries] == [(late.job_id,)]
    assert world.row("SELECT max(sends) AS n FROM jobs")["n"] == 1


# -- uploads ---------------------------------------------------------------------------------------------------------


def test_two_uploads_of_one_key_become_two_versions_of_one_document(world: World) -> None:
    barrier = Barrier(2)

    def run(content: str) -> Any:
        barrier.wait()
        return world.upload(content, key="a")

    one, two = beside(lambda: run("one")), beside(lambda: run("two"))
    answers = [one.result(20), two.result(20)]
    assert {answer.input_version for answer in answers} == {1, 2}
    assert len({answer.document_id for answer in answers}) == 1
    assert sorted(row["state"] for row in world.rows("SELECT state FROM jobs")) == ["queued", "superseded"]
    world.check()


def test_bulk_transactions_in_opposite_order_meet_without_a_deadlock(world: World) -> None:
    for n in range(20):
        world.upload(str(n), key=f"k{n}")
    sha256 = world.row("SELECT sha256 FROM contents LIMIT 1")["sha256"]
    barrier = Barrier(2)

    def run(order: list[int], title: str) -> list[Any]:
        submissions = [Submission(key=f"k{n}", sha256=sha256, title=title) for n in order]
        barrier.wait()
        with world.engine.begin() as connection:
            return accept(connection, submissions, partitions=16)

    there, back = list(range(40)), list(reversed(range(40)))
    for round_ in range(5):
        one = beside(lambda: run(there, f"a{round_}"))  # noqa: B023 - awaited within the round
        two = beside(lambda: run(back, f"b{round_}"))  # noqa: B023 - the same
        assert len(one.result(30)) == len(two.result(30)) == 40
    world.check()


def test_a_version_accepted_while_the_older_one_ends_is_announced(world: World) -> None:
    """The race that the document's lock exists for: the end must see the newcomer, or the newcomer the end."""
    older = leased(world, "old", key="a")
    with world.engine.begin() as ending:
        finish(ending, world, older)
        newcomer = beside(lambda: world.upload("new", key="a"))
        until(lambda: is_blocked(world))
    assert newcomer.result(20).input_version == 2
    assert [d.jobs for d in world.relay()] == [(newcomer.result().job_id,)]
    world.check()


def test_a_version_accepted_first_is_seen_by_the_end(world: World) -> None:
    older = leased(world, "old", key="a")
    sha256 = world.row("SELECT sha256 FROM contents")["sha256"]
    with world.engine.begin() as accepting:
        newer = accept_one(
            accepting, Submission(document_id=older.document_id, sha256=sha256, title="new"), partitions=16
        )
        end = beside(lambda: world.finish(older, RetryLater("handler_error", "x")))
        until(lambda: is_blocked(world))
    assert end.result(20) is State.SUPERSEDED
    assert [d.jobs for d in world.relay()] == [(newer.job_id,)]
    world.check()


def test_two_versions_in_two_batches_never_meet_the_unique_index(world: World) -> None:
    older = leased(world, "old", key="a")
    newer = world.upload("new", key="a")
    with world.engine.begin() as ending:
        finish(ending, world, older)
        assert world.lease(newer.job_id) == [], "the document is being moved: skipped, not an error"
    assert len(world.lease(newer.job_id)) == 1


def test_one_job_offered_to_two_workers_is_leased_once(world: World) -> None:
    accepted = [world.upload(str(n)).job_id for n in range(30)]
    barrier = Barrier(2)

    def run(worker_id: int) -> list[Lease]:
        barrier.wait()
        return world.lease(*accepted, worker_id=worker_id)

    one, two = beside(lambda: run(1)), beside(lambda: run(2))
    taken = [lease.job_id for lease in one.result(20) + two.result(20)]
    assert len(taken) == len(set(taken))
    world.check()
