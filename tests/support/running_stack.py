"""A local stack in a process of its own, with stand-ins for our processes (tests/support/run_stack.py)."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread

from fencepost.local import folder, processes
from pipeline.settings import environment
from tests.support.waiting import until


class RunningStack:
    """The process and what it has said so far. Ended with SIGKILL if a test leaves it running."""

    def __init__(self, data: Path, *arguments: str, **variables: str) -> None:
        self.data = data
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.run_stack", data, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**environment(), "PYTHONPATH": os.pathsep.join(sys.path), **variables},
        )
        self._reader = Thread(target=self._read)
        self._reader.start()

    @property
    def url(self) -> str:
        """Where it is served."""
        return folder.address(self.data) or ""

    def pid_of(self, child: str) -> int:
        """The process id of a supervised child, 0 while there is none."""
        try:
            return int((self.data / "running" / child).read_text().split()[0])
        except (OSError, IndexError):
            return 0

    def hears(self, words: str, *, seconds: float = 30) -> str:
        """Waits for a line with these words and returns it."""
        until(lambda: any(words in line for line in self.lines) or self.process.poll() is not None, seconds=seconds)
        until(lambda: any(words in line for line in self.lines), seconds=1)
        return next(line for line in self.lines if words in line)

    def told(self, each: signal.Signals) -> int:
        """Sends it a signal and returns its exit code."""
        self.process.send_signal(each)
        return self.code()

    def code(self) -> int:
        """Waits for its end and returns its exit code."""
        try:
            return self.process.wait(30)
        finally:
            self._reader.join(10)

    def environment_of(self, child: str) -> dict[str, str]:
        """The variables that a supervised child was started with."""
        pairs = Path(f"/proc/{self.pid_of(child)}/environ").read_text().split("\0")
        return dict(pair.split("=", 1) for pair in pairs if "=" in pair)

    def close(self) -> None:
        """Leaves nothing behind."""
        if self.process.poll() is None:
            self.process.kill()
        self.code()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as said:
            for line in said:
                self.lines.append(line.rstrip())


def all_ended(pids: list[int]) -> bool:
    """Whether none of the processes lives."""
    return not any(processes.born(pid) for pid in pids)
