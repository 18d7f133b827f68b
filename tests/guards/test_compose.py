"""docker-compose.yml has the form of compose files, and agrees with the code, with .env.example and with the tests."""

import hashlib
import re
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer.main

from fencepost.cli import app
from fencepost.local import binaries, jars
from pipeline import settings
from tests.support import compose
from tests.support.compose import PROCESSES, ROOT, SERVERS

VALUES = {"DATABASE_PASSWORD": "1", "BROKER_PASSWORD": "2"}
SERVICES = compose.services(VALUES)
OURS = (*PROCESSES, "migrate")
COMMANDS: Any = typer.main.get_command(app)
SPEC = ROOT / "tests" / "guards" / "compose-spec"


def follows_the_schema(file: Path) -> bool:
    """Whether a file is what the Compose specification says."""
    program = [sys.executable, "-m", "check_jsonschema", "--schemafile", SPEC / "compose-spec.json", file]
    return subprocess.run(program, capture_output=True, check=False).returncode == 0


def test_it_follows_the_schema_of_compose_files(tmp_path: Path) -> None:
    assert follows_the_schema(compose.FILE)
    wrong = tmp_path / "docker-compose.yml"
    wrong.write_text(compose.FILE.read_text().replace("stop_grace_period:", "stop_grace_time:"))
    assert not follows_the_schema(wrong)


def test_the_schema_is_the_one_that_is_documented_and_has_its_licence() -> None:
    schema = hashlib.sha256((SPEC / "compose-spec.json").read_bytes()).hexdigest()
    assert schema in (SPEC / "README.md").read_text()
    assert "Apache License" in (SPEC / "LICENSE").read_text()


def test_it_has_every_part_of_production() -> None:
    assert set(SERVICES) == {*SERVERS, *OURS}
    assert {name: SERVICES[name].replicas for name in PROCESSES} == {"api": 1, "relay": 2, "worker": 2, "sweeper": 1}


@pytest.mark.parametrize("name", OURS)
def test_our_commands_and_settings_exist(name: str) -> None:
    service = SERVICES[name]
    COMMANDS.commands[service.command[0]].make_context(service.command[0], service.command[1:]).close()
    ours = {variable for variable in service.environment if variable.startswith("FENCEPOST_")}
    assert ours
    assert not ours - settings._names(settings.Settings)
    assert all(variable.startswith("FENCEPOST_") for variable in service.environment)


@pytest.mark.parametrize("name", PROCESSES)
def test_our_health_checks_exist(name: str) -> None:
    words = SERVICES[name].health
    assert words == ["fencepost", "health", name]
    COMMANDS.commands["health"].make_context("health", words[2:]).close()


def test_every_variable_is_in_env_example_and_a_missing_secret_is_said() -> None:
    example = compose.env_file(ROOT / ".env.example")
    assert set(example) == compose.variables()
    for name in example:
        if name.endswith("_PASSWORD"):
            assert example[name] == ""
            with pytest.raises(ValueError, match=f"{name}: run deploy/make-env"):
                compose.read({**VALUES, name: ""})
    assert compose.services({**example, **VALUES}) == SERVICES, "the example has the defaults"


def test_make_env_makes_secrets_once(tmp_path: Path) -> None:
    first = compose.made_env(tmp_path)
    passwords = [value for name, value in first.items() if name.endswith("_PASSWORD")]
    assert len(set(passwords)) == 2
    assert all(re.fullmatch("[0-9a-f]{48}", password) for password in passwords)
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    again = subprocess.run([tmp_path / "deploy" / "make-env"], capture_output=True, check=False)
    assert again.returncode == 1
    assert compose.env_file(tmp_path / ".env") == first


def test_secrets_stay_out_of_git_and_out_of_the_image() -> None:
    assert ".env" in (ROOT / ".gitignore").read_text().splitlines()
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    assert rules[0] == "*"
    assert not any(rule.startswith("!.env") for rule in rules)


def test_only_the_api_can_be_reached_and_from_this_host_only_unless_someone_says_otherwise() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service.definition] == ["api"]
    assert SERVICES["api"].definition["ports"] == ["127.0.0.1:8000:8000"]
    assert SERVICES["api"].environment["FENCEPOST_REQUIRE_KEYS"] == "true"
    networks = compose.read(VALUES)["networks"]
    assert {name for name, network in networks.items() if network.get("internal")} == {"servers", "engine"}
    assert {name for name, service in SERVICES.items() if "front" in service.definition["networks"]} == {"api"}


@pytest.mark.parametrize("name", SERVICES)
def test_every_container_is_held_tight(name: str) -> None:
    definition = SERVICES[name].definition
    assert definition["cap_drop"] == ["ALL"]
    assert definition["security_opt"] == ["no-new-privileges:true"]
    assert "cap_add" not in definition
    assert set(definition["deploy"]["resources"]["limits"]) == {"cpus", "memory", "pids"}
    assert definition["restart"] == ("on-failure:5" if name == "migrate" else "unless-stopped")
    assert "healthcheck" in definition or name == "migrate"
    assert definition.get("read_only") or name == "opensearch", "OpenSearch writes beside its program"


def test_containers_have_longer_to_stop_than_their_processes_take() -> None:
    tree = settings.Settings()
    assert SERVICES["worker"].stop_seconds >= 2 * tree.worker.stop_grace_seconds + 10
    assert all(SERVICES[name].stop_seconds >= 20 for name in PROCESSES)


def test_extractions_fit_into_a_worker() -> None:
    extract = settings.Settings().extract
    limit = SERVICES["worker"].definition["deploy"]["resources"]["limits"]["memory"]
    assert limit.endswith("g")
    assert int(limit[:-1]) * 1024**3 >= extract.processes * extract.memory_bytes + 1024**3


def test_images_are_those_of_this_release_and_of_the_tested_servers() -> None:
    images = {name: SERVICES[name].definition["image"] for name in SERVICES}
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert {images[name] for name in OURS} == {f"fencepost:{version}"}
    assert images["postgres"] == f"postgres:{told(binaries.postgres() / 'postgres')}"
    assert images["valkey"] == f"valkey/valkey:{told(binaries.valkey())}"
    assert images["opensearch"] == f"opensearchproject/opensearch:{jars.VERSION}"


def test_postgres_and_valkey_are_set_up_as_in_the_tests() -> None:
    assert (
        "--locale-provider=builtin --builtin-locale=C.UTF-8" in SERVICES["postgres"].environment["POSTGRES_INITDB_ARGS"]
    )
    assert "maxmemory-policy noeviction\n" in SERVICES["valkey"].command[2]


def told(program: Path) -> str:
    """The version that a server says it has."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"\d+(\.\d+)+", said)
    assert found
    return found[0]
