"""A Dramatiq consumer that is woken instead of polling, and that fetches only what a thread is free to do.

Stock consumers sleep with growing pauses after a miss, and each of 16 queues hoards a message while the process is
busy. Here a process has as many permits as threads over all of its queues: a permit is taken before a fetch and given
back with the acknowledgement. Whoever sends also tells `WAKE`; one thread per process sets the queue's event, and
polling every few seconds is the guarantee.
"""

import threading
from collections import defaultdict
from contextlib import suppress
from typing import Any

import redis
from dramatiq import Message
from dramatiq.broker import MessageProxy
from dramatiq.brokers.redis import RedisBroker, _RedisConsumer
from dramatiq.errors import ConnectionClosed, DecodeError

from pipeline import events
from pipeline.broker import ACTOR, AWAY, NAMESPACE, WAKE, client, queue_of

POLL_SECONDS = 5.0
RECONNECT_SECONDS = 1.0


class WakingBroker(RedisBroker):
    """A Redis broker whose consumers wait for `WAKE`; `permits` is the number of messages in work at once."""

    def __init__(self, url: str, *, permits: int, partitions: list[int]) -> None:
        super().__init__(client=client(url), middleware=[], namespace=NAMESPACE)  # type: ignore[no-untyped-call] # Dramatiq
        self.permits = threading.Semaphore(permits)
        self.stopping = threading.Event()
        self._url = url
        self._events: defaultdict[str, threading.Event] = defaultdict(threading.Event)
        self.wanted_queues = [queue_of(partition) for partition in partitions]

    @property
    def consumer_class(self) -> type["WakingConsumer"]:
        """What Dramatiq's consumer threads run."""
        return WakingConsumer

    def declare_queue(self, queue_name: str) -> None:
        """Declares a queue without its delay queue: all waiting is done in PostgreSQL."""
        if queue_name not in self.queues:
            self.emit_before("declare_queue", queue_name)
            self.queues.add(queue_name)
            self.emit_after("declare_queue", queue_name)

    def event(self, queue_name: str) -> threading.Event:
        """Set whenever something may be waiting in the queue."""
        return self._events[queue_name]

    def listen(self) -> None:
        """Starts the thread that turns wake-ups into events."""
        threading.Thread(target=self._listen, name="waker", daemon=True).start()

    def wake_all(self) -> None:
        """Makes every consumer look at its queue now."""
        for queue_name in self.wanted_queues:
            self._events[queue_name].set()

    def _listen(self) -> None:
        while not self.stopping.is_set():
            try:
                with client(self._url).pubsub(ignore_subscribe_messages=True) as pubsub:
                    pubsub.subscribe(WAKE)
                    self.wake_all()  # what was told while nobody listened
                    while not self.stopping.is_set():
                        message = pubsub.get_message(timeout=1.0)
                        if message is not None:
                            self._events[message["data"].decode()].set()
            except (*AWAY, redis.ResponseError):
                self.stopping.wait(RECONNECT_SECONDS)


class WakingConsumer(_RedisConsumer):
    """Fetches one message when a permit is free; an empty queue waits for its event."""

    broker: WakingBroker

    def __next__(self) -> MessageProxy | None:
        """The next message, or None so that the consumer thread can look whether it shall stop."""
        woken = self.broker.event(self.queue_name)
        if not self.broker.stopping.is_set() and self.broker.permits.acquire(timeout=0.2):
            message = None
            try:
                woken.clear()  # before the fetch: a wake-up during it is kept
                message = self._fetch()
            finally:
                if message is None:
                    self.broker.permits.release()
            if message is not None:
                return message
            woken.wait(POLL_SECONDS)
        return None

    def ack(self, message: MessageProxy) -> None:
        """Acknowledges and gives the permit back, once, even if the broker is away."""
        try:
            super().ack(message)  # type: ignore[no-untyped-call] # Dramatiq
        except redis.RedisError as error:
            raise ConnectionClosed(error) from None
        finally:
            self._give_back(message)

    def nack(self, message: MessageProxy) -> None:
        """Drops a message that no actor can take, as acknowledging does: the job's row knows what is to be done."""
        self.ack(message)

    def requeue(self, messages: Any) -> None:  # noqa: ANN401 - an iterable of messages
        """Puts fetched messages back at shutdown."""
        try:
            super().requeue(messages)  # type: ignore[no-untyped-call] # Dramatiq
        except redis.RedisError as error:
            raise ConnectionClosed(error) from None

    def _fetch(self) -> MessageProxy | None:
        """The next message of ours. What else lies in the queue is dropped at once: it could keep a permit for ever."""
        while True:
            try:
                found = self.broker.do_fetch(self.queue_name, 1)
            except redis.RedisError as error:
                raise ConnectionClosed(error) from None
            if not found:
                return None
            message = _decoded(found[0])
            if message is not None and _is_ours(message):
                self.queued_message_ids.add(message.message_id)
                return MessageProxy(message)
            self._drop(message)

    def _drop(self, message: Message[None] | None) -> None:
        """Forgets a message that is not ours; one that nobody can read stays fetched, and so out of the queue."""
        events.emit("delivery.malformed", error=f"a message in {self.queue_name} is not one of ours")
        options = message.options if message is not None else None
        if isinstance(options, dict) and isinstance(redis_id := options.get("redis_message_id"), str):
            with suppress(redis.RedisError):
                self.broker.do_ack(self.queue_name, redis_id)

    def _give_back(self, message: MessageProxy) -> None:
        if not message.options.get("permit_returned"):
            message.options["permit_returned"] = True
            self.broker.permits.release()


def _decoded(data: bytes | None) -> Message[None] | None:
    """The message, None if nobody can read it."""
    try:
        return Message.decode(data) if data is not None else None
    except (DecodeError, RecursionError):
        return None


def _is_ours(message: Message[None]) -> bool:
    """Whether the actor can be called with it, now, and the broker can be told that it was."""
    return (
        message.actor_name == ACTOR
        and not message.args
        and isinstance(message.kwargs, dict)
        and isinstance(message.message_id, str)
        and isinstance(message.options, dict)
        and message.options.keys() == {"redis_message_id"}
        and isinstance(message.options["redis_message_id"], str)
    )
