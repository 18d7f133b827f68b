"""A PostgreSQL of our own, driven through its two programs `initdb` and `postgres`.

When we are root the server runs as an unprivileged user who may not enter the folders above its data. It starts inside
the data folder, and /proc/self/cwd names that folder without a step through its parents.
"""

import secrets
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

from fencepost.local import binaries, ports, processes
from fencepost.local.processes import LINUX, StartError
from fencepost.local.server import ENVIRONMENT, LocalServer

ROLE = "fencepost"  # also the name of its database
SETTINGS = {
    "listen_addresses": ports.LOOPBACK,
    "unix_socket_directories": "",
    "shared_buffers": "256MB",
    "max_wal_size": "2GB",
    "max_connections": "200",
    "wal_compression": "on",
    "random_page_cost": "1.1",
    "log_line_prefix": "%m [%p] ",
    "timezone": "UTC",
}


class LocalPostgres(LocalServer):
    """PostgreSQL in DATA/postgres with the database `fencepost`, owned by the role `fencepost`, no superuser.

    The superuser cannot log in at all. `settings` add to or replace those of the module.
    """

    name = "postgres"
    stop_signals = (signal.SIGINT, signal.SIGQUIT)  # fast, then immediate: the next start recovers from the log

    def __init__(self, data: Path, settings: Mapping[str, str] | None = None) -> None:
        super().__init__(data)
        self.settings = {**SETTINGS, **(settings or {})}
        self.password_file = _password_file(data)

    @property
    def url(self) -> str:
        """The address of the database, with the password."""
        return _address(self.password_file, self.port)

    def _prepare(self) -> None:
        if self.folder.exists():
            return
        fresh = self.data / "postgres.new"
        if fresh.exists():
            shutil.rmtree(fresh)  # an earlier run was killed while it made the folder
        self._make_folder(fresh)
        options = ["--username=postgres", "--auth=reject", "--encoding=UTF8"]
        self._make(fresh, "initdb", *options, "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
        # Errors are not logged with their statement, which has the password in it.
        self._make(
            fresh, "postgres", "--single", "-j", "-c", "log_min_error_statement=panic", text=self._first_words(fresh)
        )
        fresh.rename(self.folder)

    def _first_words(self, folder: Path) -> bytes:
        """Who may log in, the role and its database, in the form that single-user mode reads."""
        password = secrets.token_hex(24)
        self.password_file.touch(mode=0o600)
        self.password_file.write_text(password)
        rule = f"host all {ROLE} {ports.LOOPBACK}/32 scram-sha-256"
        statements = (
            f"COPY (SELECT '{rule}') TO '{_inside(folder)}/pg_hba.conf'",
            f"CREATE ROLE {ROLE} LOGIN CREATEDB PASSWORD '{password}'",
            f"CREATE DATABASE {ROLE} OWNER {ROLE}",
        )
        return "".join(f"{statement};\n\n" for statement in statements).encode()

    def _make(self, folder: Path, program: str, *options: str, text: bytes = b"") -> None:
        command: list[str | Path] = [binaries.postgres() / program, *options, "-D", _inside(folder)]
        if program == "postgres":
            command.append("postgres")
        with self._open_log() as output:
            made = processes.start(
                command, environment=ENVIRONMENT, output=output, folder=folder, user=self.user, text=text
            )
        if made.wait():
            raise StartError(f"The database folder could not be made: see {self.log}.")

    def _end_leftover(self) -> None:
        pid = self._noted_pid()
        if pid is not None and processes.runs_in(pid, self.folder):
            processes.end_stranger(pid, self.stop_signals, 5)
        # PostgreSQL would believe a stale file whose number now belongs to another program of the same user.
        (self.folder / "postmaster.pid").unlink(missing_ok=True)

    def _launch(self, output: int) -> subprocess.Popen[bytes]:
        settings = {**self.settings, "port": str(self.port)}
        return processes.start(
            [
                binaries.postgres() / "postgres",
                "-D",
                _inside(self.folder),
                *(f"--{k}={v}" for k, v in settings.items()),
            ],
            environment=ENVIRONMENT,
            output=output,
            ends_with=signal.SIGINT,
            folder=self.folder,
            user=self.user,
        )

    def _answers(self) -> bool:
        lines = self._pid_file()
        return len(lines) > 7 and lines[0] == str(self.pid) and lines[7].strip() == "ready"

    def _noted_pid(self) -> int | None:
        first = next(iter(self._pid_file()), "")
        return int(first) if first.isdecimal() else None

    def _pid_file(self) -> list[str]:
        try:
            return (self.folder / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return []


def running_url(data: Path) -> str | None:
    """The address of the database that a stack runs in this data folder; None if none does."""
    try:
        lines = (data / LocalPostgres.name / "postmaster.pid").read_text().splitlines()
        return _address(_password_file(data), int(lines[3])) if lines[7].strip() == "ready" else None
    except (OSError, IndexError, ValueError):
        return None


def _password_file(data: Path) -> Path:
    return data / "postgres.password"


def _address(password: Path, port: int) -> str:
    return f"postgresql://{ROLE}:{password.read_text()}@{ports.LOOPBACK}:{port}/{ROLE}"


def _inside(folder: Path) -> str:
    return "/proc/self/cwd" if LINUX else str(folder)
