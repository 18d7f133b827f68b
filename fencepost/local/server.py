"""What the servers have in common here: a folder, a log, a port, and a life from start to stop."""

import os
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from time import monotonic
from types import TracebackType
from typing import ClassVar, Self

from fencepost.local import ports, processes
from fencepost.local.processes import StartError, User

RETRY_SECONDS = 0.1
STOP_SECONDS = 1.4  # with the grace of the processes before it, the whole stack stops within ten
LOG_BYTES = 10 * 1024 * 1024
ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/local/bin:/usr/bin:/bin"}
# Reasons to try once more: the port was taken in the meantime, or processes of a killed server are still leaving.
PASSING = ("Address already in use", "pre-existing shared memory block", "could not create any TCP/IP sockets")


class LocalServer(ABC):
    """A server program in DATA/<name>, listening on a free port of 127.0.0.1. Use it with `with`, or start and stop."""

    name: ClassVar[str]
    stop_signals: ClassVar[Sequence[signal.Signals]]
    start_seconds: ClassVar[float] = 30

    def __init__(self, data: Path) -> None:
        self.data = data
        self.folder = data / self.name
        self.user = User.for_servers()
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None

    @property
    @abstractmethod
    def url(self) -> str:
        """The address with user and password; the same before and after a restart."""

    @property
    def pid(self) -> int:
        """The process id of the running server. Raises StartError when it was not started."""
        if self.process is None:
            raise StartError(f"{self.name} was not started.")
        return self.process.pid

    @property
    def log(self) -> Path:
        """What the server says."""
        return self.data / f"{self.name}.log"

    def start(self) -> Self:
        """Ends what an earlier, killed run left behind, starts the server and waits until it answers.

        Raises StartError with the last line of the log.
        """
        self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._prepare()
        self._end_leftover()
        deadline, first = monotonic() + self.start_seconds, not self.port
        while True:
            self.port = ports.free_port() if first else self.port
            said = self._run_until_ready(deadline)
            if said is None:
                return self
            if monotonic() > deadline:
                raise StartError(
                    f"{self.name} did not answer within {self.start_seconds:g} s; "
                    f"its last words: {self._reason(said)} (more in {self.log})"
                )
            if not any(reason in said for reason in PASSING):
                raise StartError(f"{self.name} did not start: {self._reason(said)} (more in {self.log})")
            Event().wait(RETRY_SECONDS)

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Stops the server in good order; after `seconds` it is told more firmly. Does nothing if it is stopped."""
        if self.process is not None:
            processes.end(self.process, self.stop_signals, seconds)
            self.process = None

    def kill(self) -> None:
        """Ends the server at once with SIGKILL, as a power cut would."""
        if self.process is not None:
            processes.end(self.process, (), 0)
            self.process = None

    def restart(self) -> None:
        """Stops and starts the server on the same address."""
        self.stop()
        self.start()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @abstractmethod
    def _prepare(self) -> None:
        """Makes the server's folder when it is missing."""

    @abstractmethod
    def _end_leftover(self) -> None:
        """Ends the server of an earlier run that is still there, and removes its stale pid file."""

    @abstractmethod
    def _launch(self, output: int) -> subprocess.Popen[bytes]:
        """Starts the program on `self.port`."""

    @abstractmethod
    def _answers(self) -> bool:
        """Whether the process that was just started takes connections."""

    def _reason(self, said: str) -> str:
        """The line of what it said that tells why it did not start."""
        return (said.strip().splitlines() or ["it said nothing"])[-1]

    def _make_folder(self, folder: Path) -> None:
        folder.mkdir(mode=0o700)
        if self.user:
            os.chown(folder, self.user.uid, self.user.gid)

    def _run_until_ready(self, deadline: float) -> str | None:
        """Starts the program; returns None once it answers, else what it said before it ended."""
        with self._open_log() as output:
            before = os.fstat(output).st_size
            process = self.process = self._launch(output)
        while process.poll() is None and monotonic() < deadline:
            if processes.wait_until(self._answers, 0.05, every=0.005):
                return None
        self.kill()
        with self.log.open("rb") as log:
            log.seek(before)
            return log.read().decode(errors="replace")

    @contextmanager
    def _open_log(self) -> Iterator[int]:
        if self.log.exists() and self.log.stat().st_size > LOG_BYTES:
            self.log.replace(self.log.with_suffix(".log.old"))
        output = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            yield output
        finally:
            os.close(output)
