"""The exact schedule of the default settings: aged rows for what SQL times, frozen moments for what a process times."""

from datetime import datetime, timedelta

import pytest
from freezegun import freeze_time
from pydantic import SecretStr

from pipeline import outbox
from pipeline.broker import Postman
from pipeline.holding import Holding
from pipeline.outcomes import RetryLater
from pipeline.processes import Presence
from pipeline.settings import Settings
from pipeline.states import State
from pipeline.sweeper import Sweeper
from tests.integration.test_sweeper import NoIndex
from tests.support.servers import Database
from tests.support.world import World

SECOND = timedelta(seconds=1)
BACKOFF = [(1, 5), (2, 10), (3, 20), (4, 40), (5, 80), (6, 160), (7, 320), (8, 600), (9, 600), (40, 600)]
OFTEN = Settings().budget.model_copy(update={"attempts": 100, "publications": 100})


@pytest.fixture
def world(database: Database) -> World:
    return World(database.engine, Settings(database_url=SecretStr(database.url), partitions=1))


def now(world: World) -> datetime:
    """The database's time."""
    at: datetime = world.row("SELECT clock_timestamp() AS at")["at"]
    return at


@pytest.mark.parametrize(("attempt", "seconds"), BACKOFF)
def test_a_retry_waits_5_seconds_doubling_to_10_minutes_and_up_to_half_more(
    world: World, attempt: int, seconds: int
) -> None:
    world.settings = world.settings.model_copy(update={"budget": OFTEN})
    accepted = world.upload()
    world.execute("UPDATE jobs SET attempt = :n", n=attempt - 1)
    (held,) = world.lease(accepted.job_id)
    before = now(world)
    assert world.finish(held, RetryLater("handler_error", "oops")) is State.RETRY_WAIT
    after = now(world)
    due = world.job(accepted.job_id)["due_at"]
    assert before + seconds * SECOND <= due <= after + 1.5 * seconds * SECOND
    assert world.row("SELECT due_at FROM outbox")["due_at"] == due, "its message is due at the same time"


def test_without_jitter_the_retry_is_exact(world: World) -> None:
    exact = OFTEN.model_copy(update={"backoff_jitter": 0})
    world.settings = world.settings.model_copy(update={"budget": exact})
    accepted = world.upload()
    world.execute("UPDATE jobs SET attempt = 3")
    (held,) = world.lease(accepted.job_id)
    before = now(world)
    world.finish(held, RetryLater("handler_error", "oops"))
    after = now(world)
    assert before + 40 * SECOND <= world.job(accepted.job_id)["due_at"] <= after + 40 * SECOND


@pytest.mark.parametrize(("attempt", "state"), [(7, State.RETRY_WAIT), (8, State.QUARANTINED)])
def test_the_eighth_attempt_is_the_last(world: World, attempt: int, state: State) -> None:
    accepted = world.upload()
    world.execute("UPDATE jobs SET attempt = :n", n=attempt - 1)
    (held,) = world.lease(accepted.job_id)
    assert world.finish(held, RetryLater("handler_error", "oops")) is state


@pytest.mark.parametrize(("spent", "state"), [("5 h 59 min 50 s", State.RETRY_WAIT), ("6 h", State.QUARANTINED)])
def test_attempts_and_their_pauses_may_take_six_hours(world: World, spent: str, state: State) -> None:
    accepted = world.upload()
    world.execute("UPDATE jobs SET elapsed_spent = CAST(:spent AS interval)", spent=spent)
    (held,) = world.lease(accepted.job_id)
    assert world.finish(held, RetryLater("handler_error", "oops")) is state


@pytest.mark.parametrize(("tries", "seconds"), BACKOFF)
def test_a_refused_message_waits_on_the_same_curve(world: World, tries: int, seconds: int) -> None:
    world.settings = world.settings.model_copy(update={"budget": OFTEN})
    world.upload()
    world.execute("UPDATE outbox SET tries = :n", n=tries - 1)
    delivery = claimed(world)
    before = now(world)
    with world.engine.begin() as connection:
        outbox.refuse(connection, delivery, world.settings, error="no")
    after = now(world)
    row = world.row("SELECT due_at, exhausted FROM outbox")
    assert before + seconds * SECOND <= row["due_at"] <= after + 1.5 * seconds * SECOND
    assert not row["exhausted"]


