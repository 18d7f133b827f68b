"""The sweeper on real PostgreSQL and a real Valkey: rows are aged, never slept for."""

from collections.abc import Iterator, Sequence
from uuid import UUID

import pytest
from pydantic import SecretStr
from sqlalchemy import Connection

from pipeline.broker import Postman, client
from pipeline.holding import Holding
from pipeline.outcomes import Published, RetryLater
from pipeline.processes import Presence
from pipeline.purging import Purger
from pipeline.relay import Relay
from pipeline.settings import Settings
from pipeline.states import State
from pipeline.sweeper import Sweeper
from tests.support.servers import Database
from tests.support.waiting import until
from tests.support.world import World


class NoIndex:
    """No backend takes part in these tests; it has what it is told to have, and counts what it is asked."""

    in_transaction = True

    def __init__(self) -> None:
        self.purged: list[tuple[UUID, int]] = []
        self.versions: dict[UUID, int] = {}

    def version_of(self, _connection: Connection, document_ids: Sequence[UUID]) -> dict[UUID, int]:
        return {document_id: self.versions[document_id] for document_id in document_ids if document_id in self.versions}

    def purge_tombstone(self, _connection: Connection, document_id: UUID, version: int) -> bool:
        self.purged.append((document_id, version))
        return True

    def maintain(self, connection: Connection) -> None:
        """Nothing to do."""

    def probe(self, targets: Sequence[str]) -> None:
        """Nothing to try."""


@pytest.fixture
def world(database: Database) -> World:
    return World(database.engine, Settings(database_url=SecretStr(database.url), partitions=1))


@pytest.fixture
def sweeper(world: World, broker_url: str) -> Sweeper:
    return Sweeper(world.engine, Postman(broker_url), NoIndex(), world.settings)


@pytest.fixture
def presence(world: World) -> Iterator[Presence]:
    process = Presence(world.settings, kind="worker", partitions=[0], slots=3, holding=Holding(attempt_seconds=600))
    process.start()
    yield process
    process.stop()


def lose_the_lock(world: World, presence: Presence) -> None:
    """Ends the connection that holds the session lock, as the death of its process does; beats stay away."""
    presence._loop.stop()
    assert presence._connection is not None
    presence._connection.close()
    until(lambda: not world.rows("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2"))


def test_an_expired_lease_is_reclaimed_and_counts(world: World, sweeper: Sweeper) -> None:
    accepted = world.upload()
    world.relay()
    (held,) = world.lease(accepted.job_id)
    assert sweeper.reclaim() == []
    world.execute("UPDATE jobs SET lease_until = now() - interval '1 s'")
    assert sweeper.reclaim() == [accepted.job_id]
    job = world.job(accepted.job_id)
    assert (job["state"], job["attempt"], job["generation"], job["alone"]) == ("queued", 1, 1, True)
    attempt = world.row("SELECT outcome, code FROM attempts")
    assert (attempt["outcome"], attempt["code"]) == ("lease_lost", "lease_expired")
    assert world.finish(held, Published()) is None, "the late worker ends nothing"
    world.check()


def test_a_lease_that_outlived_the_deadline_says_so(world: World, sweeper: Sweeper) -> None:
    accepted = world.upload()
    world.lease(accepted.job_id)
    world.execute("UPDATE jobs SET lease_until = now() - interval '1 s'")
    world.execute("UPDATE attempts SET started_at = now() - interval '11 min'")
    sweeper.reclaim()
    assert world.row("SELECT code FROM attempts")["code"] == "deadline"


def test_a_spent_budget_is_quarantined_with_its_cause(world: World, sweeper: Sweeper) -> None:
    accepted = world.upload()
    world.execute("UPDATE jobs SET attempt = 7")
    world.lease(accepted.job_id)
    world.execute("UPDATE jobs SET lease_until = now() - interval '1 s'")
    sweeper.reclaim()
    assert world.row("SELECT code FROM quarantine")["code"] == "lease_expired"
    world.check()


