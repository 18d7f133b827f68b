"""Whatever lies in the broker's queues: a worker drops it, goes on, and keeps none of its threads for it."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
import redis

from pipeline.broker import ACTOR, NAMESPACE
from tests.faults.test_worker_faults import all_succeeded, ready
from tests.support.stack import Stack
from tests.support.waiting import until
from tests.support.world import World

ONE_PARTITION = {"FENCEPOST_PARTITIONS": "1"}
GOOD = {
    "queue_name": "p0", "actor_name": ACTOR, "args": [], "message_timestamp": 1,
    "kwargs": {"delivery_id": "d", "jobs": []},
}  # fmt: skip
FAR_AWAY = 10**15
WRONG: list[dict[str, Any]] = [
    {"actor_name": "somebody_else"},
    {"actor_name": ["not", "a", "name"]},
    {"args": [1, 2, 3]},
    {"kwargs": "not a dictionary"},
    {"kwargs": {}},
    {"kwargs": {"delivery_id": 7, "jobs": 7}},
    {"kwargs": {"delivery_id": "d", "jobs": [None, 1, {}]}},
    {"kwargs": {"delivery_id": "d", "jobs": ["not a number of a job"]}},
    {"kwargs": {"delivery_id": "d", "jobs": ["00000000-0000-0000-0000-000000000000"]}},
    {"kwargs": {"delivery_id": "d", "jobs": [], "more": "than we know"}},
    {"options": {"eta": FAR_AWAY}},
    {"options": {"eta": "soon"}},
    {"options": {"pipe_target": {}}},
    {"options": 5},
    {"message_id": ["no", "name"]},
]


def nonsense() -> Iterator[bytes | None]:
    """Several of each sort, more than a worker has threads; None is a name without a message behind it."""
    chance = random.Random(20)  # noqa: S311 - the same in every run
    for _ in range(4):
        yield from (json.dumps(message).encode() for message in (5, None, [], {}, {"actor_name": ACTOR}, "deliver"))
        yield from (chance.randbytes(chance.randrange(200)) for _ in range(5))
        yield b"[" * 100_000
        yield None
        yield from (json.dumps(named(fields)).encode() for fields in WRONG)


def named(fields: dict[str, Any]) -> dict[str, Any]:
    message = {"message_id": "m", "options": {"redis_message_id": str(random.random())}} | GOOD | fields  # noqa: S311
    if isinstance(message["options"], dict):
        message["options"].setdefault("redis_message_id", str(random.random()))  # noqa: S311
    return message


def put(broker: redis.Redis, data: bytes | None) -> None:
    """Puts a message where the worker's next fetch finds it, under the name that it gives itself, if any."""
    try:
        name = json.loads(data or b"")["options"]["redis_message_id"]
    except (ValueError, TypeError, KeyError, RecursionError):
        name = str(random.random())  # noqa: S311 - any name
    if data is not None:
        broker.hset(f"{NAMESPACE}:p0.msgs", name, data)
    broker.rpush(f"{NAMESPACE}:p0", name)


@pytest.fixture
def one_partition(world: World) -> World:
    world.settings = world.settings.model_copy(update={"partitions": 1})
    return world


def test_no_message_stops_a_worker(one_partition: World, stack: Stack, broker_url: str) -> None:
    world = one_partition
    with redis.Redis.from_url(broker_url) as broker:
        for data in nonsense():
            put(broker, data)
        worker = stack.start("worker", **ONE_PARTITION)
        ready(world, "worker")
        stack.start("relay", **ONE_PARTITION)
        for n in range(8):
            world.upload(f"words {n}")
        until(all_succeeded(world, 8), seconds=15, what="the end of the good ones")
        assert worker.poll() is None
        until(lambda: broker.llen(f"{NAMESPACE}:p0") == 0, what="an empty queue")
        assert "Restarting consumer" not in stack.logs()
        assert not list(broker.scan_iter(f"{NAMESPACE}:*.DQ*")), "nothing waits in the broker"
    assert world.row("SELECT sum(attempt) AS n FROM jobs")["n"] == 8
    world.check()
