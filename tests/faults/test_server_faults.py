"""The servers themselves fail under real processes: everything recovers without a hand, and no budget is burnt."""

import redis

from fencepost.local.postgres import LocalPostgres
from fencepost.local.valkey import LocalValkey
from pipeline.broker import client
from tests.faults.test_worker_faults import all_succeeded, ready
from tests.support.stack import Stack
from tests.support.waiting import until
from tests.support.world import World


def upload_many(world: World, n: int, start: int = 0) -> None:
    for number in range(start, start + n):
        world.upload(f"words {number}")


def no_attempt_was_burnt(world: World) -> None:
    assert world.row("SELECT max(attempt) AS n FROM jobs")["n"] == 1
    assert world.rows("SELECT * FROM quarantine") == []
    world.check()


def test_a_broker_that_forgets_everything(world: World, stack: Stack, broker_url: str) -> None:
    upload_many(world, 20)
    stack.start("relay")
    ready(world, "relay")
    until(lambda: world.rows("SELECT 1 FROM outbox") == [], what="the sending")
    with client(broker_url) as broker:
        broker.flushall()
    world.execute("UPDATE jobs SET sent_at = now() - interval '31 s'")
    stack.start("worker")
    stack.start("sweeper")
    until(all_succeeded(world, 20), seconds=60, what="the end of all jobs")
    no_attempt_was_burnt(world)


def test_a_broker_that_restarts_empty_under_load(world: World, stack: Stack, valkey: LocalValkey) -> None:
    for kind in ("relay", "worker", "sweeper"):
        stack.start(kind)
    ready(world, "worker")
    upload_many(world, 20)
    valkey.stop()
    upload_many(world, 20, start=20)
    until(lambda: world.rows("SELECT 1 FROM breakers WHERE name = 'broker'"), what="the breaker")
    assert world.row("SELECT coalesce(max(tries), 0) AS n FROM outbox WHERE claim IS NULL")["n"] == 0
    valkey.start()

    def done() -> bool:
        world.execute("UPDATE jobs SET sent_at = sent_at - interval '31 s' WHERE sent_at < now() - interval '2 s'")
        return all_succeeded(world, 40)()

    until(done, seconds=60, what="the end of all jobs")
    until(lambda: world.rows("SELECT 1 FROM breakers") == [], what="the closing of the breaker")
    no_attempt_was_burnt(world)


def test_a_full_broker(world: World, stack: Stack, broker_url: str) -> None:
    with redis.Redis.from_url(broker_url) as broker:
        broker.config_set("maxmemory", "1")
        stack.start("relay")
        upload_many(world, 10)
        until(lambda: world.rows("SELECT 1 FROM breakers WHERE name = 'broker'"), what="the breaker")
        broker.config_set("maxmemory", str(256 * 1024 * 1024))
    stack.start("worker")
    until(all_succeeded(world, 10), seconds=60, what="the end of all jobs")
    assert world.rows("SELECT 1 FROM outbox WHERE exhausted") == []
    no_attempt_was_burnt(world)


def test_postgresql_restarts_while_everything_runs(world: World, stack: Stack, postgres: LocalPostgres) -> None:
    processes = [stack.start(kind) for kind in ("relay", "worker", "sweeper", "sweeper")]
    for kind in ("relay", "worker", "sweeper"):
        ready(world, kind)
    upload_many(world, 40)
    postgres.restart()
    world.engine.dispose()
    upload_many(world, 10, start=40)
    until(all_succeeded(world, 50), seconds=90, what="the end of all jobs")
    assert all(process.poll() is None for process in processes), "every process waited and went on"
    assert world.rows("SELECT * FROM quarantine") == []
    world.check()
