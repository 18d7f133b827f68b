"""Keeps processes running: one that ends is started again, a little later each time, and that is said."""

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic
from types import TracebackType
from typing import Self

from fencepost.local import leftovers, processes
from fencepost.local.log import Log
from fencepost.local.processes import StartError
from fencepost.local.server import LocalServer

BACKOFF_FIRST_SECONDS = 0.5
BACKOFF_MOST_SECONDS = 10
CALM_SECONDS = 30  # one that ran so long begins again with the first backoff


@dataclass(frozen=True, slots=True)
class Program:
    """A child process: its name in the log, and its command."""

    name: str
    command: Sequence[str]


class Supervisor:
    """Runs programs in sessions of their own, with `environment`, and writes what they say to `log`.

    Use it as a context manager. At its end the programs get SIGTERM in the order in which they were run, and after
    `grace` seconds SIGKILL with all their own children.
    """

    def __init__(self, data: Path, environment: Mapping[str, str], log: Log, grace: float) -> None:
        self._data = data
        self._environment = environment
        self._log = log
        self._grace = grace
        self._children: list[_Kept] = []
        self._watched: list[_Kept] = []
        self._servers: list[LocalServer] = []

    def run(self, program: Program) -> None:
        """Starts `program` and keeps it running."""

        def start() -> subprocess.Popen[bytes]:
            process = processes.start(program.command, environment=self._environment, output=subprocess.PIPE)
            leftovers.note(self._data, program.name, process.pid)
            assert process.stdout is not None  # noqa: S101 - it is a pipe
            self._log.follow(program.name, process.stdout)
            return process

        self._children.append(_Kept(program.name, start, self._log, whole_group=True))

    def watch(self, server: LocalServer) -> None:
        """Keeps a server running that was started already. Whoever started it stops it, after this supervisor."""

        def start() -> subprocess.Popen[bytes]:
            if server.process is None or server.process.returncode is not None:
                server.start()
            assert server.process is not None  # noqa: S101 - it was just started
            return server.process

        self._servers.append(server)
        self._watched.append(_Kept(server.name, start, self._log))

    def stop(self) -> None:
        """Ends all programs; returns when none is left."""
        for kept in (*self._watched, *self._children):
            kept.let_go()
        for server in self._servers:
            server.give_up()
        for watched in self._watched:
            watched.settle()
        for child in self._children:
            child.tell_to_stop()
        deadline = monotonic() + self._grace
        for child in self._children:
            child.end_by(deadline)
            leftovers.forget(self._data, child.name)
        self._children.clear()
        self._watched.clear()
        self._servers.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class _Kept:
    """One process and the thread that waits for its end."""

    def __init__(
        self, name: str, start: Callable[[], subprocess.Popen[bytes]], log: Log, *, whole_group: bool = False
    ) -> None:
        self.name = name
        self._start = start
        self._log = log
        self._whole_group = whole_group
        self._starting = Lock()
        self._let_go = Event()
        self._process = start()
        self._thread = Thread(target=self._keep, name=f"keeper of {name}", daemon=True)
        self._thread.start()

    def let_go(self) -> None:
        """From now on it is not started again."""
        self._let_go.set()

    def settle(self) -> None:
        """Returns once no start is under way."""
        with self._starting:
            pass

    def tell_to_stop(self) -> None:
        """Sends SIGTERM."""
        with self._starting:
            self._process.terminate()

    def end_by(self, deadline: float) -> None:
        """Waits for its end; at `deadline` it is killed."""
        try:
            self._process.wait(max(0, deadline - monotonic()))
        except subprocess.TimeoutExpired:
            self._log.say(self.name, "did not stop in time and was killed")
            self._process.kill()
        self._thread.join()

    def _keep(self) -> None:
        delay = BACKOFF_FIRST_SECONDS
        while not self._let_go.is_set():
            began = monotonic()
            trouble: str | None = _ending(self._process.wait())
            self._end_group()
            if monotonic() - began > CALM_SECONDS:
                delay = BACKOFF_FIRST_SECONDS
            while trouble and not self._let_go.is_set():
                self._log.say(self.name, f"{trouble}; started again in {delay:g} s")
                self._let_go.wait(delay)
                trouble = self._start_again()
                delay = min(2 * delay, BACKOFF_MOST_SECONDS)

    def _end_group(self) -> None:
        if self._whole_group:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _start_again(self) -> str | None:
        """Starts it unless it was let go; returns why it could not be started."""
        with self._starting:
            if not self._let_go.is_set():
                try:
                    self._process = self._start()
                except (StartError, OSError) as error:
                    return str(error)
        return None


def _ending(code: int) -> str:
    return f"ended with signal {-code}" if code < 0 else f"ended with exit code {code}"
