"""With 80,000 jobs, every statement that a page or a status asks for still reads a bounded number of rows."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from fencepost.local.postgres import LocalPostgres
from pipeline import overview, waiting
from pipeline.database import query
from pipeline.outbox import MOST_COLLECTIONS
from tests.support import servers
from tests.support.rows import OperatedWorld

FILL = """
    INSERT INTO documents (document_id, collection_id, input_version)
    SELECT gen_random_uuid(), 1, 1 FROM generate_series(1, 80000);
    INSERT INTO versions (document_id, input_version, operation) SELECT document_id, 1, 'delete' FROM documents;
    INSERT INTO jobs (document_id, collection_id, input_version, operation, partition, priority, state, finished_at,
                      lease_until, worker_id, sent_at, generation)
    SELECT document_id, 1, 1, 'index', n % 16, 1,
           CASE WHEN n <= 25000 THEN 'succeeded' WHEN n <= 25500 THEN 'leased' WHEN n <= 27000 THEN 'quarantined'
                WHEN n > 60000 THEN 'resolved' ELSE 'queued' END,
           CASE WHEN n <= 25000 OR n > 60000 THEN now() - n * interval '1 s' END,
           CASE WHEN n > 25000 AND n <= 25500 THEN now() + interval '30 s' END,
           CASE WHEN n > 25000 AND n <= 25500 THEN 2 END,
           CASE WHEN n > 27000 AND n <= 31000 THEN now() END, 1
    FROM (SELECT document_id, row_number() OVER () AS n FROM documents) d;
    INSERT INTO outbox (job_id, partition, priority, collection_id)
    SELECT job_id, partition, priority, 1 FROM jobs WHERE state = 'queued' AND sent_at IS NULL;
    INSERT INTO attempts (job_id, generation, worker_id, started_at, ended_at, outcome, code)
    SELECT job_id, 1, 2, finished_at - interval '1 s', finished_at, 'published', NULL FROM jobs
    WHERE state = 'succeeded'
    UNION ALL
    SELECT job_id, 1, 2, now() - interval '4 s', NULL, NULL, NULL FROM jobs WHERE state = 'leased'
    UNION ALL
    SELECT job_id, 1, 2, now() - interval '1 s', now(), 'rejected', 'corrupt' FROM jobs WHERE state = 'quarantined';
    INSERT INTO quarantine (job_id, code, message, owner)
    SELECT job_id, 'corrupt', 'Broken.', 'operators' FROM jobs WHERE state = 'quarantined';
    INSERT INTO quarantine (job_id, code, message, owner, quarantined_at, resolved_at, note)
    SELECT job_id, 'corrupt', 'Broken.', 'operators', finished_at, now(), 'It was empty.' FROM jobs
    WHERE state = 'resolved';
"""
MOST_READ = 40_000
"""How many rows one statement may read in all its steps: a few times the caps, and less than there is."""


@pytest.fixture(scope="module")
def world(postgres: LocalPostgres) -> Iterator[OperatedWorld]:
    with servers.fresh_database(postgres) as database:
        world = OperatedWorld(database.engine).run()
        world.execute(FILL)
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM ANALYZE"))
        yield world


@pytest.fixture(scope="module")
def some_waiting(world: OperatedWorld) -> list[UUID]:
    """The 50 queued jobs that come last."""
    return [row["job_id"] for row in world.rows("SELECT job_id FROM outbox ORDER BY id DESC LIMIT 50")]


CAPS = {"cap": overview.CAP, "most": overview.MOST_ROWS, "shown": 100, "silent_seconds": 30, "partitions": 16}
ALL = {
    "visible": None,
    "code": None,
    "owner": None,
    "resolved": False,
    "collection": None,
    "job_id": None,
    "before_at": None,
    "before_id": None,
}
STATEMENTS: dict[str, dict[str, Any]] = {
    "oldest_queued": CAPS,
    "expired_leases": CAPS,
    "outbox_state": CAPS,
    "partition_states": CAPS | {"cap": overview.PARTITION_CAP},
    "rates": CAPS | {"minutes": 15},
    "recent_errors": CAPS | {"minutes": 15},
    "all_processes": CAPS,
    "waiting_surroundings": CAPS | {"most_processes": waiting.MOST_ROWS},
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_question_of_the_overview_is_bounded(world: OperatedWorld, name: str) -> None:
    assert_bounded(world, name, STATEMENTS[name])


@pytest.mark.parametrize("resolved", [False, True])
def test_a_page_of_the_quarantine_reads_little_more_than_it_shows(world: OperatedWorld, *, resolved: bool) -> None:
    assert_bounded(world, "quarantined", ALL | {"resolved": resolved, "most": 51}, most_read=1_000)


def test_the_reasons_of_a_page_of_jobs_are_bounded(world: OperatedWorld, some_waiting: list[UUID]) -> None:
    assert_bounded(world, "waiting_jobs", {"jobs": some_waiting})


def test_the_places_of_a_page_of_jobs_are_bounded(world: OperatedWorld, some_waiting: list[UUID]) -> None:
    values = {
        "jobs": some_waiting,
        "cap": waiting.CAP,
        "most_leased": waiting.MOST_ROWS,
        "most_collections": MOST_COLLECTIONS,
    }
    assert_bounded(world, "waiting_positions", values, most_read=50 * waiting.CAP + MOST_READ)


def assert_bounded(world: OperatedWorld, name: str, values: dict[str, Any], *, most_read: int = MOST_READ) -> None:
    with world.engine.connect() as connection:
        explain = text(f"EXPLAIN (ANALYZE, FORMAT JSON) {query(name).text}")
        (answer,) = connection.execute(explain, values).scalar_one()
    nodes = list(steps(answer["Plan"]))
    scanned = [node for node in nodes if node["Node Type"] == "Seq Scan" and node["Relation Name"] == "jobs"]
    assert not scanned, f"{name} scans the whole table of jobs"
    read = {
        f"{node['Node Type']} on {node['Relation Name']}": rows_of(node) for node in nodes if "Relation Name" in node
    }
    assert sum(read.values()) <= most_read, f"{name} reads {read}"
    assert answer["Execution Time"] < 500, f"{name} took {answer['Execution Time']:.0f} ms"


def steps(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from steps(child)


def rows_of(node: dict[str, Any]) -> int:
    return int((node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"])
