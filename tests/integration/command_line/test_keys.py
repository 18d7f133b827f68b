"""`fencepost keys`, on the database and over HTTP; and what commands do with a key."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from fencepost.client import Answered, Client
from pipeline import keys
from pipeline.caller import Scope
from pipeline.settings import TOKEN
from tests.integration.command_line.conftest import Run
from tests.support import api, shelves
from tests.support.servers import Database
from tests.support.shelves import Scene
from tests.support.world import World


@pytest.fixture
def scene(database: Database) -> Iterator[Scene]:
    with shelves.staged(database) as scene:
        yield scene


@pytest.fixture
def keyed(run: Run, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Commands that find a server which asks for keys, and do not know its database."""
    monkeypatch.setenv("FENCEPOST_URL", str(scene.client.base_url))
    return run


def test_the_first_key_needs_only_the_database(run: Run, scene: Scene, database: Database) -> None:
    made = run("keys", "create", "admin", "--scope", "admin", FENCEPOST_DATABASE_URL=database.url)

    token = made.out.strip()
    assert (made.code, TOKEN.fullmatch(token) is not None) == (0, True), made.err
    assert "only time" in made.err
    assert scene.ask(token, "GET", "/v1/workers").status_code == 200
    listed = run("keys", "list")
    assert re.search(rf"{keys.prefix_of(token)}.*Z .*never", listed.out), "times say their zone"
    assert token not in listed.out
    assert run("keys", "revoke", token).out == f"revoked {keys.prefix_of(token)} (admin)\n"
    assert scene.ask(token, "GET", "/v1/workers").status_code == 401


def test_with_an_administrator_s_key_keys_are_made_over_http(keyed: Run, scene: Scene) -> None:
    options = ("--scope", "write", "-c", "papers", "--collection", "mail", "--days", "7", "--json")
    made = keyed("keys", "create", "scanner", *options, FENCEPOST_KEY=scene.key()).json

    assert (made["scope"], made["collections"], made["expires_at"] is not None) == ("write", ["mail", "papers"], True)
    assert scene.ask(made["key"], "POST", "/v1/documents?collection=mail", content=b"x").status_code == 202
    row = next(row for row in keyed("keys", "list", "--json").json if row["prefix"] == made["prefix"])
    assert (row["name"], row["state"]) == ("scanner", "usable")
    assert keyed("keys", "revoke", made["prefix"], "--json").json["state"] == "revoked"
    assert scene.ask(made["key"], "GET", "/v1/documents").status_code == 401


def test_without_a_key_commands_say_which_setting_is_missing(keyed: Run, scene: Scene) -> None:
    none = keyed("list")
    assert (none.code, none.out) == (2, "")
    assert "set FENCEPOST_KEY" in none.err
    token = scene.key()
    wrong = keyed("list", FENCEPOST_KEY=token[:12] + "0" * 64)
    assert (wrong.code, "The key in FENCEPOST_KEY is not known" in wrong.err) == (2, True)
    assert keyed("list", FENCEPOST_KEY=token).code == 4, "there is nothing"


def test_too_small_a_key_is_told_as_a_failure(keyed: Run, scene: Scene) -> None:
    status = keyed("status", FENCEPOST_KEY=scene.key(Scope.READ))
    assert (status.code, "needs the scope admin" in status.err) == (1, True)
    add = keyed("keys", "create", "x", FENCEPOST_KEY=scene.key(Scope.ADMIN, "papers"))
    assert (add.code, "only for papers" in add.err) == (1, True)


def test_where_the_first_key_is_made_is_said(keyed: Run, tmp_path: Path) -> None:
    over_http = keyed("keys", "create", "admin", "--scope", "admin")
    assert (over_http.code, "The first one is made on the database" in over_http.err) == (2, True)
    nothing_runs = keyed("keys", "create", "admin", "--scope", "admin", "--data", tmp_path)
    assert nothing_runs.code == 3
    assert f"No `fencepost up` runs with its data in {tmp_path}." in nothing_runs.err


