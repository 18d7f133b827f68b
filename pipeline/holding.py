"""The leases that this process holds, as it may believe by its own monotonic clock."""

import threading
from collections.abc import Iterable
from uuid import UUID

from pipeline.clock import Clock, SystemClock
from pipeline.leases import Lease


class Holding:
    """Thread-safe: actors add and drop leases, the heartbeat renews them.

    `attempt_seconds` is the deadline of one attempt: a lease past it is not renewed, so that it runs out.
    """

    def __init__(self, *, attempt_seconds: float, clock: Clock | None = None) -> None:
        self._attempt_seconds = attempt_seconds
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._held: dict[tuple[UUID, int], _Hold] = {}
        self._sure_until = float("inf")

    def now(self) -> float:
        """Monotonic seconds."""
        return self._clock.monotonic()

    def add(self, leases: Iterable[Lease], *, asked_at: float, seconds: float) -> None:
        """Takes leases that were asked for at monotonic time `asked_at` for `seconds`."""
        with self._lock:
            for lease in leases:
                self._held[lease.job_id, lease.generation] = _Hold(
                    until=asked_at + seconds, deadline=asked_at + self._attempt_seconds
                )

    def drop(self, leases: Iterable[Lease]) -> None:
        """Forgets leases, because their attempts have ended or were given up."""
        with self._lock:
            for lease in leases:
                self._held.pop((lease.job_id, lease.generation), None)

    def renewable(self) -> list[tuple[UUID, int]]:
        """(job_id, generation) of each lease whose attempt is within its deadline."""
        with self._lock:
            now = self.now()
            return [name for name, hold in self._held.items() if now < hold.deadline]

    def all(self) -> list[tuple[UUID, int]]:
        """(job_id, generation) of every lease held."""
        with self._lock:
            return list(self._held)

    def renewed(self, jobs: set[UUID], *, until: float) -> None:
        """Notes a successful beat: these are held until the monotonic time `until`."""
        with self._lock:
            self._sure_until = until
            for (job_id, _), hold in self._held.items():
                if job_id in jobs:
                    hold.until = until

    def still(self, lease: Lease) -> bool:
        """Whether the lease has not run out yet by our own clock."""
        with self._lock:
            hold = self._held.get((lease.job_id, lease.generation))
            return hold is not None and self.now() < hold.until

    def may_take(self, *, margin: float) -> bool:
        """False when beats have failed for so long that new leases could not be renewed in time."""
        return self.now() + margin < self._sure_until


class _Hold:
    __slots__ = ("deadline", "until")

    def __init__(self, *, until: float, deadline: float) -> None:
        self.until = until
        self.deadline = deadline
