"""An OpenSearch of our own: one node, on loopback, without authentication. For development, tests and the demo.

Java resolves every path to its real name. When we are root, the node's user must therefore be able to walk to its data,
unlike that of PostgreSQL: its group may enter the data folder, and a folder above that is closed to it is an error.
"""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from fencepost.local import binaries, jars, java, ports, processes
from fencepost.local.jars import Say
from fencepost.local.processes import StartError
from fencepost.local.server import ENVIRONMENT, LocalServer
from pipeline.settings import LocalNode

JAVA_OPTIONS = (
    "-XX:+UseSerialGC",
    "-XX:+ExitOnOutOfMemoryError",
    "-XX:-UsePerfData",  # it would leave files in the system's temporary folder
    "--enable-native-access=ALL-UNNAMED",
    "-Djava.locale.providers=CLDR,SPI",  # SPI is ICU, which brings the word boundaries of Thai
    "-Djna.nosys=true",
    "-Dlog4j2.disable.jmx=true",
    "-Dlog4j.shutdownHookEnabled=false",  # OpenSearch ends it, after itself
    "-Dopensearch.distribution.type=tar",
)
SETTINGS = {
    "action.auto_create_index": "false",  # a wiped index must never come back by accident, with a guessed mapping
    "cluster.name": "fencepost-local",
    "cluster.routing.allocation.disk.threshold_enabled": "false",  # it goes by per cent: 5 % of a laptop is plenty
    "discovery.type": "single-node",
    "network.host": ports.LOOPBACK,
    "transport.port": "0",
}
LOGGING = """status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d][%-5p][%c{1}] %m%n
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
"""


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")


class LocalOpenSearch(LocalServer):
    """OpenSearch in DATA/opensearch. `options` are further ones of Java, `say` is told of what takes long."""

    name = "opensearch"
    stop_signals = (signal.SIGTERM,)
    start_seconds = 90

    def __init__(
        self, data: Path, wanted: LocalNode | None = None, *, options: Sequence[str] = (), say: Say = _tell
    ) -> None:
        super().__init__(data)
        self.wanted = wanted or LocalNode()
        self.options = options
        self.port = self.wanted.port
        self._say = say
        self._node = ""

    @property
    def url(self) -> str:
        """The address; there is no user and no password."""
        return f"http://{ports.LOOPBACK}:{self.port}"

    def _prepare(self) -> None:
        self._let_in()
        cache = self.wanted.cache_folder or binaries.cache()
        self._home = jars.home(cache, self._say, self.wanted.repository.get_secret_value())
        self._java = java.program(self.user)
        for path in (self._home, self._java, self.folder):
            self._check_that_it_can_enter(path)
        if not self.folder.exists():
            self._make()

    def _let_in(self) -> None:
        """Lets the group of the node's user through the data folder, which stays unreadable to it."""
        if self.user:
            os.chown(self.data, -1, self.user.gid)
            self.data.chmod(0o710)

    def _check_that_it_can_enter(self, path: Path) -> None:
        closed = self.user and self.user.kept_out_of(path)
        if closed:
            raise StartError(
                f"OpenSearch does not run as root, and the user that it runs as cannot enter {closed}, "
                f"which is on the way to {path}: choose another place, or be an ordinary user."
            )

    def _make(self) -> None:
        fresh = self.data / "opensearch.new"
        if fresh.exists():
            shutil.rmtree(fresh)  # an earlier run was killed while it made the folder
        self._make_folder(fresh)
        for name in ("config", "data", "logs", "tmp"):
            self._make_folder(fresh / name)
        (fresh / "config" / "log4j2.properties").write_text(LOGGING)
        if self.user:
            os.chown(fresh / "config" / "log4j2.properties", self.user.uid, self.user.gid)
        fresh.rename(self.folder)

    def _end_leftover(self) -> None:
        note = self._note
        pid = note.read_text() if note.exists() else ""
        if pid.isdecimal() and processes.runs_in(int(pid), self.folder):
            processes.end_stranger(int(pid), self.stop_signals, 5)
        note.unlink(missing_ok=True)

    def _launch(self, output: int) -> subprocess.Popen[bytes]:
        if self.wanted.port and not ports.is_free(self.wanted.port):
            raise StartError(
                f"Port {self.wanted.port} is taken by another program; "
                f"choose another one with FENCEPOST_LOCAL_OPENSEARCH__PORT."
            )
        self._node = f"node-{secrets.token_hex(4)}"  # so that another one on this port is never taken for it
        process = processes.start(
            self._command(),
            environment={**ENVIRONMENT, "LC_ALL": "C.UTF-8"},  # Java reads the names of files by it
            output=output,
            folder=self.folder,
            user=self.user,
        )
        self._note.write_text(str(process.pid))
        return process

    def _command(self) -> list[str | Path]:
        folder = self.folder.resolve()
        settings = {
            **SETTINGS,
            "node.name": self._node,
            "http.port": str(self.port),
            "path.data": str(folder / "data"),
            "path.logs": str(folder / "logs"),
        }
        return [
            self._java,
            f"-Xms{self.wanted.heap_bytes}",
            f"-Xmx{self.wanted.heap_bytes}",
            *JAVA_OPTIONS,
            *self.options,
            f"-Djava.io.tmpdir={folder / 'tmp'}",
            f"-Dopensearch.path.home={self._home}",
            f"-Dopensearch.path.conf={folder / 'config'}",
            "-cp",
            f"{self._home / 'lib'}/*",
            "org.opensearch.bootstrap.OpenSearch",
            *(f"-E{name}={value}" for name, value in settings.items()),
        ]

    def _answers(self) -> bool:
        """Whether it is our node that answers, with every index that it had."""
        try:
            if self._get("/")["name"] != self._node:
                return False
            health = self._get("/_cluster/health?wait_for_status=yellow&timeout=1s")
        except (OSError, HTTPException, ValueError, KeyError):
            return False
        return health.get("status") in {"yellow", "green"}

    def _get(self, path: str) -> dict[str, Any]:
        connection = HTTPConnection(ports.LOOPBACK, self.port, timeout=5)
        try:
            connection.request("GET", path)
            answer: dict[str, Any] = json.load(connection.getresponse())
        finally:
            connection.close()
        return answer

    @property
    def _note(self) -> Path:
        return self.data / "opensearch.pid"