def test_a_refused_delete_or_look_says_only_why(keyed: Run, scene: Scene) -> None:
    assert keyed("delete", "a.txt").code == 2
    found = {one["check"]: one["finding"] for one in keyed("doctor", "--json").json}
    assert "set FENCEPOST_KEY" in found["processes"]
    assert "set FENCEPOST_KEY" in found["breakers"]
    assert keyed("add", __file__, "--key", "a.txt", FENCEPOST_KEY=scene.key()).code == 0
    refused = keyed("delete", "a.txt", FENCEPOST_KEY=scene.key(Scope.READ))
    assert (refused.code, refused.out, "needs the scope write" in refused.err) == (1, "", True)


def test_files_are_added_and_found_with_a_key(
    keyed: Run, scene: Scene, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("papers")
    (folder / "a.txt").write_text("words")
    token = scene.key(Scope.WRITE, "papers")
    assert keyed("add", folder, "--collection", "papers", FENCEPOST_KEY=token).code == 0
    refused = keyed("add", folder, FENCEPOST_KEY=token)
    assert (refused.code, "is only for papers, not for default" in refused.err) == (1, True)
    assert keyed("show", "a.txt", "--json", FENCEPOST_KEY=token).json["collection"] == "papers"


@pytest.mark.parametrize("wrong", ["secret", "fp_0123", "fp_00000000_" + "G" * 64, "Bearer x\r\nA: b"])
def test_what_cannot_be_a_key_is_never_repeated(keyed: Run, wrong: str) -> None:
    ran = keyed("list", FENCEPOST_KEY=wrong)
    assert (ran.code, ran.err.startswith("fencepost: FENCEPOST_KEY: write a key as")) == (2, True)
    assert wrong not in ran.err


def test_the_settings_in_force_show_a_key_by_its_prefix(run: Run) -> None:
    token = "fp_0a1b2c3d_" + "4" * 64
    shown = run("config", FENCEPOST_KEY=token).out
    assert "fp_0a1b2c3d_***" in shown
    assert "4444" not in shown


def test_a_mistaken_argument_is_not_repeated_either(run: Run, database: Database) -> None:
    token = "fp_0a1b2c3d_" + "4" * 64
    ran = run("keys", "revoke", token, FENCEPOST_DATABASE_URL=database.url)
    assert (ran.code, "There is no such key" in ran.err, "4444" in ran.err) == (4, True, False)
    shown = run("show", token, FENCEPOST_URL="http://127.0.0.1:9")
    assert "4444" not in shown.err


def test_bad_keys_and_old_databases_are_one_sentence(run: Run, database: Database, world: World) -> None:
    address = {"FENCEPOST_DATABASE_URL": database.url}
    assert run("keys", "create", "", **address).code == 2
    assert run("keys", "create", "x", "--days", "-1", **address).code == 2
    scope = run("keys", "create", "x", "--scope", "all", **address)
    assert (scope.code, "'all' is not one of" in scope.err, "Value error" in scope.err) == (2, True, False)
    assert run("keys", "list", **address).code == 4
    world.execute("UPDATE alembic_version SET version_num = '0001'")
    old = run("keys", "list", **address)
    assert (old.code, "fencepost migrate" in old.err) == (1, True)
    away = run("keys", "list", FENCEPOST_DATABASE_URL="postgresql://u:hidden@127.0.0.1:9/x")
    assert (away.code, "hidden" in away.err) == (3, False)


def test_a_key_goes_to_the_server_that_is_asked_and_is_not_in_what_is_printed_of_the_client(database: Database) -> None:
    with shelves.staged(database) as scene:
        token = scene.key()
        with Client(str(scene.client.base_url), SecretStr(token)) as client:
            assert client.get("/v1/documents")["items"] == []
            assert token not in repr(vars(client))
        with Client(str(scene.client.base_url)) as client, pytest.raises(Answered, match="set FENCEPOST_KEY"):
            client.get("/v1/documents")


def test_where_no_key_is_asked_for_one_does_no_harm(run: Run, database: Database) -> None:
    with api.serving(database) as client:
        ran = run("list", FENCEPOST_URL=str(client.base_url), FENCEPOST_KEY="fp_0a1b2c3d_" + "4" * 64)
    assert ran.code == 4
