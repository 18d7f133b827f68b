"""The pool with children that start programs, hang without work, or die in every way."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from indexer.extract import Request
from indexer.extract.isolation import nursery, sandbox, wire
from indexer.extract.isolation.deaths import Crashed
from indexer.extract.isolation.pool import ExtractionPool
from pipeline.errors import Permanent
from pipeline.settings import Extract
from tests.support.odd_forkserver import document
from tests.support.waiting import until

DEADLINE = 30
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="a process that dies with its parent is asked of Linux")


@pytest.fixture(autouse=True)
def odd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nursery, "_PROGRAM", "tests.support.odd_forkserver")


@pytest.fixture
def pool() -> Iterator[ExtractionPool]:
    with ExtractionPool(Extract(processes=2, ocr_languages="eng")) as made:
        answers(made)
        yield made


def answers(pool: ExtractionPool) -> None:
    assert pool.submit(document("answer", "words")).result(DEADLINE).passages[0].text == "words"


def program_of(child: int) -> psutil.Process:
    """The program that a child has started, by now under its own name."""
    process = psutil.Process(child)
    until(lambda: [one for one in process.children() if one.name() == "sleep"])
    return process.children()[0]


def busy(pool: ExtractionPool) -> int:
    until(lambda: pool._busy)
    return next(iter(pool._busy)).pid


def is_gone(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.skipif(not sandbox.has_seccomp(), reason="no seccomp here")
def test_a_child_of_the_pool_has_no_network(pool: ExtractionPool):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        found = pool.submit(document("connect", str(listener.getsockname()[1]))).result(DEADLINE)
    assert found.passages[0].text == "EPERM"


@pytest.mark.skipif(not sandbox.has_seccomp(), reason="no seccomp here")
def test_a_child_of_a_pool_that_reads_no_pictures_starts_nothing():
    with ExtractionPool(Extract(processes=1)) as pool, pytest.raises(Crashed, match="PermissionError"):
        pool.submit(document("leave", "done")).result(DEADLINE)


@pytest.mark.skipif(not sandbox.landlock_version(), reason="no Landlock here")
def test_a_child_of_the_pool_reads_programs_only(pool: ExtractionPool, tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text("tell-nobody")
    for path, outcome in ((secret, "EACCES"), (f"/proc/{os.getpid()}/environ", "EACCES"), (sys.executable, "done")):
        assert pool.submit(document("read", str(path))).result(DEADLINE).passages[0].text == outcome


def test_a_document_in_a_file_is_read_without_its_path(pool: ExtractionPool, tmp_path: Path):
    page = tmp_path / "page.html"
    page.write_bytes(bytes(document("answer", "words").content))
    page.chmod(0o600)
    assert pool.submit(Request(page, "page.html")).result(DEADLINE).passages[0].text == "words"


def test_a_program_that_a_child_started_dies_with_it_at_the_deadline():
    with ExtractionPool(Extract(processes=2, seconds=2, ocr_languages="eng")) as pool:
        answers(pool)
        hanging = pool.submit(document("start"))
        program = program_of(busy(pool))
        with pytest.raises(Permanent, match="longer than 2 s"):
            hanging.result(DEADLINE)
        until(lambda: is_gone(program))
        answers(pool)


def test_a_program_that_a_child_left_behind_dies_when_the_child_retires():
    with ExtractionPool(Extract(processes=1, documents_per_process=2, ocr_languages="eng")) as pool:
        assert pool.submit(document("leave", "done")).result(DEADLINE).passages[0].text == "done"
        program = program_of(pool._idle[-1].pid)
        assert not is_gone(program)
        answers(pool)
        until(lambda: is_gone(program))


def test_a_program_dies_with_a_child_that_crashes(pool: ExtractionPool):
    crashing = pool.submit(document("start"))
    child = busy(pool)
    program = program_of(child)
    os.kill(child, signal.SIGSEGV)
    with pytest.raises(Crashed, match="signal SIGSEGV"):
        crashing.result(DEADLINE)
    until(lambda: is_gone(program))


@LINUX
def test_a_program_dies_when_the_fork_server_is_killed(pool: ExtractionPool):
    lost = pool.submit(document("start-bound"))
    program = program_of(busy(pool))
    assert pool._nursery._server is not None
    os.kill(pool._nursery._server.pid, signal.SIGKILL)
    with pytest.raises(Crashed):
        lost.result(DEADLINE)
    until(lambda: is_gone(program))
    answers(pool)


WORKER = """
from indexer.extract.isolation import nursery
from indexer.extract.isolation.pool import ExtractionPool
from pipeline.settings import Extract
from tests.support.odd_forkserver import document

nursery._PROGRAM = "tests.support.odd_forkserver"
pool = ExtractionPool(Extract(seconds=600, ocr_languages="eng"))
future = pool.submit(document("start"))
while not pool._busy:
    pass
