"""The pool with members that hang, crash or starve their reader: they are left out, and all others are read."""

import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import psutil
import pytest

from indexer.extract import Extraction, Request
from indexer.extract.isolation import nursery
from indexer.extract.isolation.deaths import Crashed
from indexer.extract.isolation.pool import ExtractionPool
from indexer.extract.types import Ocr
from pipeline.errors import Permanent
from pipeline.outcomes import TextQuality
from pipeline.settings import Extract
from tests.support import documents, hostile
from tests.support.odd_forkserver import document
from tests.support.waiting import until

MIB = 1024 * 1024
DEADLINE = 60
SECONDS = 1.5
TOO_LONG = "it takes too long to be read"
CRASHED = "its reader crashed"
TOO_MUCH = "reading it needs too much memory"
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def odd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nursery, "_PROGRAM", "tests.support.odd_forkserver")


@pytest.fixture
def pool(request: pytest.FixtureRequest) -> Iterator[ExtractionPool]:
    request.getfixturevalue("odd")
    with ExtractionPool(Extract(processes=1, seconds=SECONDS)) as made:
        answers(made)
        yield made


def answers(pool: ExtractionPool) -> None:
    assert words(pool.submit(document("answer", "words"))) == ["words"]


def archive(*deeds: str) -> Request:
    """One page for each deed, named after it, and one before and behind them that answers."""
    pages = {f"{n}-{deed.partition(' ')[0]}": bytes(document(*deed.split(" ")).content) for n, deed in enumerate(deeds)}
    around = {name: bytes(document("answer", name).content) for name in ("first", "last")}
    return Request(documents.archive({"first": around["first"], **pages, "last": around["last"]}), "a.zip")


def words(future: Future[Extraction]) -> list[str]:
    return [passage.text.strip() for passage in future.result(DEADLINE).passages]


def partial(future: Future[Extraction]) -> object:
    assert words(future) == ["first", "last"]
    found = future.result()
    assert found.text_quality is TextQuality.PARTIAL
    assert found.facts["left_out"] == len(found.facts["partial"])  # type: ignore[arg-type] # a list
    return found.facts["partial"]


@pytest.mark.parametrize("path", ["slow.pdf", "in.zip/slow.pdf"])
def test_a_member_that_hangs_is_named_and_all_others_are_read(path: str):
    inner = {"slow.pdf": hostile.endless_pdf(), "beside.txt": b"words beside"}
    members = {"in.zip": documents.archive(inner)} if "/" in path else inner
    letter = documents.pdf([["a short letter"]])
    content = documents.archive({"a.pdf": letter, **members, "z.txt": b"last words"})
    with ExtractionPool(Extract(processes=1, seconds=SECONDS)) as hurried:
        found = hurried.submit(Request(content, "a.zip"))
        assert words(found) == ["a short letter", "words beside", "last words"]
    assert found.result().facts["partial"] == [f"{path}: {TOO_LONG}"]


def test_so_are_three_and_each_costs_the_time_of_a_document(pool: ExtractionPool):
    started = time.monotonic()
    found = pool.submit(archive("hang", "hang", "answer between", "hang"))
    assert words(found) == ["first", "between", "last"]
    assert found.result().facts["partial"] == [f"{n}-hang: {TOO_LONG}" for n in (0, 1, 3)]
    assert 3 * SECONDS <= time.monotonic() - started < 4 * SECONDS + 2


def test_no_other_is_left_out_with_an_archive_and_what_was_in_it(pool: ExtractionPool):
    """First a member of the archive hangs, then the archive, which is the second of all; the third is another then."""
    inner = {"hang": bytes(document("hang").content), "claim": bytes(document("claim", "2").content)}
    around = {name: bytes(document("answer", name).content) for name in ("first", "last")}
    content = documents.archive({"first": around["first"], "in.zip": documents.archive(inner), "last": around["last"]})
    assert partial(pool.submit(Request(content, "a.zip"))) == [f"in.zip: {TOO_LONG}"]


def test_a_fourth_costs_the_document_and_no_more_time(pool: ExtractionPool):
    started = time.monotonic()
    with pytest.raises(Permanent, match=r"longer than 1\.5 s \(") as refusal:
        pool.submit(archive(*["hang"] * 4)).result(DEADLINE)
    assert refusal.value.code == "extractor_timeout"
    assert refusal.value.message.endswith(" Members that had ended earlier readings were left out: 3.")
    assert time.monotonic() - started < 4 * SECONDS + 2
    answers(pool)


