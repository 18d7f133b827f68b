"""The pool with real children and real documents that hang, crash and exhaust them."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, wait
from pathlib import Path

import pytest

from fencepost import samples
from indexer.extract import KINDS, Request, choose_kind, extract
from indexer.extract.allowance import limits
from indexer.extract.isolation import nursery
from indexer.extract.isolation import pool as pool_module
from indexer.extract.isolation.deaths import Crashed
from indexer.extract.isolation.nursery import _KEPT_VARIABLES, Child
from indexer.extract.isolation.pool import ExtractionPool, in_process
from pipeline.errors import Permanent, Transient
from pipeline.outcomes import TextQuality
from pipeline.settings import Extract
from tests.samples._workbooks import sharing_xlsb, sharing_xlsx
from tests.support import documents, hostile
from tests.support.waiting import until

MIB = 1024 * 1024
DEADLINE = 30
LETTER = Request(documents.pdf([["a short letter"]]), "letter.pdf")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def pool() -> Iterator[ExtractionPool]:
    with ExtractionPool(Extract(processes=2)) as made:
        yield made


@pytest.fixture(scope="module")
def endless() -> Request:
    return Request(hostile.endless_pdf(), "endless.pdf")


def exists(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def busy(pool: ExtractionPool) -> Child:
    until(lambda: pool._busy)
    return next(iter(pool._busy))


def idle(pool: ExtractionPool) -> Child:
    assert pool.submit(LETTER).result(DEADLINE).passages[0].text == "a short letter\n\n"
    until(lambda: pool._idle)
    return pool._idle[-1]


def server(pool: ExtractionPool) -> int:
    assert pool._nursery._server is not None
    return pool._nursery._server.pid


@pytest.mark.parametrize("path", samples.files(), ids=lambda path: path.name)
def test_a_child_reads_like_this_process(pool: ExtractionPool, path: Path):
    request = Request(path, path.name)
    assert pool.submit(request).result(DEADLINE) == extract(request)
    request = Request(path.read_bytes(), path.name)
    assert pool.submit(request).result(DEADLINE) == extract(request)


def test_what_was_read_of_a_container_survives_the_deadline():
    slow = "".join(f"[a{n}](b) *x* " for n in range(1000)).encode()  # a tenth of a second
    archive = documents.archive({f"{n}.md": slow for n in range(300)}, compress=True)
    with ExtractionPool(Extract(seconds=3)) as hurried:
        found = hurried.submit(Request(archive, "a.zip")).result(DEADLINE)
    assert found.text_quality is TextQuality.PARTIAL
    assert found.passages[0].member == "0.md"
    assert "299.md" not in {passage.member for passage in found.passages}
    assert "The time was up before it was read" in str(found.facts["partial"])


def test_what_was_read_of_a_pdf_survives_the_deadline():
    with ExtractionPool(Extract(seconds=3)) as hurried:
        found = hurried.submit(Request(hostile.slow_pdf(pages=1000))).result(DEADLINE)
    assert found.text_quality is TextQuality.PARTIAL
    assert (found.passages[0].text, found.passages[0].page) == ("a word\n\n", 1)
    (unread,) = [name for name in map(str, found.facts["partial"]) if "The time was up" in name]  # type: ignore[arg-type]
    assert re.match(r"pages \d+ to 1,000: ", unread)


@pytest.mark.parametrize(
    ("in_a_leaf", "named"),
    [(1, "50,000 attached files: the time was up"), (50_000, "large.bin: This is a binary file")],
)
def test_a_pdf_with_a_crowd_of_attached_files_ends_in_time(in_a_leaf: int, named: str):
    crowded = hostile.crowded_pdf(attached=50_000, in_a_leaf=in_a_leaf)
    with ExtractionPool(Extract(seconds=3)) as hurried:
        found = hurried.submit(Request(crowded)).result(DEADLINE)
    assert (found.passages[0].text, found.text_quality) == ("a word\n\n", TextQuality.PARTIAL)
    assert isinstance(found.facts["partial"], list)
    assert re.match(named, found.facts["partial"][0])


def test_short_plain_text_needs_no_child(pool: ExtractionPool):
    future = pool.submit(Request(b"plain words", "a.txt"))
    assert future.done()
    assert future.result().passages[0].text == "plain words"
    assert pool._nursery._server is None


def test_what_is_read_in_the_worker(tmp_path: Path):
    assert in_process(Request(b"x" * MIB), KINDS["text"])
    assert not in_process(Request(b"x" * (MIB + 1)), KINDS["text"])
    assert in_process(Request(b"# x"), KINDS["markdown"])
    assert not in_process(Request(b"x"), KINDS["html"])
    assert not in_process(Request(b"x"), KINDS["pdf"])
    long = tmp_path / "long"
    long.write_bytes(b"x" * (MIB + 1))
    assert not in_process(Request(long), KINDS["text"])


def test_long_plain_text_goes_to_a_child(pool: ExtractionPool):
    found = pool.submit(Request(b"word " * MIB, "a.txt")).result(DEADLINE)
    assert found.facts["characters"] == 5 * MIB
    assert pool._nursery._server is not None


def test_refusals_pass_through(pool: ExtractionPool):
    for content, code in ((b"", "empty_file"), (b"%PDF-1.4 no more", "corrupt"), (hostile.entity_docx(), "corrupt")):
        with pytest.raises(Permanent) as refusal:
            pool.submit(Request(content)).result(DEADLINE)
        assert refusal.value.code == code


def test_the_limits_of_the_settings_reach_the_reader():
    settings = Extract(pages=2)
    with ExtractionPool(settings) as pool, pytest.raises(Permanent, match="FENCEPOST_EXTRACT__PAGES"):
        pool.submit(Request(documents.pdf([["x"]] * 3), limits=limits(settings))).result(DEADLINE)


def test_a_hang_is_killed_at_its_deadline_and_its_neighbours_go_on(endless: Request):
    with ExtractionPool(Extract(processes=2, seconds=1.5)) as pool:
        idle(pool)  # started before the clock runs
        started = time.monotonic()
        hanging = pool.submit(endless)
        child = busy(pool)
        assert [pool.submit(LETTER).result(DEADLINE).text_quality for _ in range(20)] == ["ok"] * 20
        assert not hanging.done()
        with pytest.raises(Permanent, match=r"longer than 1\.5 s \(FENCEPOST_EXTRACT__SECONDS\)") as refusal:
            hanging.result(DEADLINE)
        assert refusal.value.code == "extractor_timeout"
        assert time.monotonic() - started < 1.5 + 3
        until(lambda: not exists(child.pid))
        assert pool.submit(LETTER).result(DEADLINE).text_quality == "ok"


def test_a_crash_is_told_and_its_neighbours_go_on(pool: ExtractionPool, endless: Request):
    crashing = pool.submit(endless)
    child = busy(pool)
    beside = [pool.submit(LETTER) for _ in range(20)]
    os.kill(child.pid, signal.SIGSEGV)
    with pytest.raises(Crashed, match="signal SIGSEGV") as crash:
        crashing.result(DEADLINE)
    assert crash.value.code == "extractor_crashed"
    assert [future.result(DEADLINE).text_quality for future in beside] == ["ok"] * 20


def test_memory_that_native_code_cannot_get_is_a_crash():
    with ExtractionPool(Extract(processes=1, memory_bytes=256 * MIB)) as pool:
        with pytest.raises(Crashed, match=r"SIGABRT.* want of memory|signal SIG(TRAP|ILL|SEGV)"):
            pool.submit(Request(hostile.bloated_pdf())).result(2 * DEADLINE)
        assert pool.submit(LETTER).result(DEADLINE).text_quality == "ok"


@LINUX
def test_memory_that_python_cannot_get_is_a_limit(tmp_path: Path):
    large = tmp_path / "large.txt"
    large.write_bytes(b"word " * (24 * MIB))
    with ExtractionPool(Extract(processes=1, memory_bytes=256 * MIB)) as pool:
        with pytest.raises(Permanent, match="FENCEPOST_EXTRACT__MEMORY_BYTES") as refusal:
            pool.submit(Request(large)).result(DEADLINE)
        assert refusal.value.code == "limit_exceeded"
        assert pool.submit(LETTER).result(DEADLINE).text_quality == "ok"


@LINUX
@pytest.mark.parametrize("make", [sharing_xlsx, sharing_xlsb])
def test_cells_that_share_a_long_string_fit_into_little_memory(make: Callable[[int, str], bytes]):
    words = "".join(f"{n:05}" for n in range(10_000))
    with ExtractionPool(Extract(processes=1, memory_bytes=384 * MIB, characters=1_000_000)) as pool:
        allowed = limits(Extract(characters=1_000_000))
        found = pool.submit(Request(make(20_000, words), limits=allowed)).result(DEADLINE)
    assert (found.text_quality, found.facts["characters"]) == (TextQuality.TRUNCATED, 1_000_000)


def test_a_reader_that_fails_in_this_process_is_a_crash(pool: ExtractionPool, monkeypatch: pytest.MonkeyPatch):
    def fail(*_arguments: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(pool_module, "extract", fail)
    with pytest.raises(Crashed, match=r"The reader of text failed: RecursionError: too deep\."):
        pool.submit(Request(b"words")).result()


@LINUX
def test_no_secret_reaches_the_fork_server_or_a_child(pool: ExtractionPool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FENCEPOST_DATABASE_URL", "postgresql://fencepost:tell-nobody@localhost/x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "tell-nobody")
    for pid in (idle(pool).pid, server(pool)):
        environment = Path(f"/proc/{pid}/environ").read_bytes()
        names = {entry.partition(b"=")[0].decode() for entry in environment.split(b"\0") if entry}
        assert names <= {*_KEPT_VARIABLES, "PYTHONPATH", "OMP_THREAD_LIMIT"}
        assert b"tell-nobody" not in environment + Path(f"/proc/{pid}/cmdline").read_bytes()


@LINUX
def test_a_child_has_no_descriptor_but_its_channel(pool: ExtractionPool, tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as listener, (tmp_path / "open").open("w") as file:
        for descriptor in (listener.fileno(), file.fileno()):
            os.set_inheritable(descriptor, True)
        idle(pool)
        pool.submit(LETTER).result(DEADLINE)
        descriptors = [str(entry.readlink()) for entry in Path(f"/proc/{idle(pool).pid}/fd").iterdir()]
    assert descriptors.count("/dev/null") == 3
    assert [re.sub(r"\d+", "n", target) for target in descriptors if target != "/dev/null"] == ["socket:[n]"]


@LINUX
def test_a_child_is_bounded_and_dies_by_default(pool: ExtractionPool):
    pid = idle(pool).pid
    bounds = dict(
        re.findall(r"^(Max [a-z ]+?) {2,}(\S+) ", Path(f"/proc/{pid}/limits").read_text(), flags=re.MULTILINE)
    )
    assert bounds["Max address space"] == str(1024 * MIB)
    assert bounds["Max core file size"] == bounds["Max file size"] == "0"
    assert bounds["Max open files"] == "64"
    assert 30 <= int(bounds["Max cpu time"]) < 60
    status = Path(f"/proc/{pid}/status").read_text()
    for name in ("SigCgt", "SigIgn", "SigBlk"):
        (mask,) = re.findall(rf"^{name}:\t(\w+)$", status, flags=re.MULTILINE)
        assert not int(mask, 16) & 1 << (signal.SIGTERM - 1)
    assert Path(f"/proc/{pid}/cwd").readlink().parent == pool._nursery._scratch


def test_a_child_is_replaced_after_so_many_documents():
    with ExtractionPool(Extract(processes=1, documents_per_process=3)) as pool:
        first = idle(pool).pid
        assert idle(pool).pid == first
        assert pool.submit(LETTER).result(DEADLINE).text_quality == "ok"
        assert not pool._idle, "it has said that this was its last"
        assert idle(pool).pid != first


@LINUX
def test_a_dead_fork_server_is_replaced(pool: ExtractionPool, endless: Request):
    lost = pool.submit(endless)
    child, before = busy(pool), server(pool)
    os.kill(before, signal.SIGKILL)
    with pytest.raises(Crashed, match="died with the one that had made it"):
        lost.result(DEADLINE)
    until(lambda: not exists(child.pid))
    assert pool.submit(LETTER).result(DEADLINE).text_quality == "ok"
    assert server(pool) != before


@LINUX
def test_all_children_of_a_dead_fork_server_died_with_it(pool: ExtractionPool):
    first, second = pool._nursery.fork(), pool._nursery.fork()
    os.kill(server(pool), signal.SIGKILL)
    assert pool._nursery.end(first) is None
    born_later = pool._nursery.fork()
    assert pool._nursery.end(second) is None
    assert pool._nursery.end(born_later) is not None


def test_a_fork_server_that_does_not_start_is_no_fault_of_the_document(
    pool: ExtractionPool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(nursery, "_PROGRAM", "tests.support.there_is_no_such_program")
    with pytest.raises(Transient, match="could be started") as failure:
        pool.submit(LETTER).result(DEADLINE)
    assert failure.value.code == "handler_error"
    monkeypatch.undo()
    assert pool.submit(LETTER).result(DEADLINE).text_quality == "ok"


def test_a_system_without_room_for_a_process_is_no_fault_of_the_document_and_ends_no_other(
    pool: ExtractionPool, endless: Request, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(nursery, "_PROGRAM", "tests.support.barren_forkserver")
    pool.submit(endless)
    child = busy(pool)
    with pytest.raises(Transient, match="could be started") as failure:
        pool.submit(LETTER).result(DEADLINE)
    assert failure.value.code == "handler_error"
    assert exists(child.pid)


def test_an_idle_child_that_died_costs_no_document(pool: ExtractionPool):
    child = idle(pool)
    os.kill(child.pid, signal.SIGKILL)
    until(lambda: not child.is_waiting())
    assert pool.submit(LETTER).result(DEADLINE).text_quality == "ok"


@LINUX
def test_close_ends_everything(endless: Request):
    pool = ExtractionPool(Extract(processes=1))
    running, waiting = pool.submit(endless), pool.submit(LETTER)
    child, parent, scratch = busy(pool), server(pool), pool._nursery._scratch
    assert scratch.is_dir()
    started = time.monotonic()
    pool.close()
    pool.close()
    assert time.monotonic() - started < 5
    wait([running, waiting], DEADLINE)
    for future in (running, waiting):
        with pytest.raises(CancelledError):
            future.result()
    assert not exists(child.pid)
    assert not exists(parent)
    assert not scratch.exists()


WORKER = """
import sys
from pathlib import Path
from indexer.extract import Request
from indexer.extract.isolation.pool import ExtractionPool
from pipeline.settings import Extract