def test_before_a_spent_budget_quarantines_a_job_the_index_is_asked(world: World, broker_url: str) -> None:
    index = NoIndex()
    sweeper = Sweeper(world.engine, Postman(broker_url), index, world.settings)
    accepted = world.upload()
    world.execute("UPDATE jobs SET attempt = 7")
    world.lease(accepted.job_id)
    index.versions[accepted.document_id] = 1
    world.execute("UPDATE jobs SET lease_until = now() - interval '1 s'")
    sweeper.reclaim()
    assert world.job(accepted.job_id)["state"] == "succeeded", "its publish had gone through"
    world.check()


def test_elapsed_time_is_a_budget_of_its_own(world: World, sweeper: Sweeper) -> None:
    accepted = world.upload()
    world.execute("UPDATE jobs SET elapsed_spent = interval '6 h'")
    world.lease(accepted.job_id)
    world.execute("UPDATE jobs SET lease_until = now() - interval '1 s'")
    sweeper.reclaim()
    assert world.job(accepted.job_id)["state"] == "quarantined"


def test_waiting_in_the_queue_spends_no_budget(world: World) -> None:
    accepted = world.upload()
    world.execute("UPDATE jobs SET accepted_at = now() - interval '30 days', due_at = now() - interval '30 days'")
    (held,) = world.lease(accepted.job_id)
    assert world.finish(held, RetryLater("handler_error", "x")) is State.RETRY_WAIT


def test_a_dead_process_is_noticed_and_its_work_taken_back(world: World, sweeper: Sweeper, presence: Presence) -> None:
    accepted = world.upload()
    world.lease(accepted.job_id, worker_id=presence.process_id)
    assert sweeper.mark_lost() == []
    lose_the_lock(world, presence)
    assert sweeper.mark_lost() == [presence.process_id]
    assert sweeper.reclaim() == [accepted.job_id]
    assert world.row("SELECT code FROM attempts")["code"] == "worker_lost"


def with_lease(settings: Settings, seconds: float) -> Settings:
    """Settings whose lease decides how long missing locks mean nothing."""
    lease = settings.lease.model_copy(update={"seconds": seconds, "beat_seconds": seconds / 3})
    return settings.model_copy(update={"lease": lease})


def test_right_after_a_restart_of_postgresql_missing_locks_mean_nothing(
    world: World, sweeper: Sweeper, presence: Presence
) -> None:
    lose_the_lock(world, presence)
    world.execute("UPDATE processes SET locked_at = pg_postmaster_start_time() - interval '1 s'")
    young = Sweeper(world.engine, sweeper._postman, NoIndex(), with_lease(world.settings, 1_000_000))
    assert young.mark_lost() == [], "it has not had the time to take its lock again"
    old = Sweeper(world.engine, sweeper._postman, NoIndex(), with_lease(world.settings, 0.03))
    assert old.mark_lost() == [presence.process_id], "it has had the time"


def test_a_process_that_beats_again_gets_the_attempt_refunded(world: World, sweeper: Sweeper) -> None:
    process = Presence(world.settings, kind="worker", partitions=[0], holding=Holding(attempt_seconds=600))
    process.start()
    accepted = world.upload()
    world.lease(accepted.job_id, worker_id=process.process_id)
    process._loop.stop()
    process._drop()
    until(lambda: not world.rows("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2"))
    assert sweeper.mark_lost() == [process.process_id]
    sweeper.reclaim()
    assert world.job(accepted.job_id)["attempt"] == 1
    process._beat()
    assert world.job(accepted.job_id)["attempt"] == 0
    assert world.row("SELECT lost_at FROM processes")["lost_at"] is None
    process.stop()


