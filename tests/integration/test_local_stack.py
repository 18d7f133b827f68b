"""The supervised stack as a process of its own: told to stop, killed, started again, and what it refuses."""

import os
import re
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic

import httpx
import psycopg
import pytest

from fencepost.client import Unreachable
from fencepost.local import stack
from fencepost.local.ports import free_port
from pipeline.settings import load
from tests.support import leaks
from tests.support.running_stack import RunningStack, all_ended
from tests.support.servers import Database
from tests.support.waiting import until

Run = Callable[..., RunningStack]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Starts stacks on one data folder, with servers of their own, and ends them after the test."""
    started: list[RunningStack] = []

    def start(*arguments: str, **variables: str) -> RunningStack:
        started.append(RunningStack(tmp_path / "data", *arguments, **variables))
        return started[-1]

    yield start
    for each in started:
        each.close()


@pytest.fixture
def run_light(run: Run, database: Database, broker_url: str) -> Run:
    """The same with the servers of the session, where a test is not about servers."""
    return partial(run, FENCEPOST_DATABASE_URL=database.url, FENCEPOST_BROKER_URL=broker_url)


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
def test_a_stack_stops_cleanly_within_ten_seconds_with_nothing_left(run: Run, told: signal.Signals) -> None:
    before = set(leaks.descendants())
    running = run()
    running.hears("ready at")
    assert httpx.get(f"{running.url}/health/ready", trust_env=False).status_code == 200
    began = monotonic()
    assert running.told(told) == 0
    assert monotonic() - began < 10
    assert set(leaks.descendants()) == before
    assert running.url == ""
    assert list((running.data / "running").iterdir()) == []
    assert (running.data / "postgres.log").read_text().rstrip().endswith("database system is shut down")


def test_after_a_kill_of_the_supervisor_all_end_and_the_next_start_recovers(run: Run) -> None:
    first = run()
    first.hears("ready at")
    tree = [pid for pid in leaks.descendants() if pid != first.process.pid]
    assert len(tree) > 7
    assert first.told(signal.SIGKILL) == -signal.SIGKILL
    children = [first.pid_of(name) for name in ("api", "worker-1", "sweeper")]
    second = run()
    second.hears("ready at")
    assert all_ended(children)
    assert second.told(signal.SIGTERM) == 0


def test_a_second_stack_on_the_same_folder_is_refused_by_name(run_light: Run) -> None:
    first = run_light()
    first.hears("ready at")
    second = run_light()
    assert second.code() == 1
    refusal = f"{first.data} is in use by process {first.process.pid}; stop that, or choose another --data."
    assert second.lines == [refusal]
    assert httpx.get(f"{first.url}/health/ready", trust_env=False).status_code == 200


def test_a_killed_child_is_started_again_and_that_is_said(run_light: Run) -> None:
    running = run_light()
    running.hears("ready at")
    pid = running.pid_of("worker-1")
    os.kill(pid, signal.SIGKILL)
    assert re.match(r"worker-1 +ended with signal 9; started again in 0\.5 s$", running.hears("ended with"))
    until(lambda: running.pid_of("worker-1") not in (0, pid))


def test_a_killed_postgres_is_started_again_on_its_address(run: Run) -> None:
    running = run()
    running.hears("ready at")
    note = running.data / "postgres" / "postmaster.pid"
    pid, *_, port = note.read_text().splitlines()[:4]
    os.kill(int(pid), signal.SIGKILL)
    running.hears("ended with signal 9")
    until(lambda: note.exists() and not note.read_text().startswith(pid) and "ready" in note.read_text(), seconds=20)
    assert note.read_text().splitlines()[3] == port


def test_a_taken_default_port_is_replaced_and_that_is_said(run_light: Run) -> None:
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):  # somebody else has taken it already
            other.bind(("127.0.0.1", 8000))
            other.listen()
        running = run_light()
        said = running.hears("port 8000 is taken by another program; using ")
        running.hears("ready at")
        assert running.url == f"http://127.0.0.1:{said.rpartition(' ')[2]}"


def test_a_taken_port_that_was_asked_for_is_an_error(run_light: Run) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        running = run_light(str(port))
        assert running.code() == 1
        assert running.lines[-1] == f"Port {port} is taken by another program; choose another one."


def test_servers_that_have_an_address_are_not_started(run_light: Run) -> None:
    running = run_light()
    running.hears("ready at")
    assert sorted(entry.name for entry in running.data.iterdir()) == ["address", "lock", "running", "search"]


def test_children_get_the_addresses_and_no_open_files(run_light: Run) -> None:
    running = run_light()
    running.hears("ready at")
    pid, variables = running.pid_of("sweeper"), running.environment_of("sweeper")
    assert variables["PYTHONSAFEPATH"] == "1"
    assert variables["FENCEPOST_URL"] == running.url
    with psycopg.connect(variables["FENCEPOST_DATABASE_URL"]) as connection:
        assert connection.execute("SELECT count(*) FROM jobs").fetchone() == (0,)
    assert sorted(file.name for file in Path(f"/proc/{pid}/fd").iterdir()) == ["0", "1", "2"]
    assert os.getsid(pid) == pid


def test_a_folder_with_other_things_in_it_is_refused_and_left_alone(run_light: Run, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(mode=0o755)
    (tmp_path / "data" / "letter.txt").touch()
    running = run_light()
    assert running.code() == 1
    assert "has other files in it" in running.lines[-1]
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o755


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to another user")
def test_a_folder_of_another_user_is_refused(run_light: Run, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    os.chown(tmp_path / "data", 12345, 12345)
    running = run_light()
    assert running.code() == 1
    assert "belongs to another user" in running.lines[-1]


def test_a_database_elsewhere_that_does_not_answer_is_said_in_one_line(tmp_path: Path) -> None:
    settings = load(
        database_url="postgresql://me:secret@127.0.0.1:9/x", broker_url="redis://127.0.0.1:9/0", port=free_port()
    )
    with pytest.raises(Unreachable, match="The database cannot be used: ") as raised, stack.running(settings, tmp_path):
        pass
    assert "secret" not in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1