@pytest.mark.parametrize(("tries", "exhausted"), [(9, False), (10, True)])
def test_the_tenth_refusal_is_the_last(world: World, tries: int, exhausted: bool) -> None:  # noqa: FBT001 - a parameter
    world.upload()
    world.execute("UPDATE outbox SET tries = :n", n=tries - 1)
    delivery = claimed(world)
    with world.engine.begin() as connection:
        outbox.refuse(connection, delivery, world.settings, error="no")
    assert world.row("SELECT exhausted FROM outbox")["exhausted"] is exhausted


def test_a_claim_lapses_after_10_seconds(world: World) -> None:
    world.upload()
    before = now(world)
    claimed(world)
    after = now(world)
    assert before + 10 * SECOND <= world.row("SELECT claimed_until FROM outbox")["claimed_until"] <= after + 10 * SECOND


@pytest.mark.parametrize(("sends", "seconds"), [(1, 30), (2, 60), (3, 120), (4, 240), (5, 480), (6, 600), (20, 600)])
def test_a_lost_message_is_sent_again_after_30_seconds_doubling_to_10_minutes(
    world: World, broker_url: str, sends: int, seconds: int
) -> None:
    sweeper = Sweeper(world.engine, Postman(broker_url), NoIndex(), world.settings)
    world.upload()
    world.relay()
    aged = "UPDATE jobs SET sends = :sends, sent_at = clock_timestamp() - make_interval(secs => :age)"
    world.execute(aged, sends=sends, age=seconds - 5)
    assert sweeper.send_again() == 0
    world.execute(aged, sends=sends, age=seconds + 0.001)
    assert sweeper.send_again() == 1


def test_a_lease_lasts_30_seconds_and_is_renewed_every_10(world: World) -> None:
    accepted = world.upload()
    holding = Holding(attempt_seconds=600)
    presence = Presence(world.settings, kind="worker", partitions=[0], holding=holding)
    before = now(world)
    (held,) = world.lease(accepted.job_id)
    after = now(world)
    assert before + 30 * SECOND <= world.job(accepted.job_id)["lease_until"] <= after + 30 * SECOND
    holding.add([held], asked_at=holding.now(), seconds=30)
    world.execute("UPDATE jobs SET lease_until = now()")
    presence._on_first_beat = lambda: None
    before = now(world)
    assert presence._beat() == 10, "the seconds until the next beat"
    after = now(world)
    assert before + 30 * SECOND <= world.job(accepted.job_id)["lease_until"] <= after + 30 * SECOND
    presence.stop()


def test_a_process_trusts_a_lease_for_30_seconds_and_renews_it_for_10_minutes(world: World) -> None:
    (held,) = world.lease(world.upload().job_id)
    with freeze_time("2026-01-01") as frozen:
        holding = Holding(attempt_seconds=world.settings.budget.attempt_seconds)
        holding.add([held], asked_at=holding.now(), seconds=world.settings.lease.seconds)
        frozen.tick(timedelta(seconds=29.9))
        assert holding.still(held)
        frozen.tick(timedelta(seconds=0.2))
        assert not holding.still(held)
        holding.renewed({held.job_id}, until=holding.now() + 30)
        frozen.tick(timedelta(seconds=19))
        assert holding.still(held)
        assert holding.may_take(margin=10)
        frozen.tick(timedelta(seconds=2))
        assert not holding.may_take(margin=10), "new leases could not be renewed in time"
        frozen.tick(timedelta(seconds=548.8))
        assert holding.renewable(), "9 min 59.9 s"
        frozen.tick(timedelta(seconds=0.2))
        assert not holding.renewable(), "the deadline of an attempt"


@pytest.mark.parametrize(("count", "messages"), [(128, [128]), (129, [128, 1])])
def test_a_message_carries_128_jobs(world: World, count: int, messages: list[int]) -> None:
    for n in range(count):
        world.upload(str(n))
    assert [len(delivery.jobs) for delivery in world.relay()] == messages


def test_a_message_stands_for_4_mebibytes(world: World) -> None:
    for n in range(3):
        world.upload(str(n))
    world.execute("UPDATE outbox SET bytes = 2 * 1024 * 1024")
    assert [len(delivery.jobs) for delivery in world.relay()] == [2, 1]


def claimed(world: World) -> outbox.Delivery:
    """The one delivery that a claim finds."""
    with world.engine.begin() as connection:
        (delivery,) = outbox.claim(connection, world.settings).deliveries
    return delivery
