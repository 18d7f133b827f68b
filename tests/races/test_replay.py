"""A replay and a new version of the same document meet: whoever has the document's lock first decides."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from pipeline import quarantine
from pipeline.acceptance import Acceptance, Submission, accept_one
from pipeline.errors import Conflict
from pipeline.outcomes import Rejected
from tests.support.rows import OperatedWorld
from tests.support.servers import Database
from tests.support.waiting import until


@pytest.fixture
def world(database: Database) -> OperatedWorld:
    return OperatedWorld(database.engine).run()


@pytest.fixture
def broken(world: OperatedWorld) -> Acceptance:
    accepted = world.file()
    assert accepted.job_id is not None
    world.attempt(accepted.job_id, Rejected("corrupt", "Broken."))
    return accepted


def somebody_waits(world: OperatedWorld) -> bool:
    return bool(
        world.rows("SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
    )


def replay(world: OperatedWorld, broken: Acceptance) -> object:
    assert broken.job_id is not None
    with world.engine.begin() as connection:
        return quarantine.replay(connection, [broken.job_id], as_new_version=False, settings=world.settings)[
            broken.job_id
        ]


def test_a_replay_that_comes_second_is_refused(world: OperatedWorld, broken: Acceptance) -> None:
    with ThreadPoolExecutor(1) as other:
        with world.engine.begin() as connection:
            accept_one(connection, Submission(document_id=broken.document_id, always=True), partitions=1)
            answer = other.submit(replay, world, broken)
            until(partial(somebody_waits, world), what="the wait for the document's lock")

        refused = answer.result(10)

    assert isinstance(refused, Conflict)
    assert refused.code == "newer_version_exists"
    assert world.job(broken.job_id)["state"] == "quarantined"
    world.check()


def test_a_new_version_that_comes_second_supersedes_the_replayed_job(world: OperatedWorld, broken: Acceptance) -> None:
    assert broken.job_id is not None
    with ThreadPoolExecutor(1) as other:
        with world.engine.begin() as connection:
            quarantine.replay(connection, [broken.job_id], as_new_version=False, settings=world.settings)
            second = other.submit(world.reindex, broken.document_id)
            until(partial(somebody_waits, world), what="the wait for the document's lock")

        assert second.result(10).input_version == 2

    assert world.job(broken.job_id)["state"] == "superseded"
    world.check()


def test_of_two_replays_one_is_refused(world: OperatedWorld, broken: Acceptance) -> None:
    assert broken.job_id is not None
    with ThreadPoolExecutor(1) as other:
        with world.engine.begin() as connection:
            quarantine.replay(connection, [broken.job_id], as_new_version=True, settings=world.settings)
            second = other.submit(replay, world, broken)
            until(partial(somebody_waits, world), what="the wait for the document's lock")

        refused = second.result(10)

    assert isinstance(refused, Conflict)
    assert refused.code == "not_quarantined"
    world.check()
