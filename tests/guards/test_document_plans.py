"""Among 60,000 documents, a page of the list reads a bounded number of rows, whatever it is filtered by."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, text

from fencepost.local.postgres import LocalPostgres
from ingest.documents import Filter, listing
from ingest.outdated import PUBLISHED, Extent
from pipeline import cursors, jobs
from pipeline.outcomes import TextQuality
from pipeline.states import State
from tests.guards.test_operator_plans import rows_of, steps
from tests.support import servers

FILL = """
    INSERT INTO collections (name) VALUES ('small');
    INSERT INTO documents (document_id, collection_id, key, input_version, created_at)
    SELECT gen_random_uuid(), CASE WHEN n <= 100 THEN 2 ELSE 1 END, 'key ' || n, 1,
           '2026-01-01'::timestamptz + n * interval '1 s'
    FROM generate_series(1, 60000) n;
    INSERT INTO versions (document_id, input_version, operation) SELECT document_id, 1, 'delete' FROM documents;
    INSERT INTO results (sha256, extractor, fingerprint, media_type, text_quality, facts, passages)
    SELECT sha256(quality::bytea), '', '', '', quality, '{}', '' FROM unnest(ARRAY['ok', 'no_text', 'partial']) quality;
    UPDATE versions v SET result_id = r.result_id
    FROM results r, (SELECT document_id, row_number() OVER (ORDER BY created_at) AS n FROM documents) d
    WHERE v.document_id = d.document_id
      AND r.text_quality = CASE WHEN n <= 50 THEN 'no_text' WHEN n <= 20000 THEN 'partial' ELSE 'ok' END;
    UPDATE documents d SET published_version = 1, text_flaw = nullif(r.text_quality, 'ok')
    FROM versions v JOIN results r USING (result_id) WHERE v.document_id = d.document_id;
    INSERT INTO jobs (document_id, collection_id, input_version, operation, partition, priority, state, finished_at,
                      lease_until, worker_id)
    SELECT document_id, collection_id, 1, 'index', 0, 1, state,
           CASE WHEN state IN ('succeeded', 'resolved') THEN now() END,
           CASE WHEN state = 'leased' THEN now() + interval '30 s' END, CASE WHEN state = 'leased' THEN 1 END
    FROM (SELECT document_id, collection_id, CASE WHEN n <= 50 THEN 'quarantined' WHEN n <= 100 THEN 'leased'
                 WHEN n <= 150 THEN 'queued' WHEN n <= 200 THEN 'retry_wait' WHEN n <= 250 THEN 'resolved'
                 ELSE 'succeeded' END AS state
          FROM (SELECT *, row_number() OVER (ORDER BY created_at) AS n FROM documents) d) e;
    INSERT INTO quarantine (job_id, code, message, owner)
    SELECT job_id, 'corrupt', 'Broken.', 'operators' FROM jobs WHERE state = 'quarantined';
"""
MOST_READ = 3000
MIDDLE = cursors.encode(datetime(2026, 1, 1, 8, tzinfo=UTC), UUID(int=0))


@pytest.fixture(scope="module")
def engine(postgres: LocalPostgres) -> Iterator[Engine]:
    with servers.fresh_database(postgres) as database:
        with database.engine.begin() as connection:
            connection.execute(text(FILL))
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM ANALYZE"))
        yield database.engine


@pytest.mark.parametrize("cursor", [None, MIDDLE], ids=["first page", "later page"])
@pytest.mark.parametrize(
    "wanted",
    [
        Filter(),
        Filter(collection="default"),
        Filter(collection="small"),
        Filter(key="key 7"),
        Filter(key="key 7", collection="small"),
        *(Filter(state=state) for state in State if state is not State.SUPERSEDED),
        Filter(state=State.QUARANTINED, collection="small"),
        Filter(state=State.SUCCEEDED, collection="default"),
        *(Filter(text_quality=quality) for quality in TextQuality),
        Filter(text_quality=TextQuality.NO_TEXT, state=State.LEASED),
        Filter(text_quality=TextQuality.PARTIAL, collection="default"),
    ],
    ids=str,
)
def test_a_page_is_bounded(engine: Engine, wanted: Filter, cursor: str | None) -> None:
    assert_bounded(engine, *listing(wanted, None, cursor))


@pytest.mark.parametrize("visible", [[1], [2], [1, 2], [3], []], ids=str)
@pytest.mark.parametrize(
    "wanted",
    [Filter(), Filter(key="key 7"), Filter(state=State.QUARANTINED), Filter(text_quality=TextQuality.NO_TEXT)],
    ids=str,
)
def test_a_page_of_what_a_key_may_see_is_bounded(engine: Engine, wanted: Filter, visible: list[int]) -> None:
    assert_bounded(engine, *listing(wanted, visible, None))


@pytest.mark.parametrize("visible", [[1], [2], [1, 2], [3], []], ids=str)
@pytest.mark.parametrize("state", [None, State.SUCCEEDED, State.LEASED, State.QUARANTINED])
def test_a_page_of_the_jobs_that_a_key_may_see_is_bounded(
    engine: Engine, state: State | None, visible: list[int]
) -> None:
    assert_bounded(engine, *jobs.selection(jobs.Filter(state=state), visible, None))


@pytest.mark.parametrize("after", [UUID(int=0), UUID(int=1 << 127)], ids=["first", "later"])
@pytest.mark.parametrize("extent", [Extent(None, None), Extent("default", None), Extent(None, [1])], ids=str)
def test_a_batch_that_is_looked_through_for_outdated_texts_is_bounded(
    engine: Engine, extent: Extent, after: UUID
) -> None:
    assert_bounded(engine, PUBLISHED, {**extent.values(), "after": after, "batch": 500})


def assert_bounded(engine: Engine, statement: str, values: dict[str, object]) -> None:
    with engine.connect() as connection:
        explained: list[dict[str, Any]] = connection.execute(
            text(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}"), {**values, "limit": 51}
        ).scalar_one()
    nodes = [node for node in steps(explained[0]["Plan"]) if "Relation Name" in node]
    read = {f"{node['Node Type']} on {node['Relation Name']}": rows_of(node) for node in nodes}
    assert sum(read.values()) <= MOST_READ, read
