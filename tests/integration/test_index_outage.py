"""An index outside PostgreSQL is in trouble: what becomes of the jobs, of their budgets, and of the breaker."""

from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

import psycopg
import pytest

from indexer.attempt import Indexer
from indexer.extract.isolation.pool import ExtractionPool
from indexer.search.backend import Entry
from indexer.search.postgres import Postgres
from indexer.settling import Settler
from indexer.underway import Attempt
from pipeline import breaker, events, outbox
from pipeline.breaker import INDEX
from pipeline.broker import Postman
from pipeline.holding import Holding
from pipeline.leases import Lease
from pipeline.outcomes import RetryLater, outage
from pipeline.probing import Prober
from pipeline.purging import Purger
from pipeline.relay import CHANNEL
from pipeline.states import State
from pipeline.sweeper import Sweeper
from tests.support.elsewhere import Elsewhere
from tests.support.servers import Database
from tests.support.world import World

READ_ONLY = "The index is read-only (disk); free space."


@pytest.fixture
def index(database: Database) -> Elsewhere:
    return Elsewhere(database.engine)


@pytest.fixture
def holding() -> Holding:
    return Holding(attempt_seconds=600)


@pytest.fixture
def indexer(world: World, index: Elsewhere, holding: Holding) -> Iterator[Indexer]:
    with ExtractionPool(world.settings.extract) as pool:
        yield Indexer(
            engine=world.engine, backend=index, pool=pool, holding=holding, worker_id=1, settings=world.settings
        )


@pytest.fixture
def said() -> Iterator[list[tuple[str, dict[str, object]]]]:
    heard: list[tuple[str, dict[str, object]]] = []

    def hear(name: str, fields: dict[str, object]) -> None:
        heard.append((name, fields))

    events.subscribe(hear)
    yield heard
    events.unsubscribe(hear)


def trip(world: World, reason: str = READ_ONLY) -> bool:
    with world.engine.begin() as connection:
        return breaker.trip(connection, INDEX, reason=reason)


def close(world: World) -> float | None:
    with world.engine.begin() as connection:
        return breaker.close(connection, INDEX)


def make_due(world: World) -> None:
    world.execute("UPDATE breakers SET probe_at = now() - interval '1 ms'")


def probe(world: World, index: Elsewhere) -> None:
    make_due(world)
    Prober(world.engine, index).run_once()


def sweeper(world: World, index: Elsewhere) -> Sweeper:
    return Sweeper(world.engine, Postman("redis://127.0.0.1:1"), index, world.settings)


def sent(world: World) -> list[UUID]:
    return [job for delivery in world.relay() for job in delivery.jobs]


def held(world: World, holding: Holding, job_id: UUID | None) -> Lease:
    """A lease that the worker has just taken."""
    (lease,) = world.lease(job_id)
    holding.add([lease], asked_at=holding.now(), seconds=30)
    return lease


def version_in_index(world: World, document_id: UUID) -> int | None:
    with world.engine.begin() as connection:
        return Postgres().version_of(connection, [document_id]).get(document_id)


def put(index: Elsewhere, lease: Lease, version: int) -> None:
    """Puts an entry into the index behind everybody's back."""
    entry = Entry(lease.document_id, version, False, 1, None, "", "text/plain", {}, lease.accepted_at)
    assert index.publish(None, lease.targets, [entry]) == {}


# -- jobs ------------------------------------------------------------------------------------------------------------


def test_an_outage_gives_the_job_back_as_if_it_had_not_been_taken(
    world: World, index: Elsewhere, indexer: Indexer, said: list[tuple[str, dict[str, object]]]
) -> None:
    accepted = [world.upload(f"words {n}") for n in range(3)]
    index.trouble = READ_ONLY
    indexer.deliver(sent(world))
    for one in accepted:
        job = world.job(one.job_id)
        assert (job["state"], job["attempt"], job["generation"], job["alone"]) == ("queued", 0, 1, False)
        assert job["elapsed_spent"] == timedelta(0), "no clock runs in an outage"
        assert not world.document(one.document_id)["suspect"]
    attempts = world.rows("SELECT outcome, code, message FROM attempts")
    assert {tuple(row.values()) for row in attempts} == {("handed_back", "index_unavailable", READ_ONLY)}
    assert world.row("SELECT name, reason, failures FROM breakers") == {
        "name": "index", "reason": READ_ONLY, "failures": 1,
    }  # fmt: skip
    assert [fields for name, fields in said if name == "index.unavailable"] == [{"reason": READ_ONLY}]
    assert index.calls == ["publish"]
    world.check()


