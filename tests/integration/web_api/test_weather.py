"""A real API process in bad weather: PostgreSQL away, killed at the commit, and files as large as they may be."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from subprocess import Popen

import httpx
import psycopg
import pytest
from sqlalchemy import text

from fencepost.local.ports import free_port
from fencepost.local.postgres import LocalPostgres
from pipeline.relay import CHANNEL
from tests.support.servers import Database
from tests.support.stack import Stack, running
from tests.support.waiting import until
from tests.support.world import World

MIB = 1024 * 1024


@pytest.fixture
def stack(database: Database, broker_url: str, tmp_path: Path) -> Iterator[Stack]:
    """Real processes."""
    with running(database.url, broker_url, tmp_path) as stack:
        yield stack


Start = Callable[..., tuple[Popen[bytes], httpx.Client]]


@pytest.fixture
def start(stack: Stack) -> Iterator[Start]:
    """Starts an API process with variables, waits until it answers, and gives a client of it."""
    with ExitStack() as clients:

        def run(**variables: str) -> tuple[Popen[bytes], httpx.Client]:
            port = free_port()
            process = stack.start("api", FENCEPOST_PORT=str(port), **variables)
            client = clients.enter_context(
                httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False)
            )
            until(lambda: answers(client, process), what="the API")
            return process, client

        yield run


def answers(client: httpx.Client, process: Popen[bytes]) -> bool:
    """Whether the process serves by now."""
    try:
        return client.get("/health/live").is_success
    except httpx.TransportError:
        assert process.poll() is None, "the API process has ended"
        return False


def memory(process: Popen[bytes]) -> int:
    """The resident bytes of a process."""
    (line,) = [row for row in Path(f"/proc/{process.pid}/status").read_text().splitlines() if row.startswith("VmRSS")]
    return int(line.split()[1]) * 1024


def test_without_postgres_it_says_503_and_recovers_by_itself(start: Start, postgres: LocalPostgres) -> None:
    process, client = start()
    assert client.post("/v1/documents", content=b"before").status_code == 202
    postgres.stop()
    for answer in (
        client.post("/v1/documents", content=b"x"),
        client.get("/v1/documents"),
        client.get("/health/ready"),
    ):
        assert answer.status_code == 503
    problem = client.post("/v1/documents", content=b"x")
    assert (problem.json()["code"], problem.headers["Retry-After"]) == ("database_unavailable", "2")
    (line,) = client.post("/v1/documents/bulk", content=b'{"text": "x"}').text.splitlines()
    assert '"code":"database_unavailable"' in line
    assert client.get("/health/live").status_code == 200
    postgres.start()
    until(lambda: client.get("/health/ready").status_code == 200)
    assert client.post("/v1/documents", content=b"after").status_code == 202
    assert process.poll() is None


def test_it_starts_without_postgres_and_registers_when_that_is_back(
    start: Start, postgres: LocalPostgres, world: World
) -> None:
    postgres.stop()
    _, client = start()
    assert client.get("/health/ready").status_code == 503
    postgres.start()
    until(lambda: client.get("/health/ready").status_code == 200)
    until(lambda: world.rows("SELECT FROM processes WHERE kind = 'api' AND locked_at IS NOT NULL"))


@pytest.mark.parametrize(("point", "stays"), [("before_accept_commit", 0), ("after_accept_commit", 1)])
def test_killed_at_the_commit_all_of_it_is_there_or_nothing(
    start: Start, tmp_path: Path, world: World, point: str, stays: int
) -> None:
    token = tmp_path / "token"
    process, client = start(FENCEPOST_FAULT=f"kill:{point}", FENCEPOST_FAULT_TOKEN=str(token))
    token.touch()
    with pytest.raises(httpx.TransportError):
        client.post("/v1/documents?key=a", content=b"precious", headers={"Idempotency-Key": "once"})
    assert process.wait(10) == -9
    counts = [
        world.row(f"SELECT count(*) FROM {table}")["count"] for table in ("versions", "contents", "jobs", "outbox")
    ]
    assert counts == [stays] * 4
    world.check()
    _, client = start()  # the client asks again, as it must
    answer = client.post("/v1/documents?key=a", content=b"precious", headers={"Idempotency-Key": "once"})
    assert (answer.status_code, answer.json()["input_version"]) == (202, 1)
    assert ("Idempotency-Replayed" in answer.headers) == bool(stays)
    world.check()


def test_an_upload_of_200_megabytes_fills_no_memory_and_opens_no_transaction(
    start: Start, world: World, database: Database
) -> None:
    process, client = start()
    client.post("/v1/documents", content=b"x" * 3 * MIB)  # what is imported at the first request is there now
    before = memory(process)
    highest, transactions = before, 0
    block = os.urandom(MIB)

    def body() -> Iterator[bytes]:
        nonlocal highest, transactions
        for n in range(200):
            yield block
            if n % 10 == 0:
                highest = max(highest, memory(process))
                transactions += open_transactions(database)

    answer = client.post("/v1/documents", content=body())
    peak = int(
        next(r for r in Path(f"/proc/{process.pid}/status").read_text().splitlines() if r.startswith("VmHWM")).split()[
            1
        ]
    )
    assert answer.status_code == 202, answer.text
    assert transactions == 0
    assert max(highest, peak * 1024) - before < 32 * MIB
    assert world.row("SELECT max(size) AS size FROM contents")["size"] == 200 * MIB
    read = sum(len(chunk) for chunk in downloaded(client, answer.json()["links"]["content"]))
    assert read == 200 * MIB
    assert memory(process) - before < 32 * MIB


def downloaded(client: httpx.Client, path: str) -> Iterator[bytes]:
    with client.stream("GET", path) as response:
        yield from response.iter_raw()


def open_transactions(database: Database) -> int:
    with database.engine.connect() as connection:
        count: int = connection.execute(
            text(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL"
                " AND application_name = 'fencepost api'"
            )
        ).scalar_one()
    return count


def test_relays_are_told_after_each_kind_of_commit(start: Start, database: Database) -> None:
    _, client = start()
    with psycopg.connect(database.url, autocommit=True) as listener:
        listener.execute(f"LISTEN {CHANNEL}")
        location = client.post("/v1/documents", content=b"one").headers["Location"]
        assert list(listener.notifies(timeout=10, stop_after=1))
        client.post("/v1/documents/bulk", content=b'{"text": "two"}')
        assert list(listener.notifies(timeout=10, stop_after=1))
        client.delete(location)
        assert list(listener.notifies(timeout=10, stop_after=1))


def test_where_others_can_reach_it_nobody_comes_in_until_a_key_is_made(start: Start, stack: Stack) -> None:
    _, client = start(FENCEPOST_HOST="0.0.0.0")  # noqa: S104 - is what is tested
    for path in ("/", "/v1/documents", "/v1/openapi.json", "/v1/overview", "/nowhere"):
        assert client.get(path).status_code == 401
    assert client.get("/health/ready").status_code == 200
    until(lambda: "fencepost keys create NAME --scope admin" in stack.logs(), what="the hint")

    made = stack.start("keys", "create", "admin", "--scope", "admin")
    assert made.wait(60) == 0
    token = next(word for word in stack.logs().split() if word.startswith("fp_"))
    assert client.get("/v1/overview", headers={"Authorization": f"Bearer {token}"}).status_code == 200

    process, _ = start(FENCEPOST_REQUIRE_KEYS="true")
    process.terminate()
    process.wait(15)
    assert stack.logs().count("keys.missing") == 1, "now there is one"


def test_it_stops_on_sigterm_with_exit_code_0_and_says_goodbye(start: Start, world: World) -> None:
    process, _ = start()
    until(lambda: world.rows("SELECT FROM processes WHERE kind = 'api'"))
    process.terminate()
    assert process.wait(10) == 0
    assert world.rows("SELECT FROM processes WHERE kind = 'api' AND ended_at IS NOT NULL")


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"FENCEPOST_HOST": "192.0.2.1"}, "FENCEPOST_HOST"),
        ({"FENCEPOST_HOST": "no.such.host.invalid"}, "FENCEPOST_HOST"),
        ({"FENCEPOST_KEY": "fp_0123"}, "FENCEPOST_KEY"),
        ({"FENCEPOST_PORT": "70000"}, "FENCEPOST_PORT"),
        ({"FENCEPOST_NONSENSE": "1"}, "FENCEPOST_NONSENSE"),
        ({"FENCEPOST_DATABASE_URL": ""}, "FENCEPOST_DATABASE_URL"),
    ],
)
def test_bad_settings_are_one_sentence_and_exit_code_2(stack: Stack, variables: dict[str, str], sentence: str) -> None:
    process = stack.start("api", **variables)
    assert process.wait(20) == 2
    (line,) = [line for line in stack.logs().splitlines() if not line.startswith("---")]
    assert sentence in line


def test_a_port_that_is_taken_is_said(stack: Stack) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        process = stack.start("api", FENCEPOST_PORT=str(other.getsockname()[1]))
        assert process.wait(20) == 2
    assert "FENCEPOST_PORT" in stack.logs()
