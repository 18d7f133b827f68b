"""The fork server as the pool sees it: makes and ends children, and is started anew if it dies."""

import contextlib
import itertools
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from indexer import scratch
from indexer.extract.isolation import forkserver, wire
from pipeline.settings import Extract, environment

_KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TESSDATA_PREFIX")
_PROGRAM = "indexer.extract.isolation.forkserver"
_START_SECONDS = 60
_STOP_SECONDS = 5


class BarrenError(Exception):
    """There can be no child now: the fork server does not start, or the system has no room for another process."""


@dataclass(frozen=True, slots=True)
class Child:
    """A process that reads documents, and the socket to it."""

    number: int
    pid: int
    channel: socket.socket

    def is_waiting(self) -> bool:
        """Whether it lives, as far as can be seen without asking it."""
        self.channel.setblocking(False)
        try:
            return self.channel.recv(1, socket.MSG_PEEK) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False


class Death(NamedTuple):
    """How a child ended, and in which member of its document: 0 in the document itself. A child may lie about that."""

    exit_code: int
    member: int


class Nursery:
    """Thread-safe; starts nothing before the first child is wanted."""

    def __init__(self, settings: Extract) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._server: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._made: set[int] = set()  # by this server, and not ended
        self._scratch = Path()

    def fork(self) -> Child:
        """A new child. Raises BarrenError if there can be none now, also not by a second try."""
        ours, its = socket.socketpair()
        with its, self._lock:
            for _ in range(2):
                number = next(self._numbers)
                try:
                    pid, _ = self._ask(forkserver.FORK, number, its.fileno())
                except (OSError, wire.ClosedError):
                    self._stop()
                    continue
                if pid:
                    self._made.add(number)
                    return Child(number, pid, ours)
        ours.close()
        raise BarrenError

    def end(self, child: Child) -> Death | None:
        """Kills a child if it still lives. Its death is told once; None if it died with the fork server."""
        with self._lock, child.channel:  # closed when it is dead, so that it learns nothing and stays where it was
            if child.number not in self._made:
                return None
            try:
                self._made.remove(child.number)
                return Death(*self._ask(forkserver.END, child.number))
            except (OSError, wire.ClosedError):
                self._stop()
                return None

    def close(self) -> None:
        """Ends the server, which ends its children first."""
        with self._lock:
            self._stop()

    def _ask(self, command: bytes, number: int, *channels: int) -> tuple[int, int]:
        control = self._control or self._start()
        socket.send_fds(control, [command + number.to_bytes(forkserver.NUMBER_BYTES, "big")], channels)
        answer = control.recv(forkserver.ANSWER.size, socket.MSG_WAITALL)
        if len(answer) < forkserver.ANSWER.size:
            raise wire.ClosedError
        pid_or_code, member = forkserver.ANSWER.unpack(answer)
        return pid_or_code, member

    def _start(self) -> socket.socket:
        self._control, its = socket.socketpair()
        self._scratch = Path(tempfile.mkdtemp(prefix=scratch.prefix("extract")))
        terms = (self._settings.memory_bytes, self._settings.seconds_with_ocr, self._settings.documents_per_process)
        arguments = map(str, (its.fileno(), self._scratch, *terms, self._settings.ocr_languages or ""))
        with its:
            self._server = subprocess.Popen(  # noqa: S603 - this very program
                [sys.executable, "-P", "-m", _PROGRAM, *arguments],
                env=_clean_environment(),
                pass_fds=[its.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                cwd=self._scratch,
                start_new_session=True,  # Ctrl-C is for the worker
            )
        self._control.settimeout(_START_SECONDS)
        if self._control.recv(1) != forkserver.READY:
            raise wire.ClosedError
        return self._control

    def _stop(self) -> None:
        self._made.clear()
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._server is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._server.wait(_STOP_SECONDS)
            self._server.kill()
            self._server.wait()
            self._server = None
            shutil.rmtree(self._scratch, ignore_errors=True)


def _clean_environment() -> dict[str, str]:
    """What the program needs to start, and none of the worker's secrets."""
    ours = environment()
    kept = {name: ours[name] for name in _KEPT_VARIABLES if name in ours}
    kept["OMP_THREAD_LIMIT"] = "1"  # Tesseract's threads wait for each other more than they work
    return kept | {"PYTHONPATH": ":".join(path for path in sys.path if path)}