pool = ExtractionPool(Extract(seconds=600))
future = pool.submit(Request(Path(sys.argv[1])))
while not pool._busy:
    pass
(child,) = pool._busy
print(child.pid, pool._nursery._server.pid, pool._nursery._scratch, flush=True)
future.result()
"""


@LINUX
def test_nothing_outlives_a_worker_that_is_killed(tmp_path: Path, endless: Request):
    document = tmp_path / "endless.pdf"
    document.write_bytes(endless.content if isinstance(endless.content, bytes) else b"")
    command = [sys.executable, "-c", WORKER, str(document)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as worker:
        assert worker.stdout is not None
        child, parent, scratch = worker.stdout.readline().split()
        assert exists(int(child))
        assert exists(int(parent))
        worker.kill()
    until(lambda: not exists(int(child)) and not exists(int(parent)))
    until(lambda: not Path(scratch).exists())


@LINUX
def test_the_memory_of_this_process_stays_flat(pool: ExtractionPool):
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    book = Request(documents.pdf([["a line of a long book"] * 40] * 50), "book.pdf")
    for _ in range(5):
        pool.submit(book).result(DEADLINE)
    before = resident()
    for _ in range(100):
        pool.submit(book).result(DEADLINE)
    assert resident() - before < 8 * MIB


def test_a_kind_chosen_before_is_not_chosen_again(pool: ExtractionPool):
    kind = choose_kind(b"# Words", "a.md")
    assert pool.submit(Request(b"# Words", "a.txt"), kind).result().media_type == "text/markdown"
