"""The servers and processes of docker-compose.yml, started without Docker: same commands, settings and checks."""

import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import redis

from fencepost.local import binaries, ports
from fencepost.local.postgres import LocalPostgres, _inside
from tests.support.compose import ROOT, Service
from tests.support.stack import clean_environment
from tests.support.waiting import until


class ProductionPostgres(LocalPostgres):
    """A PostgreSQL in which nobody exists but the superuser, and who else deploy/postgres/create-role.sql makes."""

    def _first_words(self, folder: Path) -> bytes:
        rules = "'host all postgres 127.0.0.1/32 trust', 'host all all 127.0.0.1/32 scram-sha-256'"
        return f"COPY (SELECT unnest(ARRAY[{rules}])) TO '{_inside(folder)}/pg_hba.conf';\n\n".encode()

    def run_init_script(self, environment: Mapping[str, str]) -> None:
        """Does what the image of PostgreSQL does with the script, once."""
        script = ROOT / "deploy" / "postgres" / "create-role.sql"
        options = ["--set=ON_ERROR_STOP=1", "--username=postgres", "--no-password", "--no-psqlrc", "--dbname=postgres"]
        psql = binaries.postgres() / "psql"
        address = {"PGHOST": ports.LOOPBACK, "PGPORT": str(self.port)}
        subprocess.run([psql, *options, f"--file={script}"], env={**environment, **address}, check=True)


@contextmanager
def valkey(service: Service, folder: Path) -> Iterator[int]:
    """Runs the command of the service with our Valkey; yields the port it listens on."""
    folder.mkdir()
    (folder / "valkey-server").symlink_to(binaries.valkey())
    port = ports.free_port()
    *shell, script = service.command
    assert "port 6379\n" in script
    moved = script.replace("port 6379\n", f"port {port}\nbind {ports.LOOPBACK}\n")
    variables = service.environment | {"PATH": f"{folder}:/usr/bin:/bin"}
    server = subprocess.Popen([*shell, moved], env=variables, cwd=folder, stdout=subprocess.DEVNULL)
    try:
        with redis.Redis(port=port, password=service.environment["VALKEYCLI_AUTH"]) as client:
            until(lambda: _answers(client), what="Valkey")
        yield port
    finally:
        server.terminate()
        assert server.wait(service.stop_seconds) == 0


@dataclass
class Production:
    """Our services as processes; `addresses` are where the names of the other services lead here."""

    services: Mapping[str, Service]
    addresses: Mapping[str, str]
    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    processes: list[tuple[Service, subprocess.Popen[bytes]]] = field(default_factory=list)

    def start(self, name: str) -> subprocess.Popen[bytes]:
        """Starts one process of a service."""
        service = self.services[name]
        with (self.folder / f"{len(self.processes)}-{name}.log").open("wb") as log:
            process = subprocess.Popen(
                _program(service.command),
                env=self._environment(service),
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                start_new_session=True,
            )
        self.processes.append((service, process))
        return process

    def run(self, name: str, *words: str) -> subprocess.CompletedProcess[str]:
        """What `docker compose run` or `exec` does: a command with the settings of a service."""
        environment = self._environment(self.services[name])
        return subprocess.run(
            _program(words), env=environment, cwd=self.folder, capture_output=True, text=True, check=False
        )

    def is_healthy(self, name: str) -> bool:
        """What the health check of the service says; none of the processes may have ended by itself."""
        ended = [service.name for service, process in self.processes if process.poll() not in {None, 0}]
        assert not ended, f"{ended} ended:\n{self.logs()}"
        return self.run(name, *self.services[name].health[1:]).returncode == 0

    def logs(self) -> str:
        """Everything that the processes said."""
        return "\n".join(f"--- {path.name}\n{path.read_text()}" for path in sorted(self.folder.glob("*.log")))

    def close(self) -> None:
        """Kills what a failed test left."""
        for _, process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()

    def _environment(self, service: Service) -> dict[str, str]:
        found = clean_environment() | service.environment | dict(self.variables)
        for name, address in self.addresses.items():
            found = {variable: value.replace(name, address) for variable, value in found.items()}
        return found


def _program(words: list[str] | tuple[str, ...]) -> list[str]:
    """The command with the entrypoint of the image before it."""
    return [sys.executable, "-P", "-m", "fencepost", *words]


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False
