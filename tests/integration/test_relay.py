"""The relay against a real Valkey: outages, refusals, the window, turns."""

from collections import Counter
from threading import Barrier, Thread
from typing import TYPE_CHECKING

import pytest
import redis
from sqlalchemy import text

from pipeline import outbox
from pipeline.broker import NAMESPACE, Postman, client, job_ids, queue_of
from pipeline.relay import Relay
from pipeline.settings import Relay as RelaySettings
from pipeline.settings import Settings
from tests.support.servers import Database
from tests.support.world import World

if TYPE_CHECKING:
    from uuid import UUID

ONE_PARTITION = Settings(partitions=1)


@pytest.fixture
def world(database: Database) -> World:
    return World(database.engine, ONE_PARTITION)


def relay(world: World, url: str) -> Relay:
    return Relay(world.engine, Postman(url), world.settings)


def queued(url: str, partition: int = 0) -> int:
    with client(url) as connection:
        return int(connection.llen(f"{NAMESPACE}:{queue_of(partition)}"))


def test_what_is_due_travels_in_one_message_and_is_forgotten(world: World, broker_url: str) -> None:
    accepted = [world.upload(str(n)) for n in range(3)]
    relay(world, broker_url).run_once()
    assert queued(broker_url) == 1
    assert world.rows("SELECT * FROM outbox") == []
    assert {row["job_id"] for row in world.rows("SELECT job_id FROM jobs WHERE sent_at IS NOT NULL")} == {
        a.job_id for a in accepted
    }


def test_the_window_bounds_what_is_under_way(world: World, broker_url: str) -> None:
    world.settings = Settings(partitions=1, relay=RelaySettings(window_jobs=5, batch_jobs=2))
    for n in range(12):
        world.upload(str(n))
    carrier = relay(world, broker_url)
    for _ in range(3):
        carrier.run_once()
    assert world.row("SELECT count(*) AS n FROM jobs WHERE sent_at IS NOT NULL")["n"] == 5
    assert queued(broker_url) == 3, "5 jobs in messages of at most 2"


def test_a_suspect_job_travels_alone(world: World) -> None:
    accepted = [world.upload(str(n)) for n in range(3)]
    world.execute("UPDATE jobs SET alone = true WHERE job_id = :id", id=accepted[1].job_id)
    deliveries = world.relay()
    assert sorted(len(delivery.jobs) for delivery in deliveries) == [1, 2]
    assert (accepted[1].job_id,) in [delivery.jobs for delivery in deliveries]


def test_collections_take_turns(world: World) -> None:
    world.settings = Settings(partitions=1, relay=RelaySettings(window_jobs=6))
    for n in range(20):
        world.upload(f"a{n}", collection="flood")
    small = [world.upload(f"b{n}", collection="small").job_id for n in range(2)]
    sent = [job for delivery in world.relay() for job in delivery.jobs]
    assert set(small) <= set(sent)


def test_deletes_overtake_uploads_and_uploads_overtake_campaigns(world: World) -> None:
    old = world.upload("old", key="old")
    world.relay()
    world.finish(*world.lease(old.job_id))
    campaign = world.upload("c", priority=2)
    live = world.upload("l")
    delete = world.delete(old.document_id)
    assert [job for d in world.relay() for job in d.jobs] == [delete.job_id, live.job_id, campaign.job_id]


def test_a_row_that_commits_late_is_not_skipped(world: World) -> None:
    """A position "after the last id" would lose the row whose transaction commits after a younger one."""
    with world.engine.connect() as slow:
        slow.execute(text("INSERT INTO collections (name) VALUES ('late')"))
        transaction = slow.get_transaction()
        assert transaction is not None
        from pipeline.acceptance import Submission, accept_one  # noqa: PLC0415 - beside its one use

        slow.execute(text("INSERT INTO contents (sha256, size) VALUES (:sha256, 1)"), {"sha256": bytes(32)})
        late = accept_one(slow, Submission(sha256=bytes(32), size=1), partitions=1)
        early = world.upload("early")
        assert [d.jobs for d in world.relay()] == [(early.job_id,)]
        transaction.commit()
    assert [d.jobs for d in world.relay()] == [(late.job_id,)]


