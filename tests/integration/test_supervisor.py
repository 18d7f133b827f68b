"""The supervisor and its notes, with small real programs."""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from fencepost.local import leftovers, processes, supervisor
from fencepost.local.log import Log
from fencepost.local.supervisor import Program, Supervisor
from tests.support import programs
from tests.support.waiting import until


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A program that leads a process group of its own and sleeps."""
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as process:
        yield process
        process.kill()


def supervise(data: Path, output: io.StringIO, grace: float = 5) -> Supervisor:
    data.mkdir(exist_ok=True)
    return Supervisor(data, {"PATH": "/usr/bin:/bin", "PYTHONUNBUFFERED": "1"}, Log(output), grace)


def test_one_that_ignores_sigterm_is_killed_after_the_grace(tmp_path: Path) -> None:
    output = io.StringIO()
    with supervise(tmp_path, output, grace=0.2) as running:
        running.run(programs.python("stubborn", programs.STUBBORN))
        until(lambda: "here" in output.getvalue())
        pid = int((tmp_path / "running" / "stubborn").read_text().split()[0])
    assert processes.born(pid) is None
    assert "did not stop in time and was killed" in output.getvalue()


@pytest.mark.parametrize("fate", ["killed", "stopped"])
def test_a_program_takes_its_own_children_with_it(tmp_path: Path, fate: str) -> None:
    output = io.StringIO()
    with supervise(tmp_path, output) as running:
        running.run(programs.python("worker-1", programs.HAS_A_CHILD))
        until(lambda: "\n" in output.getvalue())
        grandchild = int(output.getvalue().split()[2])
        if fate == "killed":
            os.kill(int((tmp_path / "running" / "worker-1").read_text().split()[0]), signal.SIGKILL)
            until(lambda: processes.born(grandchild) is None)
    until(lambda: processes.born(grandchild) is None)


def test_the_pause_before_a_new_start_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "BACKOFF_FIRST_SECONDS", 0.01)
    monkeypatch.setattr(supervisor, "BACKOFF_MOST_SECONDS", 0.04)
    output = io.StringIO()
    with supervise(tmp_path, output) as running:
        running.run(programs.python("brief", "raise SystemExit(3)"))
        until(lambda: output.getvalue().count("ended") >= 4)
    said = [line.split(None, 1)[1] for line in output.getvalue().splitlines()[:4]]
    assert said == [f"ended with exit code 3; started again in {delay} s" for delay in (0.01, 0.02, 0.04, 0.04)]


def test_a_program_that_does_not_exist_is_tried_again_and_does_not_stop_the_others(tmp_path: Path) -> None:
    output = io.StringIO()
    with supervise(tmp_path, output) as running:
        running.run(Program("missing", ["/does/not/exist"]))
        running.run(programs.python("other", programs.WAITS))
        until(lambda: "missing" in output.getvalue() and "here" in output.getvalue())
    assert "ended with exit code 1" in output.getvalue()


def test_a_noted_process_is_ended_with_its_group(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    leftovers.note(tmp_path, "worker-1", sleeper.pid)
    assert leftovers.end_all(tmp_path) == ["worker-1"]
    assert sleeper.wait(5) == -signal.SIGTERM
    assert list((tmp_path / "running").iterdir()) == []


def test_a_noted_process_that_ignores_sigterm_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "SECONDS", 0.2)
    command = [sys.executable, "-u", "-c", programs.STUBBORN]
    with subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE) as stubborn:
        assert stubborn.stdout is not None
        stubborn.stdout.readline()
        leftovers.note(tmp_path, "worker-1", stubborn.pid)
        leftovers.end_all(tmp_path)
        assert stubborn.wait(5) == -signal.SIGKILL


def test_a_number_that_was_given_to_another_process_is_left_alone(
    tmp_path: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    leftovers.note(tmp_path, "worker-1", sleeper.pid)
    note = tmp_path / "running" / "worker-1"
    note.write_text(note.read_text() + "1")
    assert leftovers.end_all(tmp_path) == []
    assert sleeper.poll() is None


def test_a_log_that_nobody_reads_any_more_does_not_stop_its_writers() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    output = os.fdopen(writing, "w")
    log = Log(output)
    log.say("api", "one")
    log.say("api", "two")
    with suppress(BrokenPipeError):
        output.close()


def test_a_line_keeps_its_brackets_and_begins_with_its_process() -> None:
    output = io.StringIO()
    Log(output).say("relay", "[bold]sent[/bold] 3 jobs")
    assert output.getvalue() == "relay      [bold]sent[/bold] 3 jobs\n"
