"""A rebuild under live uploads and deletes, whose sweeper or worker is killed at each step, ends with zero drift."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pipeline import builds
from pipeline.builds import Phase
from pipeline.faults import Fault
from tests.support.indexing import Library
from tests.support.stack import Stack, killed
from tests.support.waiting import until
from tests.support.world import World

SWEEPER = [
    Fault.BUILD_AFTER_CREATE,
    Fault.BUILD_AFTER_CREATING,
    Fault.BUILD_AFTER_DRAINING,
    Fault.BUILD_AFTER_FILLING,
    Fault.VERIFY_AFTER_CHUNK,
    Fault.BUILD_AFTER_VERIFYING,
    Fault.BUILD_BEFORE_SWAP_COMMIT,
    Fault.BUILD_AFTER_SWAPPING,
]
WORKER = [Fault.REFILL_AFTER_LEASE, Fault.REFILL_AFTER_PUBLISH, Fault.REFILL_AFTER_FINISH]
CANCEL = [Fault.BUILD_AFTER_CANCELLING, Fault.BUILD_AFTER_DROP]
BATCHES = {"FENCEPOST_REFILL__BATCH_DOCUMENTS": "5"}


@pytest.fixture
def filled(library: Library) -> Library:
    """Thirty documents that are published already."""
    library.add_many(30)
    library.world.execute("UPDATE processes SET ended_at = now()")
    return library


@contextmanager
def live_work(world: World) -> Iterator[None]:
    """Uploads, updates and deletes, one after the other, until the end of the block."""
    documents = [row["document_id"] for row in world.rows("SELECT document_id FROM documents ORDER BY 1")]
    stopping = threading.Event()

    def work() -> None:
        n = 0
        while not stopping.wait(0.05):
            n += 1
            world.upload(f"live upload {n}")
            world.upload(f"changed {n}", document_id=documents[n % len(documents)])
            if n % 3 == 0:
                world.delete(documents[(n * 7) % len(documents)])

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()


def ended_well(library: Library) -> None:
    """The rebuild is done, everything accepted is finished, and the new index is as it should be."""
    world = library.world
    until(lambda: library.build().phase is Phase.DONE, seconds=90, what="the end of the rebuild")
    unfinished = "SELECT count(*) AS n FROM jobs WHERE finished_at IS NULL"
    until(lambda: world.row(unfinished)["n"] == 0, seconds=60, what="the end of the live work")
    assert library.verify().drifted == 0
    library.check()
    world.check()
    states = [row["state"] for row in world.rows("SELECT state FROM search_indexes ORDER BY index_id")]
    assert states[-2:] == ["retired", "live"]
    assert world.rows("SELECT FROM refills") == []


@pytest.mark.parametrize("fault", SWEEPER)
def test_a_sweeper_killed_here_does_not_harm_a_rebuild(filled: Library, stack: Stack, fault: Fault) -> None:
    stack.start("relay")
    stack.start("worker", **BATCHES, **filled.variables)
    dying = stack.start_armed(f"kill:{fault}", "sweeper", **filled.variables)
    with live_work(filled.world):
        filled.rebuild()
        assert killed(dying, seconds=60)
        stack.start("sweeper", **filled.variables)
        until(lambda: filled.build().phase is Phase.DONE, seconds=90, what="the end of the rebuild")
    ended_well(filled)


@pytest.mark.parametrize("fault", WORKER)
def test_a_worker_killed_here_does_not_harm_a_rebuild(filled: Library, stack: Stack, fault: Fault) -> None:
    stack.start("relay")
    stack.start("sweeper", **filled.variables)
    dying = stack.start_armed(f"kill:{fault}", "worker", **BATCHES, **filled.variables)
    with live_work(filled.world):
        filled.rebuild()
        assert killed(dying, seconds=60)
        stack.start("worker", **BATCHES, **filled.variables)
        until(lambda: filled.build().phase is Phase.DONE, seconds=90, what="the end of the rebuild")
    ended_well(filled)


@pytest.mark.parametrize("fault", CANCEL)
def test_a_sweeper_killed_here_does_not_harm_a_cancel(filled: Library, stack: Stack, fault: Fault) -> None:
    filled.run(filled.rebuild(), to=Phase.FILLING)
    with filled.world.engine.begin() as connection:
        builds.cancel(connection)
    assert killed(stack.start_armed(f"kill:{fault}", "sweeper", **filled.variables), seconds=60)
    stack.start("sweeper", **filled.variables)
    until(lambda: filled.build().phase is Phase.CANCELLED, seconds=60, what="the end of the cancel")
    assert filled.verify().drifted == 0
    assert len(filled.world.rows("SELECT FROM search_indexes WHERE state <> 'dropped'")) == 1
