"""Time for everything that the database does not time.

Leases, due times and ages are computed by PostgreSQL's clock in SQL, so that a machine with a wrong clock can harm
nothing. What remains (backoff of a loop, the age of a cache) asks a `Clock`, so that tests can hand in a fixed one.
"""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What tells the time."""

    def now(self) -> datetime:
        """The time of day, in UTC."""

    def monotonic(self) -> float:
        """Seconds that only grow."""


class SystemClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        """The time of day, in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - the one place that may

    def monotonic(self) -> float:
        """Seconds that only grow."""
        return time.monotonic()