def test_after_the_outage_nothing_is_extracted_again_and_one_attempt_is_counted(
    world: World, index: Elsewhere, indexer: Indexer, said: list[tuple[str, dict[str, object]]]
) -> None:
    accepted = world.upload("kept words")
    index.trouble = READ_ONLY
    indexer.deliver(sent(world))
    stored = world.row("SELECT result_id, created_at FROM results")
    assert sent(world) == [], "nothing is sent while it is open"
    probe(world, index)
    assert world.row("SELECT failures FROM breakers")["failures"] == 2
    index.trouble = None
    probe(world, index)
    assert [name for name, _ in said if name.startswith("index.")] == ["index.unavailable", "index.recovered"]
    indexer.deliver(sent(world))
    job = world.job(accepted.job_id)
    assert (job["state"], job["attempt"], job["generation"]) == ("succeeded", 1, 2)
    assert world.row("SELECT result_id, created_at FROM results") == stored
    first, second = world.rows("SELECT store_ms, extract_ms, outcome FROM attempts ORDER BY generation")
    assert first["store_ms"] is not None
    assert tuple(second.values()) == (None, None, "published")
    world.check()


def test_only_what_met_the_outage_is_given_back(world: World, index: Elsewhere, indexer: Indexer) -> None:
    good = world.upload("good").job_id
    indexer.deliver([good])
    assert world.job(good)["state"] == "succeeded"
    bad = world.upload("", filename="a.txt").job_id
    index.trouble = READ_ONLY
    other = world.upload("other").job_id
    indexer.deliver([bad, other])
    assert world.job(bad)["state"] == "quarantined", "an empty file has nothing to do with the index"
    assert world.job(other)["state"] == "queued"


def test_a_batch_under_way_when_it_opens_is_given_back_untried(
    world: World, index: Elsewhere, holding: Holding
) -> None:
    lease = held(world, holding, world.upload("x").job_id)
    trip(world)
    Settler(world.engine, index, holding, world.settings).settle([Attempt(lease)])
    job = world.job(lease.job_id)
    assert (job["state"], job["attempt"], job["elapsed_spent"]) == ("queued", 0, timedelta(0))
    assert index.calls == [], "one probe at a time tries, and nobody else"


def test_an_older_version_given_back_makes_way_for_the_newer_one(
    world: World, index: Elsewhere, indexer: Indexer, holding: Holding
) -> None:
    older = held(world, holding, world.upload("x", key="a").job_id)
    newer = world.upload("y", key="a").job_id
    index.trouble = READ_ONLY
    Settler(world.engine, index, holding, world.settings).settle([Attempt(older)])
    assert world.job(older.job_id)["state"] == "superseded"
    index.trouble = None
    probe(world, index)
    indexer.deliver(sent(world))
    assert world.job(newer)["state"] == "succeeded"
    world.check()


def test_a_hand_back_at_shutdown_still_spends_its_time(world: World) -> None:
    lease = world.lease(world.upload("x").job_id)[0]
    world.execute("UPDATE attempts SET started_at = now() - interval '5 min'")
    world.finish(lease, RetryLater("shutdown", "The worker was stopped.", refund=True))
    assert world.job(lease.job_id)["elapsed_spent"] > timedelta(minutes=5)
    again = world.lease(lease.job_id)[0]
    world.execute("UPDATE attempts SET started_at = now() - interval '5 min' WHERE generation = 2")
    world.finish(again, outage(READ_ONLY))
    assert timedelta(minutes=5) < world.job(lease.job_id)["elapsed_spent"] < timedelta(minutes=6)


def test_the_index_ahead_of_the_database_needs_a_person(world: World, index: Elsewhere, indexer: Indexer) -> None:
    accepted = world.upload("x", key="a")
    put(index, world.lease(accepted.job_id)[0], version=5)
    world.execute("UPDATE jobs SET state = 'queued', worker_id = NULL, lease_until = NULL")
    indexer.deliver([accepted.job_id])
    assert world.job(accepted.job_id)["state"] == "quarantined"
    assert world.row("SELECT code FROM quarantine")["code"] == "index_ahead"
    assert version_in_index(world, accepted.document_id) == 5


def test_refused_for_a_version_that_the_database_knows_is_superseded(
    world: World, index: Elsewhere, holding: Holding
) -> None:
    older = held(world, holding, world.upload("x", key="a").job_id)
    world.upload("y", key="a")
    put(index, older, version=2)
    Settler(world.engine, index, holding, world.settings).settle([Attempt(older)])
    assert world.job(older.job_id)["state"] == "superseded"
    assert world.rows("SELECT * FROM quarantine") == []


# -- offers ----------------------------------------------------------------------------------------------------------


