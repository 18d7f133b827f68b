"""Notes about child processes, so that the next start can end those of a supervisor that was killed."""

import os
import signal
from contextlib import suppress
from pathlib import Path

from fencepost.local import processes

SECONDS = 3


def note(data: Path, name: str, pid: int) -> None:
    """Remembers that `pid`, which leads a process group, is the child called `name`."""
    folder = data / "running"
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / name).write_text(f"{pid} {processes.born(pid)}")


def forget(data: Path, name: str) -> None:
    """The child called `name` has ended."""
    (data / "running" / name).unlink(missing_ok=True)


def end_all(data: Path) -> list[str]:
    """Ends the noted processes that still live, with their groups, and returns their names.

    A number that now belongs to another process is left alone: the note also says when ours was started.
    """
    ended = []
    for entry in sorted((data / "running").glob("*")):
        pid, _, birth = entry.read_text().partition(" ")
        if pid.isdecimal() and processes.born(int(pid)) == birth:
            _end_group(int(pid), birth)
            ended.append(entry.name)
        entry.unlink()
    return ended


def _end_group(leader: int, birth: str) -> None:
    with suppress(ProcessLookupError):
        os.kill(leader, signal.SIGTERM)
        processes.wait_until(lambda: processes.born(leader) != birth, SECONDS)
        os.killpg(leader, signal.SIGKILL)
        processes.wait_until(lambda: processes.born(leader) != birth, SECONDS)