def test_the_heartbeat_renews_only_what_is_held_and_within_its_deadline(world: World, presence: Presence) -> None:
    first, second = world.upload("a"), world.upload("b")
    one, two = world.lease(first.job_id, second.job_id, worker_id=presence.process_id)
    holding = presence._holding
    assert holding is not None
    holding.add([one], asked_at=holding.now(), seconds=30)
    holding.add([two], asked_at=holding.now() - 601, seconds=30)
    before = {row["job_id"]: row["lease_until"] for row in world.rows("SELECT job_id, lease_until FROM jobs")}
    presence._beat()
    after = {row["job_id"]: row["lease_until"] for row in world.rows("SELECT job_id, lease_until FROM jobs")}
    assert after[one.job_id] > before[one.job_id]
    assert after[two.job_id] == before[two.job_id]


def test_a_flushed_broker_gets_everything_again(world: World, sweeper: Sweeper, broker_url: str) -> None:
    accepted = [world.upload(str(n)).job_id for n in range(3)]
    carrier = Relay(world.engine, Postman(broker_url), world.settings)
    carrier.run_once()
    assert sweeper.send_again() == 0, "not overdue"
    world.execute("UPDATE jobs SET sent_at = now() - interval '31 s'")
    assert sweeper.send_again() == 0, "overdue, but still in the broker's queue"
    with client(broker_url) as connection:
        connection.flushall()
    assert sweeper.send_again() == 3
    assert world.row("SELECT count(*) AS n FROM jobs WHERE sent_at IS NULL")["n"] == 3, "out of the window"
    (delivery,) = world.relay()
    assert set(delivery.jobs) == set(accepted)
    world.execute("UPDATE jobs SET sent_at = now() - interval '31 s'")
    assert sweeper.send_again() == 0, "the second time waits twice as long"
    world.execute("UPDATE jobs SET sent_at = now() - interval '61 s'")
    assert sweeper.send_again() == 3
    world.check()


def test_old_jobs_are_purged_into_the_tally_and_their_contents_with_them(world: World) -> None:
    first = world.upload("one", key="a")
    world.finish(*world.lease(first.job_id))
    second = world.upload("two", key="a")
    world.finish(*world.lease(second.job_id))
    world.execute("UPDATE jobs SET finished_at = now() - interval '8 days'")
    Purger(world.engine, NoIndex(), world.settings).run_once()
    assert world.rows("SELECT * FROM jobs") == []
    assert [row["input_version"] for row in world.rows("SELECT input_version FROM versions")] == [2]
    assert world.row("SELECT count(*) AS n FROM contents")["n"] == 1
    assert world.row("SELECT count FROM tallies WHERE name = 'purged_succeeded'")["count"] == 2
    world.check()
    again = world.upload("two", key="a")
    assert (again.unchanged, again.state, again.job_id) == (True, "succeeded", None)


def test_a_tombstone_outlives_its_retention_while_an_older_worker_lives(world: World) -> None:
    index = NoIndex()
    purger = Purger(world.engine, index, world.settings)
    accepted = world.upload("one", key="a")
    world.finish(*world.lease(accepted.job_id))
    gone = world.delete(accepted.document_id)
    world.execute("INSERT INTO processes (kind, host, pid, started_at) VALUES ('worker', 'h', 1, now())")
    world.finish(*world.lease(gone.job_id))
    purger.run_once()
    assert world.rows("SELECT * FROM documents"), "within the retention"
    world.execute("UPDATE documents SET published_at = now() - interval '31 days'")
    world.execute("UPDATE processes SET started_at = now() - interval '40 days'")
    purger.run_once()
    assert index.purged == [], "a worker from before the delete may still hold an older version"
    world.execute("UPDATE processes SET ended_at = now()")
    index.versions[accepted.document_id] = 3
    purger.run_once()
    assert world.rows("SELECT * FROM documents"), "the index has something newer"
    assert purger.documents(30) == 0, "what is kept must not make the purge go on for ever"
    index.versions.clear()
    index.purged.clear()
    purger.run_once()
    assert index.purged == [(accepted.document_id, 2)]
    assert world.rows("SELECT * FROM documents") == world.rows("SELECT * FROM contents") == []
    world.check()