def test_what_was_offered_waits_in_the_outbox_again_at_once(world: World) -> None:
    accepted = world.upload("x").job_id
    assert sent(world) == [accepted]
    trip(world)
    assert world.lease(accepted) == []
    job = world.job(accepted)
    assert (job["sent_at"], job["delivery_id"], job["sends"], job["attempt"]) == (None, None, 0, 0)
    assert sent(world) == []
    close(world)
    assert sent(world) == [accepted], "without waiting for a lost message to be noticed"
    world.check()


def test_an_offer_that_its_relay_confirms_later_is_not_forgotten(world: World) -> None:
    accepted = world.upload("x").job_id
    with world.engine.begin() as connection:
        claim = outbox.claim(connection, world.settings)
    trip(world)
    assert world.lease(accepted) == []
    with world.engine.begin() as connection:
        assert outbox.confirm(connection, claim.deliveries) == 0
    close(world)
    world.check()
    assert sent(world) == [accepted]


def test_what_ended_meanwhile_is_not_offered_again(world: World) -> None:
    accepted = world.upload("x").job_id
    assert sent(world) == [accepted]
    world.finish(world.lease(accepted)[0])
    trip(world)
    assert world.lease(accepted) == []
    assert world.rows("SELECT * FROM outbox") == []


# -- the sweeper -----------------------------------------------------------------------------------------------------


def spent(world: World, content: str = "x", **fields: str) -> Lease:
    """A job whose last attempt has lost its lease."""
    accepted = world.upload(content, **fields)
    world.execute("UPDATE jobs SET attempt = 7 WHERE job_id = :job", job=accepted.job_id)
    (lease,) = world.lease(accepted.job_id)
    world.execute("UPDATE jobs SET lease_until = now() - interval '1 s' WHERE job_id = :job", job=accepted.job_id)
    return lease


def test_a_spent_budget_waits_until_the_index_can_be_asked(world: World, index: Elsewhere) -> None:
    last = spent(world)
    other = world.lease(world.upload("other").job_id)[0]
    world.execute("UPDATE jobs SET lease_until = now() - interval '1 s'")
    index.trouble = "OpenSearch cannot be reached."
    assert sweeper(world, index).reclaim() == [other.job_id]
    trip(world)
    assert sweeper(world, index).reclaim() == []
    assert index.calls == ["version_of"], "nobody asks while the breaker is open"
    assert world.job(last.job_id)["state"] == "leased"
    close(world)
    index.trouble = None
    assert sweeper(world, index).reclaim() == [last.job_id]
    assert world.job(last.job_id)["state"] == "quarantined"
    assert world.row("SELECT code FROM quarantine")["code"] == "lease_expired"


def test_a_spent_budget_whose_publish_went_through_succeeds_with_its_result(
    world: World, index: Elsewhere, indexer: Indexer
) -> None:
    accepted = world.upload("same words")
    indexer.deliver([accepted.job_id])
    result = world.row("SELECT result_id FROM results")["result_id"]
    last = spent(world, "same words", key="b")
    put(index, last, version=1)
    assert sweeper(world, index).reclaim() == [last.job_id]
    assert world.job(last.job_id)["state"] == "succeeded"
    row = world.row("SELECT result_id FROM versions WHERE document_id = :id", id=last.document_id)
    assert row["result_id"] == result, "what is searchable can be read, and published elsewhere"


def test_what_was_finished_while_the_index_was_asked_is_left_alone(world: World, index: Elsewhere) -> None:
    last = spent(world)
    index.meanwhile = lambda: world.finish(last)
    assert sweeper(world, index).reclaim() == []
    assert world.job(last.job_id)["state"] == "succeeded"


def deleted(world: World) -> UUID:
    """A document whose delete was published long ago."""
    accepted = world.upload("one", key="a")
    world.finish(world.lease(accepted.job_id)[0])
    world.finish(world.lease(world.delete(accepted.document_id).job_id)[0])
    world.execute("UPDATE documents SET published_at = now() - interval '31 days'")
    return accepted.document_id


def test_tombstones_wait_while_the_index_is_in_trouble(world: World, index: Elsewhere) -> None:
    deleted(world)
    purger = Purger(world.engine, index, world.settings)
    trip(world)
    purger.run_once()
    assert index.calls == []
    close(world)
    index.trouble = "OpenSearch cannot be reached."
    purger.run_once()
    assert world.rows("SELECT * FROM documents"), "what is not known to be gone is kept"
    index.trouble = None
    purger.run_once()
    assert world.rows("SELECT * FROM documents") == []
    world.check()


