"""What the broker is asked for: little while nothing happens, and only if it keeps what it is given."""

import time

import pytest
import redis

from tests.faults.test_worker_faults import ready
from tests.support.servers import Database
from tests.support.stack import Stack, running
from tests.support.waiting import until
from tests.support.world import World

MOST_A_SECOND = 6
"""Requests of a relay, a sweeper and a worker of 16 partitions together: the worker looks at each queue every 5 s."""
INSIDE = {"zadd", "lpop", "info"}
"""What the worker's script does for each look, and our own question."""


@pytest.fixture
def stack(database: Database, broker_url: str, tmp_path):  # noqa: ANN001 - pytest's
    with running(database.url, broker_url, tmp_path) as stack:
        yield stack


def test_an_idle_system_asks_little(database: Database, stack: Stack, broker_url: str) -> None:
    world = World(database.engine)
    for kind in ("relay", "worker", "sweeper"):
        stack.start(kind)
        ready(world, kind)
    with redis.Redis.from_url(broker_url) as broker:
        rate = until(lambda: calm_rate(broker), seconds=45, what="a calm system")
    assert rate > 1, "else nothing was counted"


def calm_rate(broker: redis.Redis, seconds: float = 5.5) -> float:
    """How many requests come a second, measured over so many seconds; 0 when there are too many."""
    before, started = requests(broker), time.monotonic()
    until(lambda: time.monotonic() >= started + seconds, seconds=seconds + 5)
    rate = (requests(broker) - before) / (time.monotonic() - started)
    return rate if rate <= MOST_A_SECOND else 0


def requests(broker: redis.Redis) -> int:
    stats = broker.info("commandstats")
    return sum(int(each["calls"]) for name, each in stats.items() if name.removeprefix("cmdstat_") not in INSIDE)


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
def test_a_worker_refuses_a_broker_that_drops_messages(stack: Stack, broker_url: str, policy: str) -> None:
    with redis.Redis.from_url(broker_url) as broker:
        broker.config_set("maxmemory-policy", policy)
        try:
            assert stack.start("worker").wait(30) == 2
        finally:
            broker.config_set("maxmemory-policy", "noeviction")
    assert policy in stack.logs()
    assert "noeviction" in stack.logs()
