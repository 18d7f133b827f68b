"""One collection floods the queue with 10,000 documents; another one's single document is started at once."""

import pytest

from tests.faults.test_worker_faults import ready
from tests.support.servers import Database
from tests.support.stack import running
from tests.support.waiting import until
from tests.support.world import World

FLOOD = """
    INSERT INTO documents (document_id, collection_id, input_version)
    SELECT gen_random_uuid(), 1, 1 FROM generate_series(1, 10000);
    INSERT INTO versions (document_id, input_version, operation, sha256)
    SELECT d.document_id, 1, 'index', c.sha256 FROM documents d, contents c;
    INSERT INTO jobs (document_id, collection_id, input_version, operation, partition, priority)
    SELECT document_id, 1, 1, 'index', row_number() OVER () % 16, 1 FROM documents;
    INSERT INTO outbox (job_id, partition, priority, collection_id, bytes)
    SELECT job_id, partition, priority, collection_id, 5 FROM jobs;
"""


@pytest.fixture
def world(database: Database) -> World:
    world = World(database.engine)
    world.execute("INSERT INTO contents (sha256, size) VALUES (sha256('words'), 5)")
    world.execute("INSERT INTO content_pieces (sha256, n, bytes) VALUES (sha256('words'), 0, 'words')")
    world.execute(FLOOD)
    return world


def test_one_document_of_another_collection_goes_with_the_first_that_are_sent(world: World) -> None:
    lonely = world.upload("lonely words", collection="small").job_id
    deliveries = world.relay()
    (its_own,) = [delivery.jobs for delivery in deliveries if lonely in delivery.jobs]
    assert its_own.index(lonely) <= 1, "collections take turns within a message, too"
    assert sum(len(delivery.jobs) for delivery in deliveries) == 2000


def test_it_is_indexed_while_the_flood_goes_on(world: World, database: Database, broker_url: str, tmp_path) -> None:  # noqa: ANN001 - pytest's
    with running(database.url, broker_url, tmp_path) as stack:
        stack.start("relay")
        stack.start("worker")
        ready(world, "worker")
        until(lambda: world.rows("SELECT 1 FROM jobs WHERE state = 'succeeded' LIMIT 1"), seconds=30, what="the flood")
        lonely = world.upload("lonely words", collection="small").job_id

        def done() -> bool:
            world.check()
            return bool(world.job(lonely)["state"] == "succeeded")

        until(done, seconds=10, what="the end of the lonely one")
    later = world.row(
        """
        SELECT count(*) AS n FROM jobs
        WHERE finished_at IS NULL OR finished_at > (SELECT finished_at FROM jobs WHERE job_id = :lonely)
        """,
        lonely=lonely,
    )["n"]
    assert later > 1000, f"{later} came later, else this shows nothing"
