"""What the operators see, compared with rows that the test made."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import text

from ingest import documents
from pipeline import breaker, outbox, overview
from pipeline.alarms import alarms
from pipeline.outcomes import LeaseLost, Rejected, RetryLater, TextQuality
from pipeline.overview import Snapshot
from pipeline.overview_cache import OverviewCache
from pipeline.settings import Budget
from tests.support.read import publish
from tests.support.rows import OperatedWorld
from tests.support.servers import Database


@pytest.fixture
def world(database: Database) -> OperatedWorld:
    return OperatedWorld(database.engine).run()


def counted(world: OperatedWorld) -> Snapshot:
    with world.engine.connect() as connection:
        return overview.snapshot(connection)


def live(world: OperatedWorld) -> dict:
    with world.engine.connect() as connection:
        return overview.live(connection, world.settings)


def codes(world: OperatedWorld) -> set[str]:
    return {alarm.code for alarm in alarms(counted(world), live(world))}


def test_every_accepted_version_is_somewhere(world: OperatedWorld) -> None:
    succeeded, retrying, broken = world.job_of(), world.job_of(), world.job_of()
    world.attempt(succeeded)
    world.attempt(retrying, RetryLater("busy", "Busy."))
    world.attempt(broken, Rejected("corrupt", "Broken."))
    document = world.file()
    world.reindex(document.document_id)
    world.take(world.job_of())

    now = counted(world)

    assert {name: n for name, n in now.items() if n and name not in {"as_of", "text_quality"}} == {
        "accepted": 6, "succeeded": 1, "retry_wait": 1, "quarantined": 1, "superseded": 1, "queued": 1, "leased": 1,
        "unfinished": 4,
    }  # fmt: skip
    assert now["difference"] == 0


def test_purged_jobs_and_removed_documents_still_count(world: OperatedWorld) -> None:
    document = world.file()
    assert document.job_id is not None
    world.attempt(document.job_id)
    world.execute("DELETE FROM jobs")
    assert counted(world)["difference"] == 1

    world.execute("UPDATE tallies SET count = 1 WHERE name = 'purged_succeeded'")
    assert (counted(world)["difference"], counted(world)["purged"]) == (0, 1)

    world.execute("DELETE FROM documents")
    world.execute("UPDATE tallies SET count = 1 WHERE name = 'removed_versions'")
    assert (counted(world)["difference"], counted(world)["unfinished"]) == (0, 0)


def test_published_texts_are_counted_by_quality(world: OperatedWorld) -> None:
    assert counted(world)["text_quality"] == dict.fromkeys(TextQuality, 0)
    for quality in ("ok", "ok", *TextQuality):
        publish(world, world.file(f"{quality}.txt"), quality)
    world.attempt(world.job_of("fails.pdf"), Rejected("corrupt", "Broken."))
    world.job_of("queued.txt")

    assert counted(world)["text_quality"] == dict.fromkeys(TextQuality, 1) | {"ok": 3}


@pytest.mark.parametrize("quality", TextQuality)
def test_a_text_counts_until_its_delete_is_published(world: OperatedWorld, quality: TextQuality) -> None:
    document = world.file("tide.txt")
    publish(world, document, quality)
    deleted = world.delete(document.document_id)
    assert counted(world)["text_quality"][quality] == 1
    assert deleted.job_id is not None
    world.attempt(deleted.job_id)
    assert counted(world)["text_quality"] == dict.fromkeys(TextQuality, 0)


def test_what_comes_back_after_a_delete_counts_as_read_once_it_is_published(world: OperatedWorld) -> None:
    document = world.file("tide.txt", key="tide")
    publish(world, document)
    deleted = world.delete(document.document_id)
    assert deleted.job_id is not None
    world.attempt(deleted.job_id)
    back = world.file("tide.txt", key="tide")
    assert (back.document_id, counted(world)["text_quality"]["ok"]) == (document.document_id, 0)
    world.delete(document.document_id)
    assert counted(world)["text_quality"]["ok"] == 0
    back = world.file("tide.txt", key="tide")
    publish(world, back)
    assert counted(world)["text_quality"]["ok"] == 1


def test_a_number_of_texts_is_that_of_their_list(world: OperatedWorld) -> None:
    for quality in ("ok", *TextQuality, "no_text"):
        publish(world, world.file(f"{quality}.txt"), quality)

    for quality, count in counted(world)["text_quality"].items():
        wanted = documents.Filter(text_quality=TextQuality(quality))
        with world.engine.connect() as connection:
            found = documents.page(connection, wanted, None, cursor=None, limit=50, settings=world.settings)
        assert len(found.items) == count


def test_a_lost_job_is_an_alarm(world: OperatedWorld) -> None:
    world.job_of()
    world.execute("DELETE FROM jobs")

    assert "difference" in codes(world)


def test_the_oldest_queued_job_is_found_whether_sent_or_not(world: OperatedWorld) -> None:
    assert live(world)["oldest_queued"] is None
    first = world.job_of()
    world.relay()
    world.job_of()

    world.age("jobs", "accepted_at", timedelta(seconds=90))
    world.age("jobs", "accepted_at", timedelta(seconds=30), f"job_id = '{first}'")
    assert live(world)["oldest_queued"]["job_id"] == first
    assert live(world)["oldest_queued"]["age_seconds"] == pytest.approx(120, abs=5)

    world.attempt(first)
    assert live(world)["oldest_queued"]["age_seconds"] == pytest.approx(90, abs=5)
    assert "oldest_queued" not in codes(world)
    world.age("jobs", "accepted_at", timedelta(minutes=11))
    assert "oldest_queued" in codes(world)


def test_a_retry_that_waits_is_not_queued(world: OperatedWorld) -> None:
    world.attempt(world.job_of(), RetryLater("busy", "Busy."))

    assert live(world)["oldest_queued"] is None


def test_expired_leases_are_listed_and_are_an_alarm(world: OperatedWorld) -> None:
    job_id = world.job_of()
    world.take(job_id)
    assert live(world)["expired_leases"] == []

    world.age("jobs", "lease_until", timedelta(seconds=35))

    (expired,) = live(world)["expired_leases"]
    assert (expired["job_id"], expired["worker_id"]) == (job_id, world.worker_id)
    assert expired["expired_seconds"] == pytest.approx(5, abs=2)
    assert "expired_leases" in codes(world)


def test_the_outbox_says_how_much_waits_and_since_when(world: OperatedWorld) -> None:
    assert live(world)["outbox"] == {"waiting": 0, "oldest_age_seconds": None, "exhausted": 0}
    world.job_of()
    settings = world.settings.model_copy(update={"budget": Budget(publications=1)})
    with world.engine.begin() as connection:
        (delivery,) = outbox.claim(connection, settings).deliveries
        outbox.refuse(connection, delivery, settings, error="wrong type")
    world.job_of()
    world.age("outbox", "created_at", timedelta(seconds=40))

    now = live(world)["outbox"]

    assert (now["waiting"], now["exhausted"]) == (1, 1)
    assert now["oldest_age_seconds"] == pytest.approx(40, abs=2)
    assert "exhausted" in codes(world)


def test_counts_stop_at_the_cap(world: OperatedWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overview, "CAP", 2)
    monkeypatch.setattr(overview, "PARTITION_CAP", 2)
    for _ in range(5):
        world.job_of()

    now = live(world)

    assert now["outbox"]["waiting"] == 3
    assert now["partitions"][0]["queued"] == 3


def test_partitions_tell_what_they_have_and_who_reads_them(world: OperatedWorld) -> None:
    for _ in range(3):
        world.job_of()
    world.relay()
    world.take(world.job_of())
    world.job_of()

    assert live(world)["partitions"] == [{"partition": 0, "queued": 1, "sent": 3, "leased": 1, "workers": 1}]


def test_a_partition_without_a_worker_is_an_alarm(world: OperatedWorld) -> None:
    world.settings = world.settings.model_copy(update={"partitions": 2})
    assert "unread_partitions" in codes(world)

    world.process("worker", partitions=(1,))
    assert "unread_partitions" not in codes(world)


def test_no_worker_is_worse_when_something_waits(world: OperatedWorld) -> None:
    world.age("processes", "heartbeat_at", timedelta(minutes=1))
    by_code = {alarm.code: alarm.bad for alarm in alarms(counted(world), live(world))}
    assert (by_code["no_worker"], by_code["no_relay"], by_code["no_sweeper"]) == (False, True, True)

    world.job_of()
    by_code = {alarm.code: alarm.bad for alarm in alarms(counted(world), live(world))}
    assert by_code["no_worker"]


def test_nothing_is_wrong_in_a_healthy_system(world: OperatedWorld) -> None:
    world.process("sweeper")
    world.attempt(world.job_of())

    assert codes(world) == set()


def test_an_open_breaker_is_told(world: OperatedWorld) -> None:
    with world.engine.begin() as connection:
        breaker.trip(connection, "broker", reason="connection refused")

    assert live(world)["breaker"]["reason"] == "connection refused"
    assert "breaker" in codes(world)


def test_an_index_in_trouble_is_told_beside_the_broker(world: OperatedWorld) -> None:
    with world.engine.begin() as connection:
        breaker.trip(connection, "index", reason="The index is read-only (disk).")
        breaker.trip(connection, "broker", reason="connection refused")
    since = f"{world.row('SELECT opened_at FROM breakers LIMIT 1')['opened_at']:%H:%M} UTC"

    assert [one["name"] for one in live(world)["breakers"]] == ["broker", "index"]
    assert {alarm.sentence for alarm in alarms(counted(world), live(world)) if alarm.bad} >= {
        f"Publishing is paused since {since}: the index is read-only (disk). Uploads are accepted and wait.",
        f"The broker is away since {since}: connection refused.",
    }


def test_capacity_is_arrivals_times_service_time(world: OperatedWorld) -> None:
    """60 a minute, 10 s each: 10 in service, of which 3 slots do 3."""
    for _ in range(10):
        world.attempt(world.job_of())
    world.age("attempts", "started_at", timedelta(seconds=10))
    multiply_arrivals(world, to=900)

    capacity = live(world)["capacity"]

    assert capacity["arrivals_per_minute"] == pytest.approx(60)
    assert capacity["seconds_per_job"] == pytest.approx(10, rel=0.02)
    assert capacity["needed"] == pytest.approx(10, rel=0.02)
    assert (capacity["slots"], capacity["short_by"]) == (3, pytest.approx(7, rel=0.03))


def test_missing_capacity_is_an_alarm_while_something_waits(world: OperatedWorld) -> None:
    world.attempt(world.job_of())
    world.age("attempts", "started_at", timedelta(seconds=10))
    multiply_arrivals(world, to=900)
    assert "capacity" not in codes(world)

    world.job_of()

    assert "capacity" in codes(world)


def multiply_arrivals(world: OperatedWorld, *, to: int) -> None:
    world.execute(
        """
        INSERT INTO jobs (document_id, collection_id, input_version, operation, partition, priority, state, finished_at)
        SELECT gen_random_uuid(), 1, 1, 'index', 0, 1, 'superseded', now()
        FROM generate_series(1, :to - (SELECT count(*) FROM jobs))
        """,
        to=to,
    )


def test_the_time_of_a_batch_counts_once(world: OperatedWorld) -> None:
    """Four jobs in one delivery of 8 s keep one slot busy for 8 s: 2 s a job."""
    jobs = [world.job_of() for _ in range(4)]
    world.relay()
    for taken in world.lease(*jobs, worker_id=world.worker_id):
        world.finish(taken)
    world.age("attempts", "started_at", timedelta(seconds=8))

    assert live(world)["capacity"]["seconds_per_job"] == pytest.approx(2, rel=0.05)


def test_arrivals_beyond_the_cap_are_rated_by_the_time_that_they_span(
    world: OperatedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "MOST_ROWS", 100)
    multiply_arrivals(world, to=400)
    world.age("jobs", "accepted_at", timedelta(seconds=10))

    assert live(world)["capacity"]["arrivals_per_minute"] == pytest.approx(600, rel=0.1)


def test_what_is_older_than_fifteen_minutes_does_not_count(world: OperatedWorld) -> None:
    world.attempt(world.job_of())
    for table, columns in (("jobs", ("accepted_at", "finished_at")), ("attempts", ("started_at", "ended_at"))):
        for column in columns:
            world.age(table, column, timedelta(minutes=16))

    now = live(world)

    assert (now["capacity"]["arrivals_per_minute"], now["capacity"]["needed"]) == (0, None)
    assert now["throughput"] == {"per_second_now": 0, "per_second": 0}


def test_throughput_now_and_over_a_quarter_of_an_hour(world: OperatedWorld) -> None:
    for _ in range(9):
        world.attempt(world.job_of())
    world.age("jobs", "finished_at", timedelta(minutes=5), "job_id IN (SELECT job_id FROM jobs LIMIT 6)")

    now = live(world)["throughput"]

    assert now == {"per_second_now": pytest.approx(3 / 60), "per_second": pytest.approx(9 / 900)}


def test_the_eta_is_the_backlog_at_the_present_pace(world: OperatedWorld) -> None:
    assert overview.eta_seconds(counted(world), live(world)) is None
    for _ in range(6):
        world.attempt(world.job_of())
    for _ in range(3):
        world.job_of()

    assert overview.eta_seconds(counted(world), live(world)) == pytest.approx(30)
    with world.engine.begin() as connection:
        breaker.trip(connection, breaker.INDEX, reason="It is away.")
    assert overview.eta_seconds(counted(world), live(world)) is None, "nothing moves while it is paused"


def test_errors_are_told_by_stage_and_code_and_by_kind_of_file(world: OperatedWorld) -> None:
    world.attempt(world.job_of("a.pdf"), Rejected("corrupt", "Broken."))
    world.attempt(world.job_of("b.pdf"), Rejected("corrupt", "Broken."))
    world.attempt(world.job_of("c.docx"), LeaseLost())
    world.execute("UPDATE attempts SET extract_ms = 5 WHERE code = 'corrupt'")

    errors = live(world)["errors"]

    assert errors["by_code"] == [
        {"stage": "extract", "code": "corrupt", "count": 2},
        {"stage": "lease", "code": "lease_expired", "count": 1},
    ]
    assert errors["by_kind"] == [{"kind": ".pdf", "count": 2}, {"kind": ".docx", "count": 1}]


def test_workers_tell_what_they_hold(world: OperatedWorld) -> None:
    job_id = world.job_of()
    world.take(job_id)
    gone = world.process("worker", silent_for=7200)
    silent = world.process("worker", silent_for=120)
    world.execute("UPDATE processes SET lost_at = now() WHERE process_id = :id", id=gone)

    with world.engine.connect() as connection:
        found = {row["id"]: row for row in overview.workers(connection, world.settings)}

    assert found[world.worker_id]["holding"] == [job_id]
    assert found[world.worker_id]["alive"]
    assert not found[silent]["alive"]
    assert gone not in found
    assert {row["kind"] for row in found.values()} == {"relay", "worker"}


def test_many_requests_take_one_snapshot(world: OperatedWorld) -> None:
    cache = OverviewCache(world.engine)
    try:
        with ThreadPoolExecutor(8) as visitors:
            seen = list(visitors.map(lambda _: cache.get()["as_of"], range(16)))
    finally:
        cache.close()

    assert len(set(seen)) == 1


class SteppedClock:
    """Only moves when told."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        """Seconds as told."""
        return self.seconds


def test_a_snapshot_is_renewed_before_it_is_stale_and_without_blocking(world: OperatedWorld) -> None:
    clock = SteppedClock()
    cache = OverviewCache(world.engine, clock=clock)
    try:
        first = cache.get()
        world.job_of()
        assert cache.get() == first, "it is fresh"

        with world.engine.begin() as connection:
            connection.execute(text("LOCK TABLE documents IN ACCESS EXCLUSIVE MODE"))
            clock.seconds = 6
            assert cache.get() == first, "a renewal is under way, nobody waits for it"
        clock.seconds = 11
        assert cache.get()["accepted"] == 1
    finally:
        cache.close()


def test_a_database_that_was_away_is_asked_again(database: Database) -> None:
    clock = SteppedClock()
    cache = OverviewCache(database.engine, clock=clock)
    try:
        with database.engine.begin() as connection:
            connection.execute(text("ALTER TABLE tallies RENAME TO hidden"))
        with pytest.raises(Exception, match="tallies"):
            cache.get()
        with database.engine.begin() as connection:
            connection.execute(text("ALTER TABLE hidden RENAME TO tallies"))
        assert cache.get()["difference"] == 0
    finally:
        cache.close()
