"""The broker: Dramatiq on Valkey or Redis, used as a dumb pipe.

A message names jobs, never contents. No middleware, no retries, no delays: PostgreSQL decides what is true, and what
the broker loses is sent again. Two kinds of trouble are told apart: it is away or full (`BrokerUnavailable`), or it
refuses this one message (`MessageRefused`).
"""

from collections.abc import Sequence
from uuid import UUID

import redis
from dramatiq import Message
from dramatiq.brokers.redis import RedisBroker
from redis.backoff import NoBackoff
from redis.retry import Retry

from pipeline.errors import BrokerUnavailable, FencepostError, SettingsError
from pipeline.outbox import Delivery

NAMESPACE = "fencepost"
ACTOR = "deliver"
WAKE = f"{NAMESPACE}:wake"
"""The channel on which the name of a queue is told whenever something was put into it."""

AWAY = (
    redis.ConnectionError,  # authentication and loading too
    redis.TimeoutError,
    redis.ReadOnlyError,
    redis.exceptions.OutOfMemoryError,
    redis.exceptions.NoPermissionError,
    redis.exceptions.ClusterDownError,
    redis.exceptions.MasterDownError,
    redis.exceptions.TryAgainError,
    OSError,
)
"""Errors that are about the broker's state and not about the message."""

UNWELL = ("MISCONF", "BUSY", "OOM", "used memory > 'maxmemory'")
"""What answers of that sort contain which the client has no class for, or that come out of a script."""


class MessageRefused(FencepostError):
    """The broker works, but takes this message under no circumstances."""


def queue_of(partition: int) -> str:
    """The name of a partition's queue."""
    return f"p{partition}"


def client(url: str) -> redis.Redis:
    """A client that gives up soon and never retries by itself: the relay and the sweeper own the retries."""
    return redis.Redis.from_url(
        url,
        socket_connect_timeout=2,
        socket_timeout=5,
        health_check_interval=30,
        retry=Retry(NoBackoff(), 0),
        client_name=NAMESPACE,
    )


def check(connection: redis.Redis) -> None:
    """Raises SettingsError if the broker may drop messages, BrokerUnavailable if it cannot be asked."""
    try:
        policy = connection.info("memory").get("maxmemory_policy", "noeviction")
    except AWAY as error:
        raise BrokerUnavailable(f"The broker cannot be reached: {error}") from None
    if policy != "noeviction":
        raise SettingsError(
            f"FENCEPOST_BROKER_URL: the broker's maxmemory-policy is {policy}, which drops messages silently; "
            "it must be noeviction."
        )


class Postman:
    """Puts deliveries into their queues and wakes whoever consumes them."""

    def __init__(self, url: str) -> None:
        self._client = client(url)
        self._broker = RedisBroker(client=self._client, middleware=[], namespace=NAMESPACE, maintenance_chance=0)

    def send(self, delivery: Delivery) -> None:
        """Sends one delivery; raises BrokerUnavailable or MessageRefused."""
        message: Message[None] = Message(
            queue_name=queue_of(delivery.partition),
            actor_name=ACTOR,
            args=(),
            kwargs={"delivery_id": str(delivery.delivery_id), "jobs": [str(job) for job in delivery.jobs]},
            options={},
        )
        try:
            self._broker.enqueue(message)
            self._client.publish(WAKE, message.queue_name)
        except AWAY as error:
            raise BrokerUnavailable(str(error) or type(error).__name__) from None
        except redis.ResponseError as error:
            if any(word in str(error) for word in UNWELL):
                raise BrokerUnavailable(str(error)) from None
            raise MessageRefused(str(error)) from None

    def ping(self) -> None:
        """Raises BrokerUnavailable if the broker does not answer."""
        try:
            self._client.ping()
        except (*AWAY, redis.ResponseError) as error:
            raise BrokerUnavailable(str(error) or type(error).__name__) from None

    def waiting(self, partitions: Sequence[int]) -> dict[int, int]:
        """How many messages wait in the queue of each partition; raises BrokerUnavailable."""
        try:
            with self._client.pipeline(transaction=False) as pipe:
                for partition in partitions:
                    pipe.llen(f"{NAMESPACE}:{queue_of(partition)}")
                return dict(zip(partitions, pipe.execute(), strict=True))
        except (*AWAY, redis.ResponseError) as error:
            raise BrokerUnavailable(str(error) or type(error).__name__) from None

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()


def job_ids(jobs: object) -> list[UUID]:
    """The job ids of a message; raises ValueError on anything that is not a list of UUIDs."""
    if not isinstance(jobs, list) or not all(isinstance(job, str) for job in jobs):
        msg = "a delivery carries a list of job ids"
        raise ValueError(msg)
    return [UUID(job) for job in jobs]
