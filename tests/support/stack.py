"""Real `fencepost` processes against the servers of the test session."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from fencepost.local.ports import free_port
from pipeline.settings import environment
from tests.support.waiting import until

ROOT = Path(__file__).parents[2]


@dataclass
class Stack:
    """Starts, kills and counts processes; `folder` keeps their logs. All get `variables`."""

    database_url: str
    broker_url: str
    folder: Path
    variables: dict[str, str] = field(default_factory=dict)
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, *command: str, **variables: str) -> subprocess.Popen[bytes]:
        """Runs `fencepost COMMAND…` with default settings, and these variables besides."""
        addresses = {"FENCEPOST_DATABASE_URL": self.database_url, "FENCEPOST_BROKER_URL": self.broker_url}
        log = (self.folder / f"{len(self.processes)}-{command[0]}.log").open("wb")
        with log:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "fencepost", *command],
                env=clean_environment() | addresses | self.variables | variables,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def start_armed(self, fault: str, *command: str, **variables: str) -> subprocess.Popen[bytes]:
        """Runs a process that is killed (or stopped) at a named point, once."""
        token = self.folder / f"token-{len(self.processes)}"
        token.touch()
        return self.start(*command, FENCEPOST_FAULT=fault, FENCEPOST_FAULT_TOKEN=str(token), **variables)

    def logs(self) -> str:
        """Everything that the processes said."""
        return "\n".join(f"--- {path.name}\n{path.read_text()}" for path in sorted(self.folder.glob("*.log")))

    def close(self) -> None:
        """Ends what still runs; a stopped process is continued first."""
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for process in self.processes:
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def running(database_url: str, broker_url: str, folder: Path) -> Iterator[Stack]:
    """A stack without processes; they end with the block."""
    stack = Stack(database_url, broker_url, folder)
    try:
        yield stack
    finally:
        stack.close()


def killed(process: subprocess.Popen[bytes], *, seconds: float = 30) -> bool:
    """Waits for the process to die; whether it was by SIGKILL."""
    until(lambda: process.poll() is not None, seconds=seconds, what="the death of the process")
    return process.returncode == -signal.SIGKILL


def clean_environment() -> dict[str, str]:
    """Our environment without settings, so that defaults are tested."""
    kept = {name: value for name, value in environment().items() if not name.startswith("FENCEPOST_")}
    return kept | {"PYTHONPATH": str(ROOT)}


@contextmanager
def served(stack: Stack, *, fault: str = "", **variables: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A real API process on a free port, armed if `fault` is given; yields its address."""
    variables["FENCEPOST_PORT"] = str(port := free_port())
    process = stack.start_armed(fault, "api", **variables) if fault else stack.start("api", **variables)
    url = f"http://127.0.0.1:{port}"
    until(lambda: answers(f"{url}/health/ready"), seconds=60, what="the API")
    yield url, process


def answers(url: str) -> bool:
    """Whether the address answers 200."""
    try:
        return httpx.get(url).status_code == 200
    except httpx.TransportError:
        return False
