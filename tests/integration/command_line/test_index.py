"""`fencepost index`: what it prints, and its exit codes."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from httpx import Client

from pipeline import breaker
from pipeline.builds import Phase
from pipeline.errors import IndexUnavailable
from tests.integration.command_line.conftest import Run
from tests.support.api import serving
from tests.support.indexing import Library
from tests.support.servers import Database
from tests.support.stack import ROOT, clean_environment
from tests.support.waiting import until


@pytest.fixture
def client(database: Database, library: Library) -> Iterator[Client]:
    with serving(database, library.world.settings) as client:
        yield client


def test_verify_lists_what_differs_and_fails(fencepost: Run, library: Library):
    documents = library.add_many(25)
    library.lose(*documents[:23])
    with library.at_work():
        ran = fencepost("index", "verify")
        assert ran.code == 1
        assert "25 checked: 23 missing" in ran.out
        assert sum(str(document) in ran.out for document in documents) == 20
        assert "and 3 more" in ran.err
        told = fencepost("index", "verify", "--json")
        assert told.code == 1
        assert {one["document_id"] for one in told.json["drifts"]} == {str(one) for one in documents[:23]}
        ran = fencepost("index", "verify", "--repair")
        assert (ran.code, ran.out.splitlines()[-1]) == (0, "all repaired")
        assert fencepost("index", "verify").code == 0
    info = fencepost("index", "info").out
    assert "25 checked, 0 differ" in info
    assert "repair" in info
    assert "0 differ" in fencepost("status").out


def test_rebuild_and_drop(fencepost: Run, library: Library):
    library.add_many(3)
    (old,) = [fencepost("index", "info", "--json").json["live"]["name"]]
    with library.at_work():
        ran = fencepost("index", "rebuild")
        assert (ran.code, ran.err) == (0, "")
        assert "rebuild done: 3 documents in " in ran.out
        assert "The old index is kept" in ran.out
    assert fencepost("index", "drop", old).code == 0
    assert fencepost("index", "drop", old).code == 4
    assert fencepost("index", "rebuild", "--no-wait").code == 0
    assert fencepost("index", "rebuild").code == 1
    with library.at_work():
        assert fencepost("index", "rebuild", "--cancel", "--json").json["phase"] == "cancelled"
    assert fencepost("index", "rebuild", "--cancel").code == 4


def test_what_holds_it_up_is_said_once(fencepost: Run, library: Library, monkeypatch: pytest.MonkeyPatch):
    asked: list[int] = []
    states_after = library.backend.states_after

    def away_at_first(*arguments: Any) -> Any:
        asked.append(1)
        if len(asked) < 3:
            raise IndexUnavailable("It is away.")
        return states_after(*arguments)

    library.add()
    monkeypatch.setattr(library.backend, "states_after", away_at_first)
    with library.at_work():
        ran = fencepost("index", "verify")
    assert (ran.code, ran.out) == (0, "1 checked: nothing differs\n")
    assert ran.err == "fencepost: the verification waits: It is away. It goes on by itself.\n"
    with library.world.engine.begin() as connection:
        breaker.trip(connection, breaker.INDEX, reason="It is away.")
    assert ["paused", "It", "is", "away."] in [line.split() for line in fencepost("index", "info").out.splitlines()]


def test_a_repair_that_fails_is_a_failure(fencepost: Run, library: Library):
    library.lose(library.add())
    library.world.execute("UPDATE versions SET result_id = NULL")
    library.world.execute("DELETE FROM results")
    with library.at_work():
        ran = fencepost("index", "verify", "--repair")
    assert (ran.code, ran.out.splitlines()[-1]) == (1, "repair failed")
    assert "Its text is not stored any more" in ran.err


def test_ctrl_c_leaves_it_going_on(client: Client, library: Library):
    library.add()
    command = [sys.executable, "-P", "-m", "fencepost", "index", "rebuild", "--url", str(client.base_url)]
    ran = subprocess.Popen(command, env=clean_environment(), cwd=ROOT, stderr=subprocess.PIPE, text=True)
    until(lambda: client.get("/v1/index").json()["build"], seconds=60)
    looked = library.world.row("SELECT count(*) AS n FROM builds")["n"]
    ran.send_signal(signal.SIGINT)
    _, said = ran.communicate(timeout=30)
    assert (ran.returncode, looked) == (1, 1)
    assert "goes on without you" in said
    assert library.build().phase is Phase.CREATING
