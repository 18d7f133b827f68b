"""What the broker is asked for: little while nothing happens, and only if it keeps what it is given."""

import time

import pytest
import redis

from tests.faults.test_worker_faults import ready
from tests.support.servers import Database
from tests.support.stack import Stack, running
from tests.support.waiting import until
from tests.support.world import World

MOST_COMMANDS_A_SECOND = 15
"""Of a relay, a sweeper and a worker of 16 partitions together."""


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
        until(lambda: broker.pubsub_numsub("fencepost:wake")[0][1] == 1, what="the worker's ear")
        until(lambda: commands_within(broker, 2.0) < 10 * MOST_COMMANDS_A_SECOND, what="the end of the start")
        rate = commands_within(broker, 6.0) / 6
    assert 0.1 < rate <= MOST_COMMANDS_A_SECOND, f"{rate:.1f} commands a second"


def commands_within(broker: redis.Redis, seconds: float) -> int:
    """How many commands others give within so many seconds."""
    before, end = broker.info("stats")["total_commands_processed"], time.monotonic() + seconds
    until(lambda: time.monotonic() >= end, seconds=seconds + 5)
    return int(broker.info("stats")["total_commands_processed"]) - int(before) - 1


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
