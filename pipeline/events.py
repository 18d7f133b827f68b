"""What happened, as named events; who listens decides what becomes of them.

Code says `emit("lease.lost", job_id=…)`; names are `noun.verb`. Each process subscribes its log once
(pipeline.logs). docs/events.md lists every event; a test keeps it complete.
"""

import contextlib
from collections.abc import Callable, Iterator

import structlog

Subscriber = Callable[[str, dict[str, object]], None]
_subscribers: list[Subscriber] = []
_log = structlog.get_logger("fencepost")

QUIET = frozenset({"lease.taken", "attempt.ended", "outbox.relayed", "delivery.empty", "key.refused"})
WARNINGS = frozenset(
    {"lease.lost", "job.reclaimed", "process.lost", "broker.unavailable", "database.unavailable", "outbox.refused",
     "delivery.malformed", "index.unanswered", "index.unavailable", "delivery.resent", "extraction.crashed",
     "extraction.unconfined",
     "notifier.disconnected", "listener.disconnected", "index.drifted", "index.missing", "index.outdated",
     "keys.missing"},
)  # fmt: skip
ERRORS = frozenset(
    {"request.failed", "loop.failed", "attempt.failed", "finish.given_up", "refill.failed", "index.elsewhere"}
)


def emit(name: str, **fields: object) -> None:
    """Tells every subscriber; a subscriber that fails never harms the caller."""
    for subscriber in _subscribers:
        with contextlib.suppress(Exception):
            subscriber(name, fields)


def subscribe(subscriber: Subscriber) -> None:
    """Adds a subscriber for the life of the process."""
    _subscribers.append(subscriber)


def unsubscribe(subscriber: Subscriber) -> None:
    """Takes a subscriber away again."""
    _subscribers.remove(subscriber)


@contextlib.contextmanager
def context(**fields: object) -> Iterator[None]:
    """Binds fields (document, job, generation) to everything logged inside the block."""
    with structlog.contextvars.bound_contextvars(**{name: str(value) for name, value in fields.items()}):
        yield


def log(name: str, fields: dict[str, object]) -> None:
    """The subscriber that writes the log."""
    if name in ERRORS:
        _log.error(name, **fields)
    elif name in WARNINGS:
        _log.warning(name, **fields)
    elif name in QUIET:
        _log.debug(name, **fields)
    else:
        _log.info(name, **fields)
