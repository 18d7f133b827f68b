"""Starts programs that end with us, and ends processes only when they are proved to be ours."""

import os
import pwd
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import monotonic
from typing import IO, Self

from pipeline.errors import FencepostError

LAUNCH = Path(__file__).with_name("launch.py")
LINUX = sys.platform == "linux"

# The kernel's "parent died" signal is bound to the thread that started the child, so one thread that lives as long as
# this process starts them all.
_starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="starter")


class StartError(FencepostError):
    """A program could not be started; the message says why, or names the log that does."""


@dataclass(frozen=True, slots=True)
class User:
    """The unprivileged user whom servers run as when we are root."""

    uid: int
    gid: int

    @classmethod
    def for_servers(cls) -> Self | None:
        """`nobody` when we are root, else None: then servers run as ourselves. Raises StartError."""
        if os.getuid() != 0:
            return None
        if not LINUX:
            raise StartError("The local servers do not run as root on this system; be an ordinary user.")
        entry = pwd.getpwnam("nobody")  # initdb wants a user with an entry
        return cls(entry.pw_uid, entry.pw_gid)

    def kept_out_of(self, path: Path) -> Path | None:
        """The first folder above `path` that this user may not enter."""
        return next((folder for folder in reversed(path.resolve().parents) if not self._may_enter(folder)), None)

    def _may_enter(self, folder: Path) -> bool:
        status = folder.stat()
        if status.st_uid == self.uid:
            return bool(status.st_mode & 0o100)
        return bool(status.st_mode & (0o010 if status.st_gid == self.gid else 0o001))


def start(
    command: Sequence[str | Path],
    *,
    environment: Mapping[str, str],
    output: int | IO[bytes],
    ends_with: signal.Signals = signal.SIGTERM,
    folder: Path | None = None,
    user: User | None = None,
    text: bytes = b"",
) -> subprocess.Popen[bytes]:
    """Starts `command` in a session of its own, in `folder`, with `text` as its standard input.

    On Linux it gets the signal `ends_with` when this process dies, however that happens. `folder` is entered before the
    user changes, so `user` needs no permission on the folders above it.
    """
    identity = f"{user.uid}:{user.gid}" if user else "-"
    launcher = [sys.executable, "-I", "-S", str(LAUNCH), str(os.getpid()), str(ends_with.value), identity]

    def popen() -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - commands of this package
            [*launcher, *command],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )

    process = _starter.submit(popen).result()
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    try:
        process.stdin.write(text)
        process.stdin.close()
    except BrokenPipeError:
        pass  # it has ended; whoever waits for it will see that
    return process


def end(process: subprocess.Popen[bytes], signals: Sequence[signal.Signals], seconds: float) -> None:
    """Sends each signal in turn, with `seconds` in between, until our child has ended; SIGKILL is the last."""
    for each in signals:
        process.send_signal(each)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            continue
        return
    process.kill()
    process.wait()


def end_stranger(pid: int, signals: Sequence[signal.Signals], seconds: float) -> None:
    """Ends a process that is proved to be ours but not our child, like `end`."""
    birth = born(pid)
    for each in (*signals, signal.SIGKILL):
        if born(pid) != birth or birth is None:
            return
        os.kill(pid, each)
        wait_until(lambda: born(pid) != birth, seconds)


def born(pid: int) -> str | None:
    """When process `pid` was started, in words that no later process with this number shares; None if it has ended."""
    if not LINUX:
        words = _said(["/bin/ps", "-o", "stat=,lstart=", "-p", str(pid)]).split(maxsplit=1)
        return words[1].strip() if len(words) == 2 and not words[0].startswith("Z") else None
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else f"{boot} {fields[19]}"


def runs_in(pid: int, folder: Path) -> bool:
    """Whether process `pid` has `folder` as its working directory."""
    try:
        if LINUX:
            return born(pid) is not None and Path(f"/proc/{pid}/cwd").samefile(folder)
        lsof = shutil.which("lsof") or "/usr/sbin/lsof"
        names = [line[1:] for line in _said([lsof, "-a", "-p", str(pid), "-d", "cwd", "-Fn"]).splitlines()]
        return str(folder.resolve()) in names
    except OSError:
        return False


def wait_until(condition: Callable[[], bool], seconds: float, every: float = 0.02) -> bool:
    """Looks at `condition` until it holds or `seconds` have passed; returns whether it holds."""
    deadline, pause = monotonic() + seconds, Event()
    while not condition():
        if monotonic() > deadline:
            return False
        pause.wait(every)
    return True


def _said(command: Sequence[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout  # noqa: S603 - system tools