(child,) = pool._busy
print(child.pid, flush=True)
future.result()
"""


@LINUX
def test_a_program_dies_when_the_worker_is_killed():
    command = [sys.executable, "-c", WORKER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as worker:
        assert worker.stdout is not None
        child = psutil.Process(int(worker.stdout.readline()))
        program = program_of(child.pid)
        worker.kill()
    until(lambda: is_gone(child) and is_gone(program))


def test_a_hang_without_work_ends_at_its_deadline():
    with ExtractionPool(Extract(processes=1, seconds=1.5)) as pool:
        answers(pool)
        started = time.monotonic()
        with pytest.raises(Permanent, match=r"longer than 1\.5 s") as refusal:
            pool.submit(document("hang")).result(DEADLINE)
        assert refusal.value.code == "extractor_timeout"
        assert time.monotonic() - started < 1.5 + 2
        answers(pool)


def test_a_child_that_is_stopped_ends_at_its_deadline():
    with ExtractionPool(Extract(processes=1, seconds=1.5)) as pool:
        answers(pool)
        hanging = pool.submit(document("hang"))
        os.kill(busy(pool), signal.SIGSTOP)
        with pytest.raises(Permanent, match=r"longer than 1\.5 s"):
            hanging.result(DEADLINE)
        answers(pool)


@LINUX
def test_each_document_has_processor_time_of_its_own(pool: ExtractionPool):
    def bound() -> int:
        (seconds,) = re.findall(r"Max cpu time +(\d+)", Path(f"/proc/{child}/limits").read_text())
        return int(seconds)

    child = pool._idle[-1].pid
    before = bound()
    pool.submit(document("work", "1")).result(DEADLINE)
    until(lambda: bound() > before, what="processor time for the next document")


def test_a_child_that_has_grown_large_reads_no_more():
    with ExtractionPool(Extract(processes=1)) as pool:
        answers(pool)
        assert len(pool._idle) == 1
        pool.submit(document("swell", "300")).result(DEADLINE)
        assert not pool._idle
        answers(pool)


@pytest.mark.parametrize(
    ("deed", "word", "message"),
    [
        ("abort", "", r"gave up \(SIGABRT\), probably for want of memory; it has 1,073,741,824 bytes \("),
        ("exit", "3", r"died: exit code 3\."),
        ("exit", "0", r"died: exit code 0\."),
        ("fail", "x", r"The reader of html failed: ZeroDivisionError: .*\."),
    ],
)
def test_deaths_are_told_apart(pool: ExtractionPool, deed: str, word: str, message: str):
    with pytest.raises(Crashed, match=message):
        pool.submit(document(deed, word)).result(DEADLINE)
    answers(pool)


def test_a_child_that_somebody_else_killed_is_told_as_want_of_memory(pool: ExtractionPool):
    killed = pool.submit(document("hang"))
    os.kill(busy(pool), signal.SIGKILL)
    with pytest.raises(Crashed, match=r"was killed, probably for want of memory\."):
        killed.result(DEADLINE)
    answers(pool)


def test_an_answer_that_is_too_long_is_over_a_limit():
    with ExtractionPool(Extract(processes=1, characters=1000)) as pool:
        with pytest.raises(Permanent, match=r"too long to be handed over.*FENCEPOST_EXTRACT__CHARACTERS") as refusal:
            pool.submit(document("tell-all", "words")).result(2 * DEADLINE)
        assert refusal.value.code == "limit_exceeded"
        answers(pool)


def test_an_answer_of_very_many_values_is_over_a_limit(pool: ExtractionPool):
    with pytest.raises(Permanent, match=r"too long to be handed over.* and 1,000,000 values") as refusal:
        pool.submit(document("tell-nothing", "words")).result(2 * DEADLINE)
    assert refusal.value.code == "limit_exceeded"
    answers(pool)


GOOD = {"passages": [["words", 1, None, None, []]], "facts": {"pages": 1}, "text_quality": "ok"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"passages": [[5, 1, None, None, []]]},
        {"passages": [["words", "1", None, None, []]]},
        {"passages": [["words", 2**31, None, None, []]]},
        {"passages": [["words", 1, 7, None, []]]},
        {"passages": [["words", 1, None, None, [[0]]]]},
        {"passages": [["words"]]},
        {"passages": 3},
        {"facts": {"pages": {"deep": 1}}},
        {"facts": {"pages": None}},
        {"facts": 5},
        {"text_quality": "splendid"},
    ],
    ids=str,
)
def test_an_answer_of_a_stranger_is_checked(wrong: dict[str, object]):
    assert wire.unpack_extraction(GOOD, "text/html").passages[0].text == "words"
    with pytest.raises((LookupError, TypeError, ValueError)):
        wire.unpack_extraction(GOOD | wrong, "text/html")


def test_a_refusal_of_a_stranger_has_a_code_that_there_is(pool: ExtractionPool):
    with pytest.raises(Permanent, match=r"No\.") as refusal:
        pool.submit(document("refuse", "corrupt")).result(DEADLINE)
    assert refusal.value.code == "corrupt"
    with pytest.raises(Crashed, match="an answer that makes no sense"):
        pool.submit(document("refuse", "free-beer")).result(DEADLINE)


def test_an_answer_of_a_stranger_is_cleaned():
    dirty = {"passages": [["a\0b", 1, "c\0", "d\0", []]], "facts": {"e\0": "f\0", "g": ["h\0"]}}
    found = wire.unpack_extraction(GOOD | dirty, "text/html")
    assert "\0" not in str(found)
    assert found.passages[0].text == "ab"
