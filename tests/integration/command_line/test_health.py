"""`fencepost health`, which the health checks of containers call."""

import signal
import socket
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.integration.command_line.conftest import Run
from tests.support import stack
from tests.support.servers import Database
from tests.support.waiting import until

NOBODY_LISTENS = {"FENCEPOST_PORT": "9"}


@pytest.mark.parametrize("kind", ["relay", "worker", "sweeper"])
def test_a_process_is_well_while_it_beats_and_not_before_or_after(
    run: Run, database: Database, broker_url: str, tmp_path: Path, kind: str
) -> None:
    variables = {"FENCEPOST_DATABASE_URL": database.url}
    assert run("health", kind, **variables).code == 1
    with stack.running(database.url, broker_url, tmp_path) as processes:
        process = processes.start(kind)
        until(lambda: run("health", kind, **variables).code == 0, what=f"a healthy {kind}")
        others = {"relay", "worker", "sweeper"} - {kind}
        assert [run("health", other, **variables).code for other in others] == [1, 1]
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    assert run("health", kind, **variables).code == 1


def test_a_process_that_is_silent_or_elsewhere_is_not_well(run: Run, database: Database) -> None:
    variables = {"FENCEPOST_DATABASE_URL": database.url}
    register = text("INSERT INTO processes (kind, host, pid) VALUES ('relay', :host, 1)")
    with database.engine.begin() as connection:
        connection.execute(register, {"host": "elsewhere"})
    assert run("health", "relay", **variables).code == 1
    with database.engine.begin() as connection:
        connection.execute(register, {"host": socket.gethostname()})
    assert run("health", "relay", **variables).code == 0
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE processes SET heartbeat_at = now() - interval '31 s'"))
    ran = run("health", "relay", "--json", **variables)
    assert (ran.code, ran.json["ok"]) == (1, False)


def test_an_api_is_well_when_it_is_ready(run: Run, database: Database, broker_url: str, tmp_path: Path) -> None:
    with stack.running(database.url, broker_url, tmp_path) as processes, stack.served(processes) as (url, _):
        port = {"FENCEPOST_PORT": url.rpartition(":")[2]}
        assert run("health", "api", **port).code == 0
        with database.engine.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
        ran = run("health", "api", **port)
        assert ran.code == 1
        assert "run `fencepost migrate`" in ran.out


def test_what_does_not_answer_is_not_well_and_said_in_one_sentence(run: Run) -> None:
    assert run("health", "api", **NOBODY_LISTENS).code == 1
    ran = run("health", "worker", FENCEPOST_DATABASE_URL="postgresql://me:secret@127.0.0.1:9/x")
    assert ran.code == 3
    assert "secret" not in ran.err
    assert len(ran.err.splitlines()) == 1
    assert run("health", "worker", FENCEPOST_DATABASE_URL="").code == 2
    assert run("health", "nonsense").code == 2
