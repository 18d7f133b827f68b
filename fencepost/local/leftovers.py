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
    entries = sorted((data / "running").glob("*"))
    living: dict[int, tuple[str, str]] = {}
    for entry in entries:
        number, _, birth = entry.read_text().partition(" ")
        if number.isdecimal() and processes.born(int(number)) == birth:
            living[int(number)] = (entry.name, birth)

    def ended() -> bool:
        return not any(processes.born(pid) == birth for pid, (_, birth) in living.items())

    for tell, word in ((os.kill, signal.SIGTERM), (os.killpg, signal.SIGKILL)):
        for pid, (_, birth) in living.items():
            if processes.born(pid) == birth:
                with suppress(ProcessLookupError):
                    tell(pid, word)
        processes.wait_until(ended, SECONDS)
    for entry in entries:
        entry.unlink()
    return [name for name, _ in living.values()]
