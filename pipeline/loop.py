"""The loop around every step that runs for ever: relay, sweeper, heartbeat.

A step is called once, then again after it says so or when it is woken. A database that is away is no error of the
step: the loop says so once, waits with growing pauses, and goes on by itself.
"""

import random
import threading
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import DBAPIError

from pipeline import events
from pipeline.database import AWAY, reason

FIRST_PAUSE = 0.4
MOST_PAUSE = 5.0
TRIES = 8
T = TypeVar("T")


def backoff(failures: int, *, first: float, most: float) -> float:
    """Seconds to wait after so many failures in a row: doubling, with jitter on top."""
    seconds: float = min(first * 2 ** min(failures - 1, 10), most)
    return seconds * random.uniform(1.0, 1.5)  # noqa: S311 - no secret


def patiently(action: Callable[[], T]) -> T:
    """Does what may be repeated, and waits out a database that is away for some seconds; then the error is raised."""
    for failures in range(1, TRIES):
        try:
            return action()
        except AWAY as error:
            events.emit("database.unavailable", loop="attempt", error=str(error).partition("\n")[0])
            threading.Event().wait(backoff(failures, first=FIRST_PAUSE, most=MOST_PAUSE))
    return action()


class Loop:
    """Runs `step` until stopped. The step returns the seconds to wait before the next one (0 = at once)."""

    def __init__(self, name: str, step: Callable[[], float]) -> None:
        self.name = name
        self._step = step
        self._woken = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        """Cuts the present wait short."""
        self._woken.set()

    def start(self) -> None:
        """Runs in a thread of its own."""
        self._thread = threading.Thread(target=self.run, name=self.name, daemon=True)
        self._thread.start()

    def stop(self, timeout: float | None = None) -> None:
        """Ends after the step under way; may be called more than once, or before the start."""
        self._stopping.set()
        self._woken.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def run(self) -> None:
        """Runs in this thread until `stop`."""
        failures = 0
        while not self._stopping.is_set():
            self._woken.clear()
            try:
                pause = self._step()
                if failures:
                    events.emit("loop.recovered", loop=self.name, failures=failures)
                failures = 0
            except DBAPIError as error:
                failures += 1
                if failures == 1:
                    events.emit("database.unavailable", loop=self.name, error=reason(error))
                pause = self._pause(failures)
            except Exception as error:  # noqa: BLE001 - a loop outlives every error, and says it
                failures += 1
                events.emit("loop.failed", loop=self.name, error=repr(error), exc_info=error)
                pause = self._pause(failures)
            if pause > 0:
                self._woken.wait(pause)

    def _pause(self, failures: int) -> float:
        if self._stopping.is_set():
            return 0
        self._stopping.wait(backoff(failures, first=FIRST_PAUSE, most=MOST_PAUSE))
        return 0
