"""Tells relays that something was committed: debounced, after the commit, and never at a request's expense.

A NOTIFY inside the accepting transaction would make all commits wait for one lock. Relays poll anyway, so a NOTIFY
that fails costs a second and nothing else.
"""

import threading

import psycopg

from pipeline import events
from pipeline.relay import CHANNEL

QUIET_SECONDS = 0.01
"""The least time between two notifications; what is committed meanwhile is told by the next one."""
PAUSE_SECONDS = 1.0


class Notifier:
    """One thread with one connection of its own. `wake` may be called from any thread and never blocks."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._committed = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="notifier", daemon=True)

    def start(self) -> None:
        """Starts the thread; the connection is made when it is first needed."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread; may be called more than once, or before the start."""
        self._stopping.set()
        self._committed.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5)

    def wake(self) -> None:
        """Says that something was committed."""
        self._committed.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._notify_until_stopped()
            except psycopg.Error as error:
                events.emit("notifier.disconnected", error=str(error).strip())
                self._stopping.wait(PAUSE_SECONDS)
                self._committed.set()  # what could not be told is told on the next connection

    def _notify_until_stopped(self) -> None:
        self._committed.wait()
        with psycopg.connect(
            self._url, autocommit=True, connect_timeout=5, application_name="fencepost notify"
        ) as link:
            while not self._stopping.is_set():
                self._committed.clear()
                link.execute(f"NOTIFY {CHANNEL}")
                self._stopping.wait(QUIET_SECONDS)
                self._committed.wait()
