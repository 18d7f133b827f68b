"""Finds what the tests started and did not end, however deep in the tree of processes."""

import ctypes
import os
import signal
from contextlib import suppress
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
# Python's own companions of a process that used multiprocessing; they end with it.
COMPANIONS = ("multiprocessing.resource_tracker", "multiprocessing.forkserver")


def adopt_orphans() -> None:
    """From now on a descendant whose parent has died becomes our child (Linux), so that none can hide."""
    with suppress(AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def descendants() -> dict[int, str]:
    """The living processes below this one, with their command lines. Empty where there is no /proc."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            if state not in "ZX":
                parents[int(stat.parent.name)] = int(parent)
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    lines = {pid: _command(pid) for pid in found - {os.getpid()}}
    return {pid: line for pid, line in lines.items() if line and not any(name in line for name in COMPANIONS)}


def end(pids: dict[int, str]) -> None:
    """Kills what was found, so that a failed run leaves nothing behind either."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""
