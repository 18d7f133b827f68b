"""The snapshot of a process that serves the overview: counted once for everybody, and never by the request itself."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass

from sqlalchemy import Engine

from pipeline.clock import Clock, SystemClock
from pipeline.overview import Snapshot, snapshot

FRESH_SECONDS = 5.0
"""Younger than this, a snapshot is not taken anew."""

STALE_SECONDS = 10.0
"""Older than this, a request would rather wait for a new one."""

PATIENCE_SECONDS = 5.0
"""How long it waits; after that it gets the old one, whose `as_of` tells its age."""


@dataclass(frozen=True, slots=True)
class _Taken:
    snapshot: Snapshot
    at: float


class OverviewCache:
    """One flight at a time. While somebody watches, nobody waits: a new one is taken before the old one is stale."""

    def __init__(self, engine: Engine, *, clock: Clock | None = None) -> None:
        self._engine = engine
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="snapshot")
        self._flight: Future[_Taken] | None = None
        self._last: _Taken | None = None

    def get(self) -> Snapshot:
        """The newest snapshot. Raises what the database raises when there has never been one."""
        with self._lock:
            last = self._last
            age = self._clock.monotonic() - last.at if last is not None else float("inf")
            if age > FRESH_SECONDS and self._flight is None:
                self._flight = self._pool.submit(self._take)
            flight = self._flight
        if last is not None and (age <= STALE_SECONDS or flight is None):
            return last.snapshot
        assert flight is not None  # noqa: S101 - there is no snapshot, so one was asked for above
        if last is None:
            return flight.result().snapshot
        try:
            return flight.result(PATIENCE_SECONDS).snapshot
        except FutureTimeoutError:
            return last.snapshot

    def close(self) -> None:
        """Waits for the flight under way and takes no more."""
        self._pool.shutdown()

    def _take(self) -> _Taken:
        taken = None
        try:
            with self._engine.connect() as connection:
                taken = _Taken(snapshot(connection), self._clock.monotonic())
        finally:
            with self._lock:
                self._flight, self._last = None, taken or self._last
        return taken
