"""docker-compose.yml as Compose reads it: merged, and with the values of an .env file."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docker-compose.yml"
VARIABLE = re.compile(r"\$(?:(\$)|\{(\w+)(?::([-?])([^}]*))?\})")
PROCESSES = ("api", "relay", "worker", "sweeper")
SERVERS = ("postgres", "valkey", "opensearch")


@dataclass(frozen=True)
class Service:
    """One service, ready to run."""

    name: str
    definition: Mapping[str, Any]

    @property
    def command(self) -> list[str]:
        """What follows the entrypoint of the image."""
        return list(self.definition["command"])

    @property
    def environment(self) -> dict[str, str]:
        """Its variables."""
        return {name: str(value) for name, value in self.definition["environment"].items()}

    @property
    def health(self) -> list[str]:
        """The words of its health check, without CMD or CMD-SHELL."""
        return list(self.definition["healthcheck"]["test"][1:])

    @property
    def replicas(self) -> int:
        """How many of it run."""
        return int(self.definition["deploy"].get("replicas", 1))

    @property
    def stop_seconds(self) -> float:
        """How long it may take to end after SIGTERM."""
        return seconds(self.definition["stop_grace_period"])


def read(values: Mapping[str, str]) -> dict[str, Any]:
    """The whole file, with `values` for its variables. Raises ValueError if one is missing."""
    return _filled(YAML(typ="safe").load(FILE.read_text()), values)


def services(values: Mapping[str, str]) -> dict[str, Service]:
    """Its services by name."""
    return {name: Service(name, definition) for name, definition in read(values)["services"].items()}


def made_env(folder: Path) -> dict[str, str]:
    """The values of an .env that deploy/make-env has made in a copy of the repository's files."""
    (folder / "deploy").mkdir()
    shutil.copy(ROOT / "deploy" / "make-env", folder / "deploy")
    shutil.copy(ROOT / ".env.example", folder)
    subprocess.run([folder / "deploy" / "make-env"], check=True, capture_output=True)
    return env_file(folder / ".env")


def env_file(path: Path) -> dict[str, str]:
    """The values of a file like .env."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def variables() -> set[str]:
    """The names of all variables that the file mentions."""
    return {found[2] for found in VARIABLE.finditer(FILE.read_text()) if found[2]}


def seconds(duration: str) -> float:
    """The seconds of a duration such as 20s."""
    written = re.fullmatch(r"(\d+)s", duration)
    assert written, f"{duration!r} is not written in seconds"
    return float(written[1])


def _filled(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _filled(each, values) for name, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, values) for each in value]
    return VARIABLE.sub(lambda found: _value(found, values), value) if isinstance(value, str) else value


def _value(found: re.Match[str], values: Mapping[str, str]) -> str:
    dollar, name, kind, otherwise = found.groups()
    if dollar:
        return "$"
    if values.get(name):
        return values[name]
    if kind == "?":
        msg = f"{name}: {otherwise}"
        raise ValueError(msg)
    return otherwise or ""
