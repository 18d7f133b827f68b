"""Among 70,000 jobs, most of which wait, what runs all the time reads little.

Each statement is executed often enough to get its generic plan, and PostgreSQL itself counts what it reads.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

import pytest
from sqlalchemy import Connection, event

from fencepost.local.postgres import LocalPostgres
from pipeline import builds, indexes, keys, outbox, refills, sessions
from pipeline.broker import Postman
from pipeline.builds import Kind, Phase
from pipeline.caller import Scope
from pipeline.leases import Ending, Lease, finish_if_held, lease, lock_held, renew_if_held
from pipeline.outcomes import Published
from pipeline.purging import Purger
from pipeline.settings import Settings
from pipeline.sweeper import BATCH, Sweeper
from tests.integration.test_sweeper import NoIndex
from tests.support import servers
from tests.support.world import World

FILL = """
    INSERT INTO contents (sha256, size) VALUES (sha256(''), 0);
    INSERT INTO documents (document_id, collection_id, input_version, published_version)
    SELECT gen_random_uuid(), 1, 1, CASE WHEN n <= 60000 THEN 0 ELSE 1 END FROM generate_series(1, 70000) n;
    INSERT INTO versions (document_id, input_version, operation, sha256)
    SELECT document_id, 1, 'index', sha256('') FROM documents;
    INSERT INTO processes (kind, host, pid) VALUES ('worker', 'host', 1);
    INSERT INTO jobs (document_id, collection_id, input_version, operation, partition, priority, state, finished_at,
                      lease_until, worker_id, due_at, generation)
    SELECT document_id, collection_id, 1, 'index', CASE WHEN n <= 25000 THEN n % 8 ELSE n % 16 END, 1,
           CASE WHEN n <= 25000 THEN 'queued' WHEN n <= 55000 THEN 'retry_wait' WHEN n <= 60000 THEN 'leased'
                ELSE 'succeeded' END,
           CASE WHEN n > 60000 THEN now() - n % 10 * interval '1 day' END,
           CASE WHEN n > 55000 AND n <= 60000 THEN now() + interval '1 h' END,
           CASE WHEN n > 55000 AND n <= 60000 THEN 1 END,
           CASE WHEN n > 25000 AND n <= 55000 THEN now() + interval '1 h' ELSE now() END, 1
    FROM (SELECT document_id, collection_id, row_number() OVER () AS n FROM documents) d;
    INSERT INTO outbox (job_id, partition, priority, collection_id, due_at)
    SELECT job_id, partition, priority, collection_id, due_at FROM jobs WHERE state IN ('queued', 'retry_wait');
    INSERT INTO attempts (job_id, generation, worker_id, started_at)
    SELECT job_id, 1, 1, now() FROM jobs WHERE state = 'leased';
"""
READS = """
    SELECT relname, seq_tup_read + coalesce(idx_tup_fetch, 0) AS n FROM pg_stat_xact_user_tables
    WHERE seq_tup_read + coalesce(idx_tup_fetch, 0) > 0
