"""Rebuilding: a new index with everything in it, while everybody goes on."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import create_engine

from indexer.rebuilding import Builder
from indexer.refilling import WAIT_SECONDS, Refiller
from indexer.search.backend import Entry, SearchBackend
from pipeline import builds, indexes, refills
from pipeline.builds import Kind, Phase
from pipeline.errors import Conflict, IndexUnavailable, NotFound
from pipeline.holding import Holding
from pipeline.indexes import IndexState
from pipeline.outcomes import Outcome, Published, Rejected, RetryLater
from pipeline.purging import Purger
from tests.support.indexing import Library
from tests.support.waiting import until


def names(library: Library) -> dict[str, IndexState]:
    with library.world.engine.connect() as connection:
        return {one.name: one.state for one in indexes.everyone(connection)}


def newest(library: Library) -> str:
    return list(names(library))[-1]


def test_a_rebuild_makes_a_new_live_index_and_keeps_the_old_one(library: Library):
    documents = library.add_many(30)
    library.delete(documents[0])
    library.update(documents[1])
    before = library.entries()
    (old,) = names(library)
    build = library.run(library.rebuild())
    assert (build.phase, build.total, build.done, build.failed) == (Phase.DONE, 30, 30, 0)
    assert [*names(library).values()] == [IndexState.RETIRED, IndexState.LIVE]
    assert library.entries() == before
    assert (library.find("lighthouse"), library.find("harbour")) == (28, 1)
    library.update(documents[2])
    assert library.entries()[documents[2]].version == 2
    assert library.entries(old)[documents[2]].version == 1, "nothing is published to a retired index"
    library.check()


def test_a_refill_never_needs_two_connections_at_once(library: Library):
    document = library.add("Die Häuser am Hafen", metadata={"language": "de"})
    library.run(library.rebuild(), to=Phase.FILLING)
    engine = create_engine(library.world.engine.url, pool_size=1, max_overflow=0, pool_timeout=1)
    holding = Holding(attempt_seconds=60)
    refiller = Refiller(engine, library.backend, holding, worker_id=1, settings=library.world.settings)
    until(lambda: refiller.run_once() != WAIT_SECONDS, what="the refill")
    engine.dispose()
    assert [*library.entries(newest(library))] == [document]


def test_searches_go_on_in_every_phase(library: Library):
    library.add_many(5)
    library.rebuild()
    seen = []
    while library.build().finished_at is None:
        seen.append((library.build().phase, library.find("lighthouse")))
        library.builder.run_once()
        library.refiller.run_once()
    assert {phase for phase, _ in seen} >= {
        Phase.CREATING,
        Phase.DRAINING,
        Phase.FILLING,
        Phase.VERIFYING,
        Phase.SWAPPING,
    }
    assert {found for _, found in seen} == {5}
    assert library.find("lighthouse") == 5


def test_what_is_published_meanwhile_goes_to_both(library: Library):
    kept, changed, gone = library.add_many(3)
    library.run(library.rebuild(), to=Phase.FILLING)
    library.update(changed)
    library.delete(gone)
    added = library.add()
    assert library.entries(newest(library)).keys() == {changed, gone, added}
    library.run(library.build())
    assert library.build().phase is Phase.DONE
    assert library.entries().keys() == {kept, changed, gone, added}
    library.check()


def test_the_refill_waits_for_attempts_that_do_not_know_of_the_new_index(library: Library):
    library.add_many(2)
    late = library.world.upload("late")
    (held,) = library.world.lease(late.job_id)
    library.run(library.rebuild(), to=Phase.DRAINING)
    for _ in range(3):
        library.builder.run_once()
    assert library.build().phase is Phase.DRAINING
    library.write(held, "late")
    library.finish(held, "late")
    library.run(library.build())
    assert library.entries().keys() >= {late.document_id}
    library.check()


def test_a_late_refill_of_an_older_version_changes_nothing(library: Library):
    (document,) = library.add_many(1)
    library.run(library.rebuild(), to=Phase.FILLING)
    with library.world.engine.begin() as connection:
        batch = refills.lease(connection, backend=library.backend.kind, worker_id=1, most=10, most_bytes=10**6)
    assert batch is not None
    library.update(document)
    library.refiller._refill(batch)
    library.run(library.build())
    assert library.entries()[document].version == 2
    assert library.find("harbour") == 1


def test_a_holder_that_lost_its_refill_ends_nothing(library: Library):
    library.add_many(2)
    library.run(library.rebuild(), to=Phase.FILLING)
    with library.world.engine.begin() as connection:
        options = {"backend": library.backend.kind, "worker_id": 999, "most": 10, "most_bytes": 10**6}
        old = refills.lease(connection, **options)
        new = refills.lease(connection, **options)
        assert old is not None
        assert new is not None
        assert [one.generation for one in new.refills] == [2, 2], "worker 999 is not there, so it is gone"
        assert refills.lock_held(connection, old) == []
        for outcome in (RetryLater("x", "x"), Published()):
            ended = [(one, outcome) for one in old.refills]
            refills.finish_if_held(connection, old.build_id, ended, library.world.settings)
        assert len(refills.lock_held(connection, new)) == 2
    untouched = "SELECT FROM refills WHERE attempts = 0 AND lease_until IS NOT NULL AND last_error IS NULL"
    assert len(library.world.rows(untouched)) == 2


def test_two_workers_share_the_documents(library: Library):
    library.add_many(10)
    library.world.settings = library.world.settings.model_copy(
        update={"refill": library.world.settings.refill.model_copy(update={"batch_documents": 3})}
    )
    library.run(library.rebuild(), to=Phase.FILLING)
    workers = [library.refilling_worker(), library.refilling_worker()]
    threads = [threading.Thread(target=lambda w=w: [w.run_once() for _ in range(6)]) for w in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    build = library.run(library.build())
    assert (build.phase, build.done) == (Phase.DONE, 10)
    library.check()


def test_a_batch_is_cut_by_bytes_and_a_large_document_travels_alone(library: Library):
    for n in range(4):
        library.add("".join(f"{n}{i} " for i in range(20_000)))
    library.run(library.rebuild(), to=Phase.FILLING)
    with library.world.engine.begin() as connection:
        options = {"backend": library.backend.kind, "worker_id": 1, "most": 100, "most_bytes": 1000}
        walked = refills.lease(connection, **options)
        again = refills.lease(connection, **options)
    assert walked is not None
    assert again is not None
    assert len(walked.refills) == len(again.refills) == 1


def test_a_refill_rests_while_there_is_live_work(library: Library):
    library.add_many(3)
    library.run(library.rebuild(), to=Phase.FILLING)
    holding = Holding(attempt_seconds=60)
    (lease,) = library.world.lease(library.world.upload("live").job_id)
    holding.add([lease], asked_at=holding.now(), seconds=30)
    assert library.refilling_worker(holding).run_once() > 0
    library.finish(lease, "live")


class Troubled:
    """A backend whose publishing fails in the given way, as long as there is one."""

    def __init__(self, backend: SearchBackend) -> None:
        self._backend = backend
        self.outcome: Callable[[Entry], Outcome | None] = lambda _entry: None

    def __getattr__(self, name: str) -> object:
        return getattr(self._backend, name)

    def publish(self, connection: Any, targets: Any, entries: Any) -> Any:
        bad = {entry.document_id: outcome for entry in entries if (outcome := self.outcome(entry))}
        good = [entry for entry in entries if entry.document_id not in bad]
        return self._backend.publish(connection, targets, good) | bad


@pytest.fixture
def troubled(library: Library) -> Troubled:
    library.backend = Troubled(library.backend)
    library.__post_init__()
    return library.backend


def test_an_engine_in_trouble_costs_no_refill_its_budget(library: Library, troubled: Troubled):
    library.add_many(4)
    library.run(library.rebuild(), to=Phase.FILLING)
    troubled.outcome = lambda _: RetryLater("index_unavailable", "It is away.", refund=True)
    assert library.refiller.run_once() >= 1
    rows = library.world.rows("SELECT attempts, failed, lease_until FROM refills")
    assert [tuple(row.values()) for row in rows] == [(0, False, None)] * 4
    assert library.world.row("SELECT name, reason FROM breakers") == {"name": "index", "reason": "It is away."}
    troubled.outcome = lambda _: None
    library.world.execute("DELETE FROM breakers")
    library.world.execute("UPDATE refills SET due_at = now()")
    assert library.run(library.build()).phase is Phase.DONE


def test_a_rebuild_goes_on_while_the_index_is_in_trouble(library: Library):
    """It may be the only way out: a live index that somebody deleted takes writes only after the swap."""
    library.add_many(4)
    library.run(library.rebuild(), to=Phase.FILLING)
    library.world.execute("INSERT INTO breakers (name, reason) VALUES ('index', 'gone')")
    assert library.run(library.build()).phase is Phase.DONE


def test_a_repair_waits_while_the_index_is_in_trouble(library: Library):
    library.add_many(4)
    library.lose(*library.entries())
    with library.world.engine.begin() as connection:
        live = indexes.must_be_live(connection)
        repair = builds.begin(connection, Kind.REPAIR, live.index_id, Phase.FILLING, walks=True)
    library.world.execute("INSERT INTO breakers (name, reason) VALUES ('index', 'away')")
    library.refiller.run_once()
    assert library.entries() == {}
    library.world.execute("DELETE FROM breakers")
    assert library.run(repair).phase is Phase.DONE
    library.check()


def test_a_document_that_cannot_be_written_stops_the_swap_until_it_can(library: Library, troubled: Troubled):
    bad, *_ = library.add_many(4)
    troubled.outcome = lambda entry: (
        Rejected("index_payload_too_large", "Too large.") if entry.document_id == bad else None
    )
    library.rebuild()
    stuck = library.run(library.build())
    assert stuck.phase is Phase.STUCK
    assert f"1 documents still differ: {bad}: Too large." in (stuck.error or "")
    assert library.find("lighthouse") == 4, "the old index is searched"
    troubled.outcome = lambda _: None
    assert library.run(library.rebuild()).phase is Phase.DONE, "the same build goes on"
    assert library.build().build_id == stuck.build_id
    library.check()


def test_a_stuck_rebuild_goes_on_when_the_document_was_deleted(library: Library, troubled: Troubled):
    bad, *_ = library.add_many(4)
    troubled.outcome = lambda e: Rejected("x", "Bad.") if e.document_id == bad and not e.tombstone else None
    assert library.run(library.rebuild()).phase is Phase.STUCK
    library.delete(bad)
    assert library.run(library.rebuild()).phase is Phase.DONE
    library.check()


def test_a_document_without_a_stored_result_says_so(library: Library):
    document = library.add()
    library.world.execute("UPDATE versions SET result_id = NULL")
    library.world.execute("DELETE FROM results")
    stuck = library.run(library.rebuild())
    assert f"{document}: Its text is not stored any more" in (stuck.error or "")


def test_a_result_that_the_version_does_not_name_is_found_by_its_content(library: Library):
    library.add()
    library.world.execute("UPDATE versions SET result_id = NULL")
    assert library.run(library.rebuild()).phase is Phase.DONE
    assert library.find("lighthouse") == 1


def test_an_unforeseen_fault_of_one_document_does_not_stop_the_others(library: Library, troubled: Troubled):
    bad, *_ = library.add_many(4)

    def outcome(entry: Entry) -> Outcome | None:
        if entry.document_id == bad:
            raise RuntimeError("no")
        return None

    troubled.outcome = outcome
    library.run(library.rebuild(), to=Phase.FILLING)
    library.refiller.run_once()
    (left,) = library.world.rows("SELECT document_id, attempts, last_error FROM refills")
    assert (left["document_id"], left["attempts"], left["last_error"]) == (bad, 1, "RuntimeError: no")


def test_only_one_build_at_a_time(library: Library):
    library.rebuild()
    with pytest.raises(Conflict, match="under way"):
        library.rebuild()
    with pytest.raises(Conflict, match="under way"):
        library.verify(repair=True)


@pytest.mark.parametrize("phase", [Phase.CREATING, Phase.DRAINING, Phase.FILLING, Phase.VERIFYING, Phase.SWAPPING])
def test_a_rebuild_can_be_cancelled_in_every_phase(library: Library, phase: Phase):
    library.add_many(3)
    library.rebuild()
    while library.build().phase is not phase:
        library.builder.run_once()
        library.refiller.run_once()
    with library.world.engine.begin() as connection:
        builds.cancel(connection)
    assert library.run(library.build()).phase is Phase.CANCELLED
    assert [*names(library).values()] == [IndexState.LIVE]
    assert library.find("lighthouse") == 3
    library.add()
    assert library.verify().drifted == 0
    assert library.run(library.rebuild()).phase is Phase.DONE, "and another one may begin"


def test_a_cancelled_index_is_dropped_only_when_nobody_publishes_to_it(library: Library):
    library.run(library.rebuild(), to=Phase.FILLING)
    accepted = library.world.upload("late")
    (held,) = library.world.lease(accepted.job_id)
    with library.world.engine.begin() as connection:
        builds.cancel(connection)
    for _ in range(3):
        library.builder.run_once()
    assert library.build().phase is Phase.DROPPING
    library.write(held, "late")
    library.finish(held, "late")
    assert library.run(library.build()).phase is Phase.CANCELLED
    library.check()


def test_nothing_to_cancel(library: Library):
    with library.world.engine.begin() as connection, pytest.raises(NotFound):
        builds.cancel(connection)


def test_only_a_retired_index_that_nobody_uses_can_be_dropped(library: Library):
    (old,) = names(library)
    library.run(library.rebuild(), to=Phase.FILLING)
    accepted = library.world.upload("late")
    library.run(library.build(), to=Phase.SWAPPING)
    (held,) = library.world.lease(accepted.job_id)
    for name in names(library):
        with library.world.engine.begin() as connection, pytest.raises(Conflict, match="only retired"):
            builds.drop_index(connection, name)
    library.run(library.build())
    with library.world.engine.begin() as connection, pytest.raises(Conflict, match="still being published"):
        builds.drop_index(connection, old)
    library.write(held, "late")
    library.finish(held, "late")
    with library.world.engine.begin() as connection:
        library.backend.drop(connection, builds.drop_index(connection, old))
    assert [*names(library).values()] == [IndexState.LIVE]
    with library.world.engine.begin() as connection, pytest.raises(NotFound):
        builds.drop_index(connection, old)
    library.check()


def test_of_what_was_replaced_only_the_newest_is_kept(library: Library):
    library.add_many(2)
    for _ in range(2):
        library.run(library.rebuild())
    _, second, live = names(library)
    library.builder.run_once()
    assert names(library) == {second: IndexState.RETIRED, live: IndexState.LIVE}
    library.check()


def test_a_tombstone_is_not_purged_while_it_is_being_refilled(library: Library):
    document = library.add()
    library.delete(document)
    library.world.execute("UPDATE documents SET published_at = now() - interval '40 days'")
    library.run(library.rebuild(), to=Phase.FILLING)
    library.world.execute("UPDATE processes SET ended_at = now()")
    with library.world.engine.begin() as connection:
        refills.lease(connection, backend=library.backend.kind, worker_id=1, most=10, most_bytes=10**6)
    purger = Purger(library.world.engine, library.backend, library.world.settings)
    assert purger.documents(30) == 0
    library.run(library.build())
    library.world.execute("UPDATE processes SET ended_at = now()")
    assert purger.documents(30) == 1
    assert library.entries() == {}
    assert library.verify().drifted == 0


def test_a_document_that_is_gone_is_done(library: Library):
    library.add()
    library.run(library.rebuild(), to=Phase.FILLING)
    library.world.execute("INSERT INTO refills (build_id, document_id) VALUES (1, :id)", id=uuid4())
    assert library.run(library.build()).phase is Phase.DONE


def test_an_engine_that_is_away_delays_the_builder(library: Library, monkeypatch: pytest.MonkeyPatch):
    def away(*_: object) -> None:
        raise IndexUnavailable("It is away.")

    library.rebuild()
    with monkeypatch.context() as patched:
        patched.setattr(library.backend, "create", away)
        assert library.builder.run_once() > 1
        assert library.build().phase is Phase.CREATING
    assert library.run(library.build()).phase is Phase.DONE


@contextmanager
def searching(library: Library) -> Iterator[set[int]]:
    """What a searcher finds meanwhile."""
    found: set[int] = set()
    stopping = threading.Event()

    def search() -> None:
        while not stopping.is_set():
            found.add(library.find("lighthouse"))

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield found
    finally:
        stopping.set()
        for thread in threads:
            thread.join()


def test_the_swap_is_atomic_for_those_who_search(library: Library):
    library.add_many(20)
    with searching(library) as found:
        for _ in range(3):
            assert library.run(library.rebuild()).phase is Phase.DONE
    assert found == {20}


def test_two_sweepers_move_one_build(library: Library):
    library.add_many(10)
    build = library.rebuild()
    stopping = threading.Event()

    def move() -> None:
        builder = Builder(library.world.engine, library.backend, library.world.settings)
        while not stopping.is_set():
            builder.run_once()

    threads = [threading.Thread(target=move) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        assert library.run(build).phase is Phase.DONE
    finally:
        stopping.set()
        for thread in threads:
            thread.join()
    library.check()
