"""A Valkey of our own: the broker, which carries deliveries and is never the truth."""

import secrets
import signal
import subprocess
from pathlib import Path

import redis

from fencepost.local import binaries, ports, processes
from fencepost.local.server import ENVIRONMENT, LocalServer

MEMORY = "256mb"


class LocalValkey(LocalServer):
    """Valkey in DATA/valkey with a password; it keeps nothing on disk and refuses writes when its memory is full."""

    name = "valkey"
    stop_signals = (signal.SIGTERM,)

    def __init__(self, data: Path, memory: str = MEMORY) -> None:
        super().__init__(data)
        self.memory = memory
        self.password = secrets.token_hex(24)

    @property
    def url(self) -> str:
        """The address of database 0, with the password."""
        return f"redis://:{self.password}@{ports.LOOPBACK}:{self.port}/0"

    def _prepare(self) -> None:
        if not self.folder.exists():
            self._make_folder(self.folder)

    def _end_leftover(self) -> None:
        note = self.folder / "valkey.pid"
        pid = note.read_text().strip() if note.exists() else ""
        if pid.isdecimal() and processes.runs_in(int(pid), self.folder):
            processes.end_stranger(int(pid), self.stop_signals, 5)
        note.unlink(missing_ok=True)

    def _launch(self, output: int) -> subprocess.Popen[bytes]:
        """Hands the configuration over as standard input, so that the password is neither in a file nor in `ps`."""
        lines = (
            f"bind {ports.LOOPBACK}",
            f"port {self.port}",
            f"requirepass {self.password}",
            f"maxmemory {self.memory}",
            "maxmemory-policy noeviction",
            "appendonly no",
            'save ""',
            "pidfile valkey.pid",
            "daemonize no",
        )
        return processes.start(
            [binaries.valkey(), "-"],
            environment=ENVIRONMENT,
            output=output,
            folder=self.folder,
            user=self.user,
            text="\n".join(lines).encode(),
        )

    def _answers(self) -> bool:
        try:
            with redis.Redis.from_url(self.url) as client:
                return bool(client.ping())
        except redis.ConnectionError:
            return False
