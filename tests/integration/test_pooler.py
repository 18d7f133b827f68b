"""The whole way through PgBouncer in transaction mode: nothing of ours may outlive a transaction."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest
from sqlalchemy import text

from pipeline.database import connect
from pipeline.settings import Settings, environment
from tests.faults.test_worker_faults import all_succeeded, ready
from tests.support import pooler
from tests.support.servers import Database
from tests.support.stack import running, served
from tests.support.waiting import until
from tests.support.world import World


@pytest.fixture
def pooled_url(database: Database) -> Iterator[str]:
    if pooler.PROGRAM is None:
        if environment().get("CI"):
            pytest.fail("CI must have PgBouncer: .ci/run installs it")
        pytest.skip("no pgbouncer here; install it to test poolers")
    with pooler.pooling(database.url, connections=3) as url:
        yield url


def test_the_whole_way_through_a_pooler(database: Database, pooled_url: str, broker_url: str, tmp_path: Path) -> None:
    world = World(database.engine)
    with running(pooled_url, broker_url, tmp_path) as stack:
        direct = {"FENCEPOST_DATABASE_DIRECT_URL": database.url}
        for kind in ("relay", "worker", "sweeper"):
            stack.start(kind, **direct)
            ready(world, kind)
        with served(stack, **direct) as (url, _):
            for n in range(20):
                answer = httpx.post(f"{url}/v1/documents", params={"key": f"k{n}"}, content=b"lighthouse %d" % n)
                assert answer.status_code == 202, answer.text
            until(all_succeeded(world, 20), seconds=30, what="the end of all jobs")
            for _ in range(20):
                found = httpx.get(f"{url}/v1/search", params={"q": "lighthouse"})
                assert found.json()["total"] == 20, found.text
            overview = httpx.get(f"{url}/v1/overview", timeout=20)
            assert overview.status_code == 200, overview.text + stack.logs()
        said = stack.logs()
    assert "database.unavailable" not in said
    assert "loop.failed" not in said
    world.check()


def test_limits_hold_for_one_transaction_and_nothing_is_prepared(pooled_url: str) -> None:
    engine = connect(pooled_url, pooled=True, statement_seconds=7)
    for _ in range(20):
        with engine.begin() as connection:
            shown = connection.execute(text("SELECT current_setting('statement_timeout'), current_setting('jit')"))
            assert shown.one() == ("7s", "off")
    engine.dispose()
    with psycopg.connect(pooled_url, autocommit=True) as stranger:
        assert stranger.execute("SHOW statement_timeout").fetchone() == ("0",)
        assert stranger.execute("SELECT count(*) FROM pg_prepared_statements").fetchone() == (0,)


def test_who_names_a_way_past_it_has_a_pooler() -> None:
    one, other = "postgresql://a/x", "postgresql://b/x"
    assert Settings(database_url=one, database_direct_url=other).is_pooled
    assert not Settings(database_url=one, database_direct_url=one).is_pooled
    assert not Settings(database_url=one).is_pooled
