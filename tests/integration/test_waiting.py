"""Why is it waiting? One test for each reason, and for their order."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from pipeline import breaker, outbox, waiting
from pipeline.outcomes import Rejected, RetryLater
from pipeline.settings import Budget
from tests.support.rows import OperatedWorld
from tests.support.servers import Database


@pytest.fixture
def idle(database: Database) -> OperatedWorld:
    """Nothing runs."""
    return OperatedWorld(database.engine)


@pytest.fixture
def world(idle: OperatedWorld) -> OperatedWorld:
    """A relay and a worker run."""
    return idle.run()


def why(world: OperatedWorld, job_id: UUID) -> str | None:
    with world.engine.connect() as connection:
        return waiting.explain(connection, [job_id], world.settings).get(job_id)


def open_breaker(world: OperatedWorld, name: str, *, reason: str) -> None:
    with world.engine.begin() as connection:
        breaker.trip(connection, name, reason=reason)


def test_a_job_behind_one_in_work_says_its_place_and_who_works(world: OperatedWorld) -> None:
    first, second, third = (world.file(name).job_id for name in ("report.pdf", "b.txt", "c.txt"))
    world.take(first)
    world.age("attempts", "started_at", timedelta(seconds=4))

    assert (
        why(world, second) == f"1st in partition 0, behind report.pdf (leased 4 s ago by worker host-{world.worker_id})"
    )
    assert (
        why(world, third) == f"2nd in partition 0, behind report.pdf (leased 4 s ago by worker host-{world.worker_id})"
    )


def test_a_document_of_another_collection_is_not_named(world: OperatedWorld) -> None:
    secret = world.file("secret.pdf", collection="theirs")
    mine = world.file("mine.pdf", collection="ours")
    world.take(secret.job_id)

    sentence = why(world, mine.job_id)

    assert sentence is not None
    assert sentence.startswith("1st in partition 0, behind another document (leased 0 s ago")


def test_collections_take_turns_in_the_line(world: OperatedWorld) -> None:
    flood = [world.file(f"{n}.txt", collection="big").job_id for n in range(20)]
    single = world.file("single.txt", collection="small").job_id

    assert why(world, single) == "2nd in partition 0, about to be sent"
    assert why(world, flood[0]) == "1st in partition 0, about to be sent"
    assert why(world, flood[1]) == "3rd in partition 0, about to be sent"


def test_a_delete_goes_before_uploads(world: OperatedWorld) -> None:
    old = world.file("old.txt")
    world.attempt(old.job_id, Rejected("corrupt", "Broken."))
    upload = world.file("new.txt")
    delete = world.delete(old.document_id)

    assert why(world, delete.job_id) == "1st in partition 0, about to be sent"
    assert why(world, upload.job_id) == "2nd in partition 0, about to be sent"


def test_what_was_sent_stands_before_what_was_not(world: OperatedWorld) -> None:
    sent = [world.file(f"{n}.txt").job_id for n in range(2)]
    world.relay()
    world.age("jobs", "sent_at", timedelta(seconds=2))
    unsent = world.file("late.txt").job_id

    assert why(world, sent[0]) == "sent 2 s ago, not yet taken"
    assert why(world, sent[1]) == "2nd in partition 0, sent 2 s ago, not yet taken"
    assert why(world, unsent) == "3rd in partition 0, about to be sent"


def test_places_beyond_a_thousand_are_not_counted(world: OperatedWorld) -> None:
    jobs = [world.file(f"{n}.txt").job_id for n in range(2)]
    multiply_outbox(world, before=jobs[1], by=1_100)

    assert why(world, jobs[0]) == "1st in partition 0, about to be sent"
    assert why(world, jobs[1]) == "1,000+ in partition 0, about to be sent"


def multiply_outbox(world: OperatedWorld, *, before: UUID, by: int) -> None:
    """Puts that many documents between the first job and `before`."""
    world.execute(
        """
        WITH document AS (
            INSERT INTO documents (document_id, collection_id, input_version)
            SELECT gen_random_uuid(), 1, 1 FROM generate_series(1, :by) RETURNING document_id
        ), job AS (
            INSERT INTO jobs (document_id, collection_id, input_version, operation, partition, priority)
            SELECT document_id, 1, 1, 'index', 0, 1 FROM document RETURNING job_id
        )
        INSERT INTO outbox (job_id, partition, priority, collection_id, due_at)
        SELECT job.job_id, 0, 1, 1, o.due_at - interval '1 us' FROM job, outbox o WHERE o.job_id = :before
        """,
        by=by,
        before=before,
    )


def test_no_worker_reads_the_partition_since(idle: OperatedWorld) -> None:
    idle.process("relay")
    idle.process("worker", silent_for=3600)
    job_id = idle.file().job_id
    last = idle.row("SELECT heartbeat_at FROM processes WHERE kind = 'worker'")["heartbeat_at"]

    sentence = why(idle, job_id)

    assert sentence is not None
    assert sentence.startswith("no worker reads partition 0 since ")
    assert f"{last:%H:%M} UTC" in sentence


@pytest.mark.parametrize("column", ["ended_at", "lost_at"])
def test_a_worker_that_ended_or_was_lost_reads_nothing(world: OperatedWorld, column: str) -> None:
    job_id = world.file().job_id
    world.execute(f"UPDATE processes SET {column} = now() WHERE kind = 'worker'")

    sentence = why(world, job_id)

    assert sentence is not None
    assert sentence.startswith("no worker reads partition 0 since ")


def test_a_worker_of_other_partitions_does_not_count(idle: OperatedWorld) -> None:
    idle.process("relay")
    idle.process("worker", partitions=(1, 2))

    assert why(idle, idle.file().job_id) == "no worker has ever read partition 0"


def test_no_relay_is_running(idle: OperatedWorld) -> None:
    idle.process("worker")
    idle.process("relay", silent_for=60)

    assert why(idle, idle.file().job_id) == "no relay is running"


def test_what_was_sent_needs_no_relay(idle: OperatedWorld) -> None:
    idle.process("worker")
    job_id = idle.file().job_id
    idle.relay()

    assert why(idle, job_id) == "sent 0 s ago, not yet taken"


def test_the_broker_is_unreachable(world: OperatedWorld) -> None:
    job_id = world.file().job_id
    world.file("other.txt")
    open_breaker(world, "broker", reason="connection refused")
    world.age("breakers", "opened_at", timedelta(minutes=2))

    assert why(world, job_id) == "broker unreachable for 2 min; 2 publications waiting"


def test_publishing_is_paused(world: OperatedWorld) -> None:
    job_id = world.file().job_id
    open_breaker(world, "index", reason="The index is read-only (disk).")

    assert why(world, job_id) == "publishing is paused: the index is read-only (disk)"


def test_the_broker_refuses_its_message(world: OperatedWorld) -> None:
    job_id = world.file().job_id
    settings = world.settings.model_copy(update={"budget": Budget(publications=1)})
    with world.engine.begin() as connection:
        (delivery,) = outbox.claim(connection, settings).deliveries
        outbox.refuse(connection, delivery, settings, error="wrong type")

    assert why(world, job_id) == "the broker refuses its message (wrong type): release it"


def test_a_retry_says_when_and_after_what(world: OperatedWorld) -> None:
    job_id = world.file().job_id
    world.attempt(job_id, RetryLater("busy", "The index answered 429.", delay=timedelta(seconds=1)))
    world.age("jobs", "due_at", timedelta(minutes=1))
    world.age("outbox", "due_at", timedelta(minutes=1))
    world.attempt(job_id, RetryLater("busy", "The index answered 429.", delay=timedelta(seconds=40.4)))

    assert why(world, job_id) == "retry 3 of 8 in 40 s after: The index answered 429."


def test_a_due_retry_stands_in_line_like_any_other(world: OperatedWorld) -> None:
    job_id = world.file().job_id
    world.attempt(job_id, RetryLater("busy", "Busy.", delay=timedelta(seconds=1)))
    world.age("jobs", "due_at", timedelta(minutes=1))
    world.age("outbox", "due_at", timedelta(minutes=1))

    assert why(world, job_id) == "1st in partition 0, about to be sent"


def test_a_version_waits_for_the_older_one_in_work(world: OperatedWorld) -> None:
    first = world.file("a.txt")
    world.take(first.job_id)
    world.age("attempts", "started_at", timedelta(seconds=4))
    second = world.file("b.txt", document_id=first.document_id)

    assert why(world, second.job_id) == "waits for version 1 of the same document, leased 4 s ago"


def test_a_leased_job_says_who_works_on_it(world: OperatedWorld) -> None:
    job_id = world.file().job_id
    world.take(job_id)

    assert why(world, job_id) == f"in work: leased 0 s ago by worker host-{world.worker_id}, attempt 1 of 8"


def test_an_expired_lease_says_so(world: OperatedWorld) -> None:
    job_id = world.file().job_id
    world.take(job_id)
    world.age("jobs", "lease_until", timedelta(seconds=35))

    assert why(world, job_id) == f"worker host-{world.worker_id} went silent: the lease ran out 5 s ago"


def test_a_quarantined_job_needs_a_person(world: OperatedWorld) -> None:
    job_id = world.file().job_id
    world.attempt(job_id, Rejected("password_required", "The file is encrypted."))

    assert why(world, job_id) == "needs a person: The file is encrypted."


def test_the_job_s_own_trouble_is_said_before_that_of_the_system(idle: OperatedWorld) -> None:
    """Nothing runs and the broker is away: still the retry, whose time has not come, is the nearest truth."""
    retrying, waiting_job = idle.file("a.txt").job_id, idle.file("b.txt").job_id
    idle.attempt(retrying, RetryLater("busy", "Busy.", delay=timedelta(seconds=100.4)))
    open_breaker(idle, "broker", reason="away")

    assert why(idle, retrying) == "retry 2 of 8 in 100 s after: Busy."
    assert why(idle, waiting_job) == "no relay is running"


def test_many_are_explained_at_once_and_final_or_unknown_ones_left_out(world: OperatedWorld) -> None:
    jobs = [world.file(f"{n}.txt").job_id for n in range(50)]
    world.attempt(jobs[0])

    with world.engine.connect() as connection:
        sentences = waiting.explain(connection, [*jobs, uuid4()], world.settings)

        assert sentences.keys() == set(jobs[1:])
        assert waiting.explain(connection, [], world.settings) == {}
