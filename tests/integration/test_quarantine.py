"""What a person may do with a job that failed for good, and what is refused."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from pipeline import cursors, events, leases, quarantine
from pipeline.acceptance import Acceptance
from pipeline.errors import Conflict, Invalid, NotFound, Refusal
from pipeline.outcomes import Published, Rejected
from pipeline.quarantine import Filter
from pipeline.states import State
from tests.support.rows import OperatedWorld
from tests.support.servers import Database

BROKEN = Rejected("corrupt", "The file ends in the middle.")


@pytest.fixture
def world(database: Database) -> OperatedWorld:
    return OperatedWorld(database.engine).run()


def failed(world: OperatedWorld, filename: str = "a.pdf", **fields: Any) -> Acceptance:
    """A document whose only version is quarantined."""
    accepted = world.file(filename, **fields)
    assert accepted.job_id is not None
    assert world.attempt(accepted.job_id, BROKEN) is State.QUARANTINED
    return accepted


def act(world: OperatedWorld, job_id: UUID | None, *, as_new_version: bool = False) -> Acceptance | Refusal:
    assert job_id is not None
    with world.engine.begin() as connection:
        answers = quarantine.replay(connection, [job_id], as_new_version=as_new_version, settings=world.settings)
    return answers[job_id]


@contextmanager
def heard() -> Iterator[list[str]]:
    """The names of the events emitted inside the block."""
    names: list[str] = []

    def subscriber(name: str, _fields: dict[str, object]) -> None:
        names.append(name)

    events.subscribe(subscriber)
    try:
        yield names
    finally:
        events.unsubscribe(subscriber)


def test_a_replay_starts_the_budgets_anew_and_keeps_the_generation(world: OperatedWorld) -> None:
    broken = failed(world)
    before = world.job(broken.job_id)

    with heard() as names:
        answer = act(world, broken.job_id)

    job = world.job(broken.job_id)
    assert answer == Acceptance(broken.document_id, 1, job["job_id"], State.QUEUED, unchanged=False)
    assert (job["state"], job["attempt"], job["elapsed_spent"]) == ("queued", 0, timedelta())
    assert (job["generation"], job["input_version"], job["alone"]) == (before["generation"], 1, True)
    assert world.row("SELECT resolved_at, note FROM quarantine")["note"] == "Replayed."
    assert "job.replayed" in names
    world.check()


def test_a_replayed_job_is_sent_and_may_succeed(world: OperatedWorld) -> None:
    broken = failed(world)
    act(world, broken.job_id)

    (delivery,) = world.relay()
    (taken,) = world.lease(*delivery.jobs)

    assert delivery.jobs == (broken.job_id,)
    assert (taken.generation, taken.attempt) == (2, 1)
    assert world.finish(taken) is State.SUCCEEDED
    world.check()


def test_the_worker_of_an_earlier_attempt_stays_fenced_off_after_a_replay(world: OperatedWorld) -> None:
    accepted = world.file()
    assert accepted.job_id is not None
    late = world.take(accepted.job_id)
    world.finish(late, BROKEN)
    act(world, accepted.job_id)
    world.take(accepted.job_id)

    assert world.finish(late, Published()) is None
    with world.engine.begin() as connection:
        assert leases.lock_held(connection, [late]) == set()


def test_a_replay_as_new_version_gets_the_next_number(world: OperatedWorld) -> None:
    broken = failed(world)

    answer = act(world, broken.job_id, as_new_version=True)

    assert isinstance(answer, Acceptance)
    assert (answer.document_id, answer.input_version, answer.state) == (broken.document_id, 2, State.QUEUED)
    assert world.job(broken.job_id)["state"] == "resolved"
    assert world.row("SELECT note FROM quarantine")["note"] == "Replayed as version 2."
    assert world.job(answer.job_id)["alone"], "the suspicion is inherited"
    old, new = world.rows("SELECT sha256, filename FROM versions ORDER BY input_version")
    assert old == new
    world.check()


def test_a_quarantined_delete_is_replayed_as_a_delete(world: OperatedWorld) -> None:
    document = world.file()
    deletion = world.delete(document.document_id)
    assert deletion.job_id is not None
    world.attempt(deletion.job_id, BROKEN)

    answer = act(world, deletion.job_id, as_new_version=True)

    assert isinstance(answer, Acceptance)
    assert world.job(answer.job_id)["operation"] == "delete"
    world.check()


@pytest.mark.parametrize("as_new_version", [False, True])
def test_an_older_version_is_not_replayed(world: OperatedWorld, as_new_version: bool) -> None:  # noqa: FBT001 - a case
    broken = failed(world)
    world.file("b.pdf", document_id=broken.document_id)

    answer = act(world, broken.job_id, as_new_version=as_new_version)

    assert isinstance(answer, Conflict)
    assert answer.code == "newer_version_exists"
    assert world.job(broken.job_id)["state"] == "quarantined"
    world.check()


def test_only_a_quarantined_job_is_replayed_and_only_once(world: OperatedWorld) -> None:
    broken = failed(world)
    act(world, broken.job_id)

    again = act(world, broken.job_id)
    unknown = act(world, uuid4())

    assert isinstance(again, Conflict)
    assert again.code == "not_quarantined"
    assert isinstance(unknown, NotFound)


def test_a_dismissed_job_is_resolved_with_its_note(world: OperatedWorld) -> None:
    broken = failed(world)
    assert broken.job_id is not None

    with world.engine.begin() as connection, heard() as names:
        quarantine.dismiss(connection, [broken.job_id], note="Nobody needs it.")

    job = world.job(broken.job_id)
    assert (job["state"], job["finished_at"] is not None) == ("resolved", True)
    assert world.row("SELECT note FROM quarantine")["note"] == "Nobody needs it."
    assert names == ["job.dismissed"]
    world.check()


def test_an_older_version_may_be_dismissed(world: OperatedWorld) -> None:
    broken = failed(world)
    assert broken.job_id is not None
    world.file("b.pdf", document_id=broken.document_id)

    with world.engine.begin() as connection:
        answers = quarantine.dismiss(connection, [broken.job_id], note="Old.")

    assert isinstance(answers[broken.job_id], Acceptance)


def test_an_assigned_job_has_its_new_owner(world: OperatedWorld) -> None:
    broken, other = failed(world), failed(world, "b.pdf")
    assert broken.job_id is not None

    with world.engine.begin() as connection:
        quarantine.assign(connection, [broken.job_id], owner="mina")
        theirs, _ = quarantine.listing(connection, Filter(owner="mina"), None)

    assert [item["job_id"] for item in theirs] == [broken.job_id]
    assert world.row("SELECT owner FROM quarantine WHERE job_id = :id", id=other.job_id)["owner"] == "operators"


def test_the_list_pages_from_the_newest_to_the_oldest(world: OperatedWorld) -> None:
    jobs = [failed(world, f"{n}.pdf").job_id for n in range(5)]

    with world.engine.connect() as connection:
        seen, cursor = [], None
        while True:
            items, cursor = quarantine.listing(connection, Filter(), None, cursor=cursor, limit=2)
            seen += [item["job_id"] for item in items]
            if cursor is None:
                break

    assert seen == jobs[::-1]


def test_an_item_says_what_is_wrong_and_what_helps(world: OperatedWorld) -> None:
    broken = failed(world, "report.pdf")

    with world.engine.connect() as connection:
        ((item,), _) = quarantine.listing(connection, Filter(code="corrupt", collection="default"), None)
        assert quarantine.listing(connection, Filter(code="empty_file"), None) == ([], None)
        assert quarantine.listing(connection, Filter(collection="other"), None) == ([], None)

    assert (item["document_id"], item["code"], item["message"]) == (broken.document_id, BROKEN.code, BROKEN.message)
    assert item["hint"].startswith("Open and save the file")
    assert (item["owner"], item["filename"], item["attempt"], item["generation"]) == ("operators", "report.pdf", 1, 1)


def test_a_cursor_of_somebody_else_is_refused(world: OperatedWorld) -> None:
    with world.engine.connect() as connection:
        for cursor in ("nonsense!", "W10", "WzEsMl0", cursors.encode("yesterday", "nobody")):
            with pytest.raises(Invalid, match="cursor"):
                quarantine.listing(connection, Filter(), None, cursor=cursor)


def test_many_are_replayed_in_batches_and_each_answer_is_its_own(
    world: OperatedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quarantine, "BATCH", 2)
    broken = [failed(world, f"{n}.pdf") for n in range(5)]
    world.file("newer.pdf", document_id=broken[1].document_id)

    batches = list(
        quarantine.each_batch(
            world.engine,
            Filter(code="corrupt"),
            None,
            lambda connection, jobs: quarantine.replay(connection, jobs, as_new_version=False, settings=world.settings),
        )
    )

    assert [len(batch) for batch in batches] == [2, 2, 1]
    answers = {job_id: answer for batch in batches for job_id, answer in batch.items()}
    refused = [job_id for job_id, answer in answers.items() if isinstance(answer, Refusal)]
    assert refused == [broken[1].job_id]
    assert world.row("SELECT count(*) AS n FROM jobs WHERE state = 'queued'")["n"] == 5
    world.check()


@pytest.mark.parametrize("move", ["dismiss", "assign"])
def test_only_a_quarantined_job_is_dismissed_or_assigned(world: OperatedWorld, move: str) -> None:
    broken = failed(world)
    assert broken.job_id is not None
    act(world, broken.job_id)

    with world.engine.begin() as connection:
        if move == "dismiss":
            answers = quarantine.dismiss(connection, [broken.job_id], note="Too late.")
        else:
            answers = quarantine.assign(connection, [broken.job_id], owner="mina")

    refused = answers[broken.job_id]
    assert isinstance(refused, Conflict)
    assert refused.code == "not_quarantined"
    assert world.job(broken.job_id)["state"] == "queued"
    assert world.row("SELECT owner, note FROM quarantine") == {"owner": "operators", "note": "Replayed."}
    world.check()