@pytest.mark.usefixtures("odd")
def test_with_pictures_a_document_has_no_more_than_twice_its_time():
    request = Request(archive("hang", "hang").content, "a.zip", ocr=Ocr("eng"))
    with ExtractionPool(Extract(processes=1, seconds=0.5, ocr_languages="eng", ocr_seconds=1.5)) as hurried:
        answers(hurried)
        started = time.monotonic()
        with pytest.raises(Permanent, match=r"longer than 2 s \(.* \+ FENCEPOST_EXTRACT__OCR_SECONDS\)"):
            hurried.submit(request).result(DEADLINE)
        assert time.monotonic() - started < 2 * 2 + 2


@pytest.mark.parametrize("deed", ["abort", "exit 0", "exit 3", "chatter 2"])
def test_a_crash_in_a_member_may_be_chance_the_first_time_and_is_the_members_the_second(
    pool: ExtractionPool, deed: str
):
    with pytest.raises(Crashed):
        pool.submit(archive(deed)).result(DEADLINE)
    name = deed.partition(" ")[0]
    assert partial(pool.submit(archive(deed), crashed_before=True)) == [f"0-{name}: {CRASHED}"]


@LINUX
def test_native_code_that_gets_no_memory_crashes_its_member_only():
    content = documents.archive({"large.pdf": hostile.bloated_pdf(), "z.txt": b"last words"})
    with ExtractionPool(Extract(processes=1, memory_bytes=256 * MIB)) as small:
        found = small.submit(Request(content, "a.zip"), crashed_before=True)
        assert words(found) == ["last words"]
    assert found.result().facts["partial"] == [f"large.pdf: {CRASHED}"]


@LINUX
def test_a_member_that_needs_too_much_memory_is_left_out_at_once(pool: ExtractionPool):
    assert partial(pool.submit(archive("starve"))) == [f"0-starve: {TOO_MUCH}"]


@LINUX
def test_one_document_may_have_all_of_these(pool: ExtractionPool):
    expected = [f"0-starve: {TOO_MUCH}", f"1-hang: {TOO_LONG}", f"2-abort: {CRASHED}"]
    assert partial(pool.submit(archive("starve", "hang", "abort"), crashed_before=True)) == expected


def test_a_crash_is_the_documents_if_it_is_in_no_member_or_in_too_many(pool: ExtractionPool):
    with pytest.raises(Crashed, match="exit code 3"):
        pool.submit(document("exit", "3"), crashed_before=True).result(DEADLINE)
    with pytest.raises(Crashed, match="exit code 3"):
        pool.submit(archive(*["exit 3"] * 4), crashed_before=True).result(DEADLINE)
    answers(pool)


@pytest.mark.parametrize("word", ["", "7", "4294967295"])
def test_a_child_that_lies_about_the_member_gains_three_tries(pool: ExtractionPool, word: str):
    started = time.monotonic()
    with pytest.raises(Permanent, match=r"longer than 1\.5 s"):
        pool.submit(document("claim", word)).result(DEADLINE)
    assert time.monotonic() - started < 4 * SECONDS + 2
    answers(pool)


def test_a_child_that_says_anything_else_than_its_answer_has_said_all(pool: ExtractionPool):
    started = time.monotonic()
    with pytest.raises(Crashed, match="makes no sense"):
        pool.submit(document("chatter", "1")).result(DEADLINE)
    assert time.monotonic() - started < SECONDS
    answers(pool)


def shared(pid: int) -> list[str]:
    """The memory that a process shares with others and can write to."""
    return [line for line in Path(f"/proc/{pid}/maps").read_text().splitlines() if line.split()[1] == "rw-s"]


@LINUX
@pytest.mark.usefixtures("odd")
def test_no_child_can_speak_for_another():
    with ExtractionPool(Extract(processes=2)) as pool:
        hanging = [pool.submit(document("hang")) for _ in range(2)]
        until(lambda: len(pool._busy) == 2)
        until(lambda: [len(shared(child.pid)) for child in pool._busy] == [1, 1])  # once both have come to reading
        for child in list(pool._busy):
            psutil.Process(child.pid).send_signal(signal.SIGKILL)
        assert all(isinstance(one.exception(DEADLINE), Crashed) for one in hanging)


@LINUX
def test_whoever_is_left_out_leaves_nothing_behind(pool: ExtractionPool):
    crowd = archive("exit 3", "answer between", "exit 3", "exit 3")
    here = psutil.Process()
    for _ in range(3):
        pool.submit(crowd, crashed_before=True).result(DEADLINE)
    assert pool._nursery._server is not None
    server = psutil.Process(pool._nursery._server.pid)
    before = [process.memory_info().rss for process in (here, server)]
    for _ in range(40):
        assert words(pool.submit(crowd, crashed_before=True)) == ["first", "between", "last"]
    after = [process.memory_info().rss for process in (here, server)]
    assert [late - early < 4 * MIB for early, late in zip(before, after, strict=True)] == [True, True]
    assert len(server.children()) == 1
    assert len(shared(server.pid)) == 1