def test_an_outage_spends_no_budget_and_ends_by_itself(world: World, broker_url: str) -> None:
    world.upload()
    gone = "redis://127.0.0.1:1/0"
    carrier = relay(world, gone)
    for _ in range(15):
        assert carrier.run_once() > 0, "it pauses"
    row = world.row("SELECT tries, exhausted, last_error FROM outbox")
    assert (row["tries"], row["exhausted"]) == (0, False)
    assert "refused" in row["last_error"].lower()
    assert world.row("SELECT sent_at FROM jobs")["sent_at"] is None
    assert world.row("SELECT name FROM breakers")["name"] == "broker"
    relay(world, broker_url).run_once()
    assert queued(broker_url) == 1
    assert world.rows("SELECT * FROM breakers") == []


def test_a_full_broker_is_an_outage_and_still_takes_acknowledgements(world: World, broker_url: str) -> None:
    world.upload()
    carrier = relay(world, broker_url)
    with client(broker_url) as connection:
        connection.config_set("maxmemory", "1")
        with pytest.raises(redis.exceptions.OutOfMemoryError):
            connection.set("x", "y")
        carrier.run_once()
        assert world.row("SELECT tries FROM outbox")["tries"] == 0
        connection.config_set("maxmemory", str(256 * 1024 * 1024))
    carrier.run_once()
    assert queued(broker_url) == 1


def test_a_refused_row_stays_for_a_person_while_others_flow(database: Database, broker_url: str) -> None:
    world = World(database.engine, Settings(partitions=2))
    by_partition: dict[int, UUID] = {}
    while len(by_partition) < 2:
        accepted = world.upload(str(len(by_partition)))
        assert accepted.job_id is not None
        by_partition[world.job(accepted.job_id)["partition"]] = accepted.job_id
    world.execute("DELETE FROM jobs WHERE NOT job_id = ANY(:kept)", kept=list(by_partition.values()))
    with client(broker_url) as connection:
        connection.set(f"{NAMESPACE}:{queue_of(0)}", "not a list: every message for this queue is refused")
        carrier = relay(world, broker_url)
        for _ in range(10):
            world.execute("UPDATE outbox SET due_at = now()")
            carrier.run_once()
        row = world.row("SELECT * FROM outbox")
        assert (row["job_id"], row["tries"], row["exhausted"]) == (by_partition[0], 10, True)
        assert "WRONGTYPE" in row["last_error"]
        assert queued(broker_url, 1) == 1, "the other partition flows"
        assert world.job(by_partition[0])["attempt"] == 0
        connection.delete(f"{NAMESPACE}:{queue_of(0)}")
    carrier.run_once()
    assert queued(broker_url, 0) == 0, "it waits for a person"
    with world.engine.begin() as begun:
        assert outbox.release(begun, None) == 1
    carrier.run_once()
    assert queued(broker_url, 0) == 1
    assert world.job(by_partition[0])["attempt"] == 0


def test_jobs_of_partitions_that_are_no_longer_there_move(database: Database) -> None:
    wide, narrow = World(database.engine, Settings(partitions=64)), World(database.engine, Settings(partitions=2))
    for n in range(20):
        wide.upload(str(n))
    assert wide.row("SELECT max(partition) AS n FROM outbox")["n"] > 2
    deliveries = narrow.relay()
    assert sum(len(delivery.jobs) for delivery in deliveries) == 20
    assert {delivery.partition for delivery in deliveries} == {0, 1}
    assert {row["partition"] for row in narrow.rows("SELECT partition FROM jobs")} == {0, 1}


def test_a_claim_lapses_and_counts(world: World) -> None:
    world.upload()
    with world.engine.begin() as connection:
        outbox.claim(connection, world.settings)
    assert world.relay() == (), "claimed by somebody"
    world.execute("UPDATE outbox SET claimed_until = now() - interval '1 s'")
    world.execute("UPDATE jobs SET sent_at = NULL")
    (delivery,) = world.relay()
    assert len(delivery.jobs) == 1
    assert world.rows("SELECT * FROM outbox") == []


def test_two_relays_send_each_row_once(world: World, broker_url: str) -> None:
    world.settings = Settings(partitions=1, relay=RelaySettings(batch_jobs=5))
    accepted = [world.upload(str(n)).job_id for n in range(40)]
    barrier = Barrier(2)

    def run() -> None:
        carrier = relay(world, broker_url)
        barrier.wait()
        while carrier.run_once() == 0:
            pass

    threads = [Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with client(broker_url) as connection:
        messages = connection.hvals(f"{NAMESPACE}:{queue_of(0)}.msgs")
    import orjson  # noqa: PLC0415 - beside its one use

    sent = Counter(job for message in messages for job in job_ids(orjson.loads(message)["kwargs"]["jobs"]))
    assert sent == Counter(accepted)