"""
TIMES = 12
"""A prepared statement may get its generic plan from the eleventh execution on."""
WINDOWS = 16 * 256
"""The rows that may be under way, over all partitions."""
Reads = list[Counter[str]]


@pytest.fixture(scope="module")
def world(postgres: LocalPostgres) -> Iterator[World]:
    with servers.fresh_database(postgres) as database:
        world = World(database.engine, Settings())
        world.execute(FILL)
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM ANALYZE")
        yield world


@contextmanager
def reading(world: World) -> Iterator[Reads]:
    """Counts the rows that each transaction reads, by table, until just before it commits."""
    reads: Reads = []

    def so_far(connection: Connection) -> Counter[str]:
        return Counter(dict(connection.connection.cursor().execute(READS).fetchall()))

    def begin(connection: Connection) -> None:
        connection.info["read before"] = so_far(connection)

    def commit(connection: Connection) -> None:
        reads.append(so_far(connection) - connection.info["read before"])

    event.listen(world.engine, "begin", begin)
    event.listen(world.engine, "commit", commit)
    try:
        yield reads
    finally:
        event.remove(world.engine, "begin", begin)
        event.remove(world.engine, "commit", commit)


def all_of(reads: Reads, most: int) -> None:
    assert len(reads) >= TIMES
    assert max(read.total() for read in reads) <= most, max(reads, key=Counter.total)


def some(world: World, state: str, n: int) -> list[UUID]:
    rows = world.rows("SELECT job_id FROM jobs WHERE state = :state ORDER BY random() LIMIT :n", state=state, n=n)
    return [row["job_id"] for row in rows]


def each_time(world: World, action: Callable[[Connection], object]) -> Reads:
    with reading(world) as reads:
        for _ in range(TIMES):
            with world.engine.begin() as connection:
                action(connection)
    return reads


def test_claim_and_confirm(world: World) -> None:
    """As many rows as half of the partitions have room for; the retries of later in the others are not looked at."""

    def claim(connection: Connection) -> None:
        claimed = outbox.claim(connection, world.settings, most_rows=500)
        assert sum(len(delivery.jobs) for delivery in claimed.deliveries) == 500
        outbox.give_back(connection, claimed.deliveries, world.settings, error="away")

    all_of(each_time(world, claim), most=2 * WINDOWS + 10 * 500)

    def confirm(connection: Connection) -> None:
        claimed = outbox.claim(connection, world.settings, most_rows=64)
        assert outbox.confirm(connection, claimed.deliveries) == 64

    all_of(each_time(world, confirm), most=2 * WINDOWS + 10 * 64)


def test_lease_renew_and_finish(world: World) -> None:
    jobs = iter(some(world, "queued", 64 * TIMES))
    taken: list[list[Lease]] = []

    def take(connection: Connection) -> None:
        taken.append(lease(connection, [next(jobs) for _ in range(64)], worker_id=1, seconds=30, backend="postgres"))
        assert len(taken[-1]) == 64

    all_of(each_time(world, take), most=10 * 64)
    held = [(each.job_id, each.generation) for each in taken[0]]
    all_of(each_time(world, lambda c: renew_if_held(c, held, seconds=30)), most=4 * 64)
    batches = iter(taken)

    def finish(connection: Connection) -> None:
        batch = next(batches)
        lock_held(connection, batch)
        endings = [Ending(one.job_id, one.generation, Published()) for one in batch]
        assert len(finish_if_held(connection, endings, world.settings)) == 64

    all_of(each_time(world, finish), most=25 * 64)


def test_reclaim_and_resend(world: World) -> None:
    """Finding what ran out reads what is leased and little else; taking it back reads no more than its batch."""
    sweeper = Sweeper(world.engine, Postman("redis://127.0.0.1:1"), NoIndex(), world.settings)
    leased = world.row("SELECT count(*) AS n FROM jobs WHERE state = 'leased'")["n"]
    with reading(world) as reads:
        for _ in range(TIMES):
            sweeper.mark_lost()
            sweeper.reclaim()
            sweeper.send_again()
    all_of(reads, most=leased + WINDOWS)
    expired = some(world, "leased", BATCH)
    world.execute("UPDATE jobs SET lease_until = now() - interval '1 s' WHERE job_id = ANY(:jobs)", jobs=expired)
    with reading(world) as reads:
        assert len(sweeper.reclaim()) == BATCH
    assert max(read.total() for read in reads) <= leased + 25 * BATCH, reads


def test_refills_read_their_batch(world: World) -> None:
    """However many have failed; and where there is no build, which is nearly always, next to nothing."""

    def take(connection: Connection) -> refills.Batch | None:
        return refills.lease(connection, backend="postgres", worker_id=1, most=200, most_bytes=2**20)

    all_of(each_time(world, take), most=10)
    with world.engine.begin() as connection:
        index = indexes.must_be_live(connection)
        build = builds.begin(connection, Kind.REPAIR, index.index_id, Phase.FILLING, walks=True)

    def refill(connection: Connection) -> None:
        batch = take(connection)
        assert batch is not None
        assert len(batch.refills) == 200
        refills.finish_if_held(
            connection, batch.build_id, [(one, Published()) for one in batch.refills], world.settings
        )

    world.execute(
        "INSERT INTO refills (build_id, document_id, failed) SELECT :id, gen_random_uuid(), true"
        " FROM generate_series(1, 20000)",
        id=build.build_id,
    )
    all_of(each_time(world, refill), most=20 * 200)
    all_of(each_time(world, lambda connection: refills.are_left(connection, build.build_id)), most=10)
    with world.engine.begin() as connection:
        builds.move(connection, build, Phase.FAILED)


def test_asking_for_a_key_reads_its_row(world: World) -> None:
    with world.engine.begin() as connection:
        token, _ = keys.create(connection, "somebody", Scope.READ, ["default"])
        secret = sessions.begin(connection, token, hours=1)
        assert secret is not None
    world.execute("""
        INSERT INTO api_keys (name, prefix, hash, scope)
        SELECT 'n', lpad(to_hex(n), 8, '0'), sha256(n::text::bytea), 'read' FROM generate_series(1, 5000) n
    """)
    world.execute("""
        INSERT INTO sessions (hash, key_id, expires_at)
        SELECT hash, key_id, now() + interval '1 h' FROM api_keys
    """)
    world.execute("ANALYZE api_keys, sessions")
    all_of(each_time(world, lambda connection: keys.find(connection, token)), most=10)
    all_of(each_time(world, lambda connection: sessions.find(connection, secret)), most=10)


def test_the_purge_reads_its_batch(world: World) -> None:
    """What is removed is found by an index, in batches: however much there is, one transaction stays short."""
    purger = Purger(world.engine, NoIndex(), world.settings)
    world.execute("UPDATE documents SET input_version = 2 WHERE published_version = 1")
    world.execute("UPDATE jobs SET state = 'superseded' WHERE state = 'succeeded'")
    before = world.row("SELECT count(*) AS n FROM jobs")["n"]
    with reading(world) as reads:
        purger.run_once()
    removed = before - world.row("SELECT count(*) AS n FROM jobs")["n"]
    assert removed > 4 * BATCH
    all_of(reads, most=12 * BATCH)
    assert sum(read.total() for read in reads) <= 12 * removed