def test_a_document_that_comes_back_while_its_tombstone_is_purged_is_kept(
    world: World, index: Elsewhere, indexer: Indexer
) -> None:
    document_id = deleted(world)
    back: list[UUID | None] = []

    def upload() -> None:
        if not back:
            back.append(world.upload("again", key="a").job_id)

    index.meanwhile = upload
    Purger(world.engine, index, world.settings).run_once()
    assert world.document(document_id)["input_version"] == 3
    indexer.deliver(sent(world))
    assert world.job(back[0])["state"] == "succeeded"
    assert version_in_index(world, document_id) == 3
    world.check()


def test_no_transaction_is_open_while_the_index_is_asked(world: World, index: Elsewhere, indexer: Indexer) -> None:
    """Elsewhere looks at each call."""
    deleted(world)
    last = spent(world, "x", key="b")
    assert sweeper(world, index).reclaim() == [last.job_id]
    Purger(world.engine, index, world.settings).run_once()
    job_id = world.upload("y", key="c").job_id
    indexer.deliver([job_id])
    assert world.job(job_id)["state"] == "succeeded"
    trip(world)
    probe(world, index)
    assert index.calls == ["version_of", "purge_tombstone", "version_of", "publish", "probe"]


# -- the breaker -----------------------------------------------------------------------------------------------------


def test_all_who_fail_during_one_pause_count_once(world: World) -> None:
    assert trip(world, "first")
    assert not trip(world, "second")
    assert world.row("SELECT reason, failures FROM breakers") == {"reason": "first", "failures": 1}
    make_due(world)
    assert not trip(world, "third")
    assert world.row("SELECT reason, failures FROM breakers") == {"reason": "third", "failures": 2}


def test_the_pause_doubles_to_half_a_minute_with_jitter(world: World) -> None:
    pauses = []
    for _ in range(10):
        trip(world)
        with world.engine.begin() as connection:
            pauses.append(breaker.pause(connection, INDEX))
        make_due(world)
    for n, pause in enumerate(pauses):
        most = min(0.5 * 2**n, 30)
        assert most * 0.75 - 0.1 < pause <= most


def test_one_process_at_a_time_probes(world: World, index: Elsewhere) -> None:
    trip(world)
    make_due(world)
    index.trouble = "still away"
    index.meanwhile = lambda: Prober(world.engine, index).run_once()  # a second sweeper, during the first one's probe
    Prober(world.engine, index).run_once()
    assert index.calls == ["probe"]
    assert world.row("SELECT reason, failures FROM breakers") == {"reason": "still away", "failures": 2}


def test_nobody_probes_before_it_is_time(world: World, index: Elsewhere) -> None:
    Prober(world.engine, index).run_once()
    trip(world)
    Prober(world.engine, index).run_once()
    assert index.calls == []


def test_a_probe_that_fails_late_opens_nothing_again(world: World, index: Elsewhere) -> None:
    trip(world)
    make_due(world)
    index.trouble = "an old answer"
    index.meanwhile = lambda: close(world)
    Prober(world.engine, index).run_once()
    assert world.rows("SELECT * FROM breakers") == []


def test_a_probe_whose_claim_has_lapsed_counts_no_more(world: World, index: Elsewhere) -> None:
    trip(world)
    make_due(world)
    index.trouble = "an old answer"

    def replace() -> None:
        index.meanwhile = lambda: None
        probe(world, index)

    index.meanwhile = replace
    Prober(world.engine, index).run_once()
    assert index.calls == ["probe", "probe"]
    assert world.row("SELECT failures FROM breakers")["failures"] == 2


def test_relays_are_woken_when_it_closes(
    world: World, index: Elsewhere, database: Database, said: list[tuple[str, dict[str, object]]]
) -> None:
    trip(world)
    world.execute("UPDATE breakers SET opened_at = now() - interval '12 s', probe_at = now()")
    with psycopg.connect(database.url, autocommit=True) as listening:
        listening.execute(f"LISTEN {CHANNEL}")
        Prober(world.engine, index).run_once()
        assert [note.channel for note in listening.notifies(timeout=5, stop_after=1)] == [CHANNEL]
    ((name, fields),) = said
    assert name == "index.recovered"
    assert 12 <= float(str(fields["seconds"])) < 20


def test_nothing_of_it_is_a_failure_of_the_document(world: World) -> None:
    """However often it happens."""
    accepted = world.upload("x")
    for _ in range(20):
        assert world.finish(world.lease(accepted.job_id)[0], outage(READ_ONLY)) is State.QUEUED
    assert world.job(accepted.job_id)["attempt"] == 0
    assert world.job(accepted.job_id)["generation"] == 20
