"""Commands that need no server of their own: help, config, doctor, migrate, extract."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import fencepost.cli
from fencepost.cli.diagnosis import foreign
from fencepost.local.opensearch import LocalOpenSearch
from fencepost.local.ports import free_port
from indexer.extract.isolation import sandbox
from tests.integration.command_line.conftest import Run
from tests.support import tesseract
from tests.support.servers import Database
from tests.support.stack import clean_environment

COMMANDS = [
    *(
        command.name or command.callback.__name__
        for command in fencepost.cli.app.registered_commands
        if command.callback
    ),
    *(
        f"{group.typer_instance.info.name} {command.name or command.callback.__name__}"
        for group in fencepost.cli.app.registered_groups
        for command in group.typer_instance.registered_commands  # type: ignore[union-attr] # a group has an instance
        if command.callback
    ),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example_and_speaks_json(run: Run, command: str) -> None:
    ran = run(*command.split(), "--help")
    assert ran.code == 0
    assert f"fencepost {command}" in ran.out
    assert "Examples:" in ran.out
    assert "--json" in ran.out


def test_help_is_quick_and_imports_nothing_heavy() -> None:
    code = "import sys; import fencepost.cli; print(*sys.modules)"
    began = time.process_time()
    done = subprocess.run([sys.executable, "-P", "-c", code], env=clean_environment(), capture_output=True, check=True)
    loaded = set(done.stdout.decode().split())
    heavy = {"sqlalchemy", "fastapi", "httpx", "pydantic", "dramatiq", "structlog", "uvicorn", "redis", "psycopg"}
    assert not loaded & heavy
    assert time.process_time() - began < 5


def test_an_unknown_command_or_option_is_2(run: Run) -> None:
    assert run("nonsense").code == 2
    assert run("list", "--nonsense").code == 2
    assert run("up", "--port", "70000").code == 2
    assert run("worker", "--partitions", "x", FENCEPOST_DATABASE_URL="postgresql:///x").code == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FENCEPOST_PORT", "x"),
        ("FENCEPOST_NO_SUCH", "1"),
        ("FENCEPOST_LEASE", "{}"),
        ("FENCEPOST_LEASE__NO_SUCH", "1"),
        ("FENCEPOST_LEASE__SECONDS", "5"),
        ("FENCEPOST_LOG_LEVEL", "loud"),
        ("FENCEPOST_WORKER__PARTITIONS", "7-x"),
        ("FENCEPOST_WORKER__PARTITIONS", "0-99"),
        ("FENCEPOST_DATABASE_URL", "secret"),
        ("FENCEPOST_DATABASE_URL", "mysql://me:secret@db/x"),
        ("FENCEPOST_DATABASE_URL", "postgresql://me:se/secret@db/x"),
        ("FENCEPOST_DATABASE_DIRECT_URL", "postgresql://[secret/x"),
        ("FENCEPOST_BROKER_URL", "postgresql://me:secret@db/x"),
        ("FENCEPOST_URL", "127.0.0.1:8000"),
        ("FENCEPOST_KEY", "secret"),
        ("FENCEPOST_REQUIRE_KEYS", "perhaps"),
        ("FENCEPOST_SESSION_HOURS", "0"),
    ],
)
@pytest.mark.parametrize("command", ["config", "api", "worker", "up"])
def test_a_bad_setting_is_one_sentence_that_names_it(run: Run, command: str, name: str, value: str) -> None:
    ran = run(command, **{name: value})
    assert ran.code == 2
    assert re.match(rf"fencepost: {name}( |: )", ran.err)
    assert len(ran.err.splitlines()) == 1
    assert "secret" not in ran.err


@pytest.mark.parametrize("variable", [("FENCEPOST_LEASE__SECONDS", "29"), ("FENCEPOST_LEASE__BEAT_SECONDS", "11")])
def test_a_lease_shorter_than_three_beats_is_refused_whichever_is_set(run: Run, variable: tuple[str, str]) -> None:
    ran = run("config", **dict([variable]))
    assert ran.code == 2
    assert "FENCEPOST_LEASE__SECONDS: a lease of " in ran.err


def test_an_address_on_the_command_line_that_is_none_is_2(run: Run) -> None:
    for url in ("127.0.0.1:8000", "http://[::1", "ftp://127.0.0.1"):
        assert run("list", "--url", url).code == 2


def test_config_tells_values_and_sources_and_hides_passwords(run: Run) -> None:
    variables = {"FENCEPOST_DATABASE_URL": "postgresql://me:secret@db/x", "FENCEPOST_LEASE__SECONDS": "60"}
    ran = run("config", "--json", **variables)
    assert "secret" not in ran.out
    rows = {row["name"]: (row["value"], row["source"]) for row in ran.json}
    assert rows["FENCEPOST_DATABASE_URL"] == ("postgresql://me:***@db/x", "environment")
    assert rows["FENCEPOST_LEASE__SECONDS"] == (60, "environment")
    assert rows["FENCEPOST_LEASE__BEAT_SECONDS"] == (10, "default")
    assert rows["FENCEPOST_PARTITIONS"] == (16, "default")


def test_migrate_says_what_it_did(run: Run, database: Database) -> None:
    ran = run("migrate", "--json", FENCEPOST_DATABASE_URL=database.url)
    assert ran.code == 0
    assert ran.json["before"] == ran.json["after"]
    assert run("migrate", FENCEPOST_DATABASE_URL="").code == 2
    away = run("migrate", FENCEPOST_DATABASE_URL="postgresql://nobody:secret@127.0.0.1:9/x")
    assert away.code == 3
    assert "secret" not in away.err
    assert len(away.err.splitlines()) == 1


def test_doctor_finds_a_server_that_is_away_and_a_broker_that_drops_messages(
    run: Run, database: Database, broker_url: str
) -> None:
    variables = {
        "FENCEPOST_DATABASE_URL": database.url,
        "FENCEPOST_BROKER_URL": broker_url,
        "FENCEPOST_URL": "http://127.0.0.1:9",
    }
    ran = run("doctor", "--json", **variables)
    found = {finding["check"]: finding["ok"] for finding in ran.json}
    assert ran.code == 1
    assert found == {
        "settings": True,
        "packages": True,
        "extraction sandbox": None if sandbox.summary() == sandbox.NONE else True,
        "database": True,
        "broker": True,
        "ocr": None,
        "server": False,
        "processes": None,
        "breakers": None,
    }


def test_doctor_looks_at_opensearch_where_it_is_used(run: Run, opensearch: LocalOpenSearch) -> None:
    def finding(**variables: str) -> dict[str, Any]:
        ran = run("doctor", "--json", FENCEPOST_URL="http://127.0.0.1:9", **variables)
        return next(each for each in ran.json if each["check"] == "opensearch")

    unset = finding(FENCEPOST_SEARCH="opensearch")
    assert (unset["ok"], unset["finding"].split(";")[0]) == (None, "FENCEPOST_OPENSEARCH_URL is not set")
    well = finding(FENCEPOST_OPENSEARCH_URL=opensearch.url)
    words = r"3\.\d+\.\d+ answers and is \w+; nodes: 1, heap: \d+ of 49\d MiB used, disk: [\d,.]+ GiB free"
    assert well["ok"]
    assert re.fullmatch(words, well["finding"])
    away = finding(FENCEPOST_OPENSEARCH_URL=f"http://127.0.0.1:{free_port()}")
    assert (away["ok"], away["finding"]) == (False, "OpenSearch cannot be reached.")


def test_languages_that_tesseract_has_not_are_refused_where_people_see_it(
    run: Run, database: Database, broker_url: str, tmp_path: Path
) -> None:
    variables = {
        "FENCEPOST_DATABASE_URL": database.url,
        "FENCEPOST_BROKER_URL": broker_url,
        "FENCEPOST_URL": "http://127.0.0.1:9",
        "FENCEPOST_EXTRACT__OCR_LANGUAGES": "tlh",
    }
    said = "FENCEPOST_EXTRACT__OCR_LANGUAGES cannot be tlh: Tesseract "
    found = {finding["check"]: finding for finding in run("doctor", "--json", **variables).json}
    assert found["ocr"]["ok"] is False
    assert found["ocr"]["finding"].startswith(said)
    (tmp_path / "note.txt").write_text("A lighthouse keeper's log.")
    for refused in (run("extract", tmp_path / "note.txt", **variables), run("worker", **variables)):
        assert (refused.code, refused.err.startswith(f"fencepost: {said}")) == (2, True)


@pytest.mark.skipif(not sandbox.landlock_version(), reason="no Landlock here")
def test_doctor_tries_tesseract_where_documents_are_read(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def finding() -> dict[str, Any]:
        variables = {"FENCEPOST_EXTRACT__OCR_LANGUAGES": "eng", "FENCEPOST_URL": "http://127.0.0.1:9"}
        return next(each for each in run("doctor", "--json", **variables).json if each["check"] == "ocr")

    wrapper = tesseract.copied(tmp_path / "own").wrapped(tmp_path / "wrapper")
    monkeypatch.setenv("PATH", str(wrapper))
    assert (finding()["ok"], finding()["finding"]) == (True, "Tesseract reads eng")
    hidden = tesseract.script(tmp_path / "hidden", f'exec {wrapper}/tesseract "$@"')
    monkeypatch.setenv("PATH", str(hidden))
    assert finding()["ok"] is False
    assert "does not work in the sandbox" in finding()["finding"]


def test_another_package_of_our_name_is_found() -> None:
    assert foreign({"pipeline": ["fencepost"]}, "pipeline") is None
    assert (
        foreign({"pipeline": ["fencepost", "other-pipeline"]}, "pipeline") == "pipeline also comes with other-pipeline"
    )
    assert "instead of" in str(foreign({}, "json"))


def test_extract_shows_what_would_be_indexed(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "note.txt"
    file.write_text("A lighthouse keeper's log.")
    answer = run("extract", file, "--json").json
    assert (answer["media_type"], answer["text_quality"]) == ("text/plain", "ok")
    assert answer["passages"] == [{"n": 1, "page": None, "text": "A lighthouse keeper's log."}]
    assert "lighthouse" in run("extract", file).out
    (tmp_path / "empty.txt").touch()
    ran = run("extract", tmp_path / "empty.txt", "--json")
    assert (ran.code, json.loads(ran.out)["code"]) == (1, "empty_file")
    assert "no bytes" in run("extract", tmp_path / "empty.txt").err
