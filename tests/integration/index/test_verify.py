"""Verifying an index: exactly what differs is found, and repaired; what moves meanwhile is never taken for drift."""

import random
import threading
from uuid import uuid4

import pytest

from indexer.verifying import Verifier
from pipeline import indexes, verifications
from pipeline.builds import Phase
from pipeline.errors import Conflict
from pipeline.outcomes import Rejected
from tests.support.indexing import Library


def test_an_index_that_is_as_it_should_be(library: Library):
    documents = library.add_many(7)
    library.update(documents[0])
    library.delete(documents[1])
    library.world.upload("not published yet")
    found = library.verify(chunk=2)
    assert (found.checked, found.drifted, found.in_flight, found.error) == (7, 0, 0, None)
    assert found.finished_at is not None


def test_an_empty_index(library: Library):
    assert library.verify().checked == 0


def test_five_per_cent_that_were_deleted_by_hand_are_found_and_brought_back(library: Library):
    documents = library.add_many(100)
    lost = random.Random(1).sample(documents, 5)  # noqa: S311 - any five
    library.lose(*lost)
    assert library.find("lighthouse") == 95

    found = library.verify(chunk=9)
    assert library.drifts(found) == dict.fromkeys(lost, "missing")

    repaired = library.verify(repair=True, chunk=9)
    assert library.drifts(repaired) == dict.fromkeys(lost, "missing")
    assert library.build().phase is Phase.DONE
    assert (library.build().total, library.build().done) == (5, 5)
    assert library.find("lighthouse") == 100
    assert library.verify().drifted == 0
    library.check()


def test_each_kind_of_drift_is_found_and_repaired(library: Library):
    missing, stale, ahead, wrong, deleted, fine = library.add_many(6)
    library.update(stale)
    library.delete(deleted)
    unpublished = library.world.upload("never published").document_id
    library.world.execute("UPDATE jobs SET state = 'quarantined' WHERE document_id = :id", id=unpublished)
    unknown = uuid4()
    library.lose(missing)
    library.spoil(stale, 1)
    library.spoil(ahead, 9)
    library.spoil(wrong, 1, tombstone=True)
    library.spoil(deleted, 2, tombstone=False)
    library.spoil(unpublished, 1)
    library.spoil(unknown, 4)

    expected = {
        missing: "missing", stale: "stale", ahead: "ahead", wrong: "wrong_tombstone", deleted: "wrong_tombstone",
        unpublished: "orphaned", unknown: "orphaned",
    }  # fmt: skip
    found = library.verify(chunk=2)
    assert library.drifts(found) == expected
    assert dict(found.drift) == {"missing": 1, "stale": 1, "ahead": 1, "orphaned": 2, "wrong_tombstone": 2}
    assert library.drifts(library.verify(repair=True)) == expected
    assert library.build().phase is Phase.DONE
    assert library.find("spoilt") == 0
    assert library.entries().keys() == {missing, stale, ahead, wrong, deleted, fine}
    library.check()


def test_what_is_published_but_not_finished_is_in_flight(library: Library):
    (document,) = library.add_many(1)
    first = library.world.upload("new")
    second = library.world.upload("harbour", document_id=document)
    held = library.world.lease(first.job_id, second.job_id)
    for lease in held:
        library.write(lease, "words")
    found = library.verify()
    assert (found.drifted, found.in_flight) == (0, 2)
    for lease in held:
        library.finish(lease, "words")
    found = library.verify()
    assert (found.drifted, found.in_flight, found.checked) == (0, 0, 2)


def test_what_an_attempt_left_in_the_index_for_good_is_ahead(library: Library):
    document = library.add()
    (held,) = library.world.lease(library.world.upload("harbour", document_id=document).job_id)
    library.write(held, "harbour")
    library.world.finish(held, Rejected("corrupt", "Broken."))
    assert library.drifts(library.verify()) == {document: "ahead"}


def test_a_missing_entry_is_drift_although_a_newer_version_waits(library: Library):
    document = library.add()
    library.world.upload("harbour", document_id=document)
    library.lose(document)
    assert library.drifts(library.verify()) == {document: "missing"}


def test_a_tombstone_that_is_just_being_purged_is_no_drift(library: Library):
    document = library.add()
    library.delete(document)
    library.lose(document)
    assert library.drifts(library.verify()) == {document: "missing"}
    library.world.execute("UPDATE documents SET published_at = now() - interval '31 days'")
    assert library.verify().drifted == 0, "the entry goes first, then the rows"


def test_live_work_is_never_taken_for_drift(library: Library):
    documents = library.add_many(40)
    stopping = threading.Event()
    chance = random.Random(2)  # noqa: S311 - no secret

    def work() -> None:
        while not stopping.is_set():
            document = chance.choice(documents)
            library.delete(document) if chance.random() < 0.3 else library.update(document, f"w{chance.random()}")
            library.add(f"new {chance.random()}")

    worker = threading.Thread(target=work)
    worker.start()
    try:
        found = [library.verify(chunk=7) for _ in range(15)]
    finally:
        stopping.set()
        worker.join()
    assert [one.drifted for one in found] == [0] * 15
    assert found[-1].checked > 40


def test_a_verification_goes_on_where_it_stopped(library: Library):
    documents = sorted(library.add_many(6))
    library.lose(*documents[::2])
    with library.world.engine.begin() as connection:
        begun = verifications.begin(connection, indexes.must_be_live(connection).index_id)
    for _ in range(2):
        Verifier(library.world.engine, library.backend, library.world.settings, chunk=2).step()
    half = library.verification(begun.verification_id)
    assert (half.checked, half.drifted, half.finished_at) == (4, 2, None)
    while Verifier(library.world.engine, library.backend, library.world.settings, chunk=2).step():
        pass
    whole = library.verification(begun.verification_id)
    assert (whole.checked, set(library.drifts(whole))) == (6, set(documents[::2]))


def test_only_one_at_a_time_and_a_chunk_has_one_owner(library: Library):
    library.add_many(3)
    with library.world.engine.begin() as connection:
        verifications.begin(connection, indexes.must_be_live(connection).index_id)
        with pytest.raises(Conflict, match="already"):
            verifications.begin(connection, indexes.must_be_live(connection).index_id)
    with library.world.engine.begin() as connection:
        assert verifications.claim(connection) is not None
        assert not Verifier(library.world.engine, library.backend, library.world.settings).step()


def test_very_many_differences_are_counted_but_not_all_kept(library: Library, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(verifications, "MOST_DRIFTS", 3)
    library.lose(*library.add_many(8))
    found = library.verify(repair=True, chunk=3)
    assert (found.drift["missing"], len(library.drifts(found))) == (8, 3)
    library.check()


def test_an_ahead_entry_after_a_restored_backup_gives_way_to_new_uploads(library: Library):
    document = library.add("lighthouse")
    library.spoil(document, 5, words="from the future")
    library.verify(repair=True)
    library.update(document, "harbour")
    assert (library.find("harbour"), library.find("future")) == (1, 0)
    library.check()
