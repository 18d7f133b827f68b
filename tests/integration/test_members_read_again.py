"""What becomes of a document whose member crashes its reader: over its attempts, and when somebody asks once more."""

from collections.abc import Iterator

import pytest

from indexer import results
from indexer.extract import KINDS, Extraction, Passage
from indexer.extract.extraction import extractor
from indexer.extract.isolation import nursery
from indexer.extract.sniff import versions_inside
from indexer.results import Key
from pipeline.outcomes import TextQuality
from pipeline.settings import Extract
from tests.support import documents, indexing
from tests.support.counting import CountingPool, deliver
from tests.support.indexing import Library
from tests.support.odd_forkserver import document
from tests.support.world import World

CRASHING = documents.archive({"odd.html": bytes(document("exit", "3").content), "note.txt": b"words beside"})
LEFT_OUT = ("partial", ["odd.html: its reader crashed"])
WHOLE = ("ok", None)


@pytest.fixture
def library(world: World) -> Library:
    return indexing.installed(world, None)


@pytest.fixture
def odd(monkeypatch: pytest.MonkeyPatch) -> Iterator[CountingPool]:
    """A pool whose reader of HTML crashes."""
    with CountingPool(Extract(processes=1)) as pool:
        with monkeypatch.context() as patched:
            patched.setattr(nursery, "_PROGRAM", "tests.support.odd_forkserver")
            pool.submit(document("answer", "words")).result(30)
        pool.taken()
        yield pool


@pytest.fixture
def good() -> Iterator[CountingPool]:
    with CountingPool(Extract(processes=1)) as pool:
        yield pool


def upload(library: Library, key: str) -> None:
    library.world.upload(CRASHING, key=key, filename=key)


def reindex(library: Library) -> None:
    library.world.reindex(library.world.row("SELECT document_id FROM documents")["document_id"])


def try_again(library: Library, pool: CountingPool) -> None:
    library.world.execute("UPDATE jobs SET due_at = now()")
    library.world.execute("UPDATE outbox SET due_at = now()")
    deliver(library, pool)


def texts(library: Library) -> list[tuple[str, object]]:
    """The quality and the failed parts of what was published, in the order in which it was accepted."""
    rows = library.world.rows("""
        SELECT r.text_quality, r.facts -> 'partial' AS partial FROM versions v JOIN results r USING (result_id)
        ORDER BY v.accepted_at
    """)
    return [(row["text_quality"], row["partial"]) for row in rows]


def test_a_member_that_crashes_its_reader_costs_an_attempt_and_then_itself(library: Library, odd: CountingPool) -> None:
    upload(library, "a.zip")
    deliver(library, odd)
    row = library.world.row("SELECT state, alone, (SELECT code FROM attempts) AS code FROM jobs")
    assert (row["state"], row["alone"], row["code"]) == ("retry_wait", True, "extractor_crashed")
    try_again(library, odd)
    assert texts(library) == [LEFT_OUT]
    assert library.find("beside") == 1
    library.check()


def test_a_crash_in_the_document_itself_is_final_the_second_time(library: Library, odd: CountingPool) -> None:
    library.world.upload(bytes(document("exit", "3").content), key="odd.html", filename="odd.html")
    deliver(library, odd)
    try_again(library, odd)
    assert library.world.row("SELECT state, code FROM jobs JOIN quarantine USING (job_id)") == {
        "state": "quarantined",
        "code": "extractor_crashed",
    }


def test_what_was_left_out_is_read_again_for_whoever_asks_later(
    library: Library, odd: CountingPool, good: CountingPool
) -> None:
    upload(library, "a.zip")
    deliver(library, odd)
    try_again(library, odd)
    reindex(library)
    deliver(library, odd)
    try_again(library, odd)
    assert texts(library) == [LEFT_OUT] * 2
    reindex(library)
    deliver(library, good)
    assert (texts(library), good.taken()) == ([LEFT_OUT, LEFT_OUT, WHOLE], ["a.zip"])
    reindex(library)
    deliver(library, odd)
    assert (texts(library)[-1], odd.taken()) == (WHOLE, ["a.zip"] * 4)


def test_the_last_text_is_taken_where_others_are_left_out_and_the_first_that_is_whole(
    world: World,
) -> None:
    key = Key(bytes(32), extractor(KINDS["zip"]), "0123456789abcdef")

    def taken(words: str, *left_out: str) -> str:
        """The text that is found once this one is stored."""
        incomplete = {"partial": [*left_out], "left_out": len(left_out)} if left_out else {}
        facts = {"contains": [*versions_inside().values()], **incomplete}
        extraction = Extraction("application/zip", TextQuality.PARTIAL, [Passage(words)], facts)
        with world.engine.begin() as connection:
            results.store(connection, {key: extraction})
            return results.find(connection, [key])[key].passages[0].text

    assert taken("a", "b.pdf", "c.pdf") == "a"
    assert taken("a b", "c.pdf") == "a b"
    assert taken("a c", "b.pdf") == "a c"
    assert taken("a b", "c.pdf") == "a b"
    assert taken("a b c") == "a b c"
    assert taken("a b", "c.pdf") == "a b c"


def test_but_not_for_whoever_waited_already(library: Library, odd: CountingPool) -> None:
    upload(library, "a.zip")
    upload(library, "b.zip")
    deliver(library, odd)
    odd.taken()
    try_again(library, odd)
    assert (texts(library), len(odd.taken())) == ([LEFT_OUT] * 2, 1)


def test_nor_for_a_job_that_only_publishes_again(
    library: Library, odd: CountingPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the same was left out before, and the text of that time is kept."""

    def fail(*_arguments: object) -> None:
        raise RuntimeError("the index stumbles")

    upload(library, "a.zip")
    for accepted in (1, 2):
        deliver(library, odd)
        with monkeypatch.context() as patched:
            patched.setattr(type(library.backend), "publish", fail)
            try_again(library, odd)
        assert odd.taken() == ["a.zip"] * 2
        try_again(library, odd)
        assert (texts(library), odd.taken()) == ([LEFT_OUT] * accepted, [])
        reindex(library)
    library.check()
