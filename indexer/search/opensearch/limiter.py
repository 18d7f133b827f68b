"""How many bulk calls of this process may be under way: fewer when the engine is overloaded, slowly more again."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

GROWTH = 0.1
"""Of the limit, for each call that went well."""


class Limiter:
    """Shared by all threads of a process."""

    def __init__(self, most: int) -> None:
        self._most = float(most)
        self._limit = float(most)
        self._under_way = 0
        self._changed = Condition()

    @property
    def limit(self) -> int:
        """How many calls may be under way now."""
        return int(self._limit)

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Waits until there is room for one more call."""
        with self._changed:
            self._changed.wait_for(lambda: self._under_way < self.limit)
            self._under_way += 1
        try:
            yield
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    def overloaded(self) -> None:
        """Halves the limit."""
        with self._changed:
            self._limit = max(1.0, self._limit / 2)

    def went_well(self) -> None:
        """Raises the limit a little, up to where it began."""
        with self._changed:
            self._limit = min(self._most, self._limit + GROWTH)
            self._changed.notify_all()
