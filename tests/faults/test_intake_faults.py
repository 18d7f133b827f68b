"""A real API process is killed on both sides of the accepting commit, and its servers are away."""

import httpx
import pytest

from fencepost.local.postgres import LocalPostgres
from fencepost.local.valkey import LocalValkey
from pipeline.faults import Fault
from tests.faults.test_worker_faults import all_succeeded
from tests.support.stack import Stack, killed, served
from tests.support.waiting import until
from tests.support.world import World


def test_killed_before_the_commit_nothing_was_accepted(world: World, stack: Stack) -> None:
    with served(stack, fault=f"kill:{Fault.BEFORE_ACCEPT_COMMIT}") as (url, process):
        with pytest.raises(httpx.TransportError):
            httpx.post(f"{url}/v1/documents", params={"key": "a"}, content=b"words")
        assert killed(process)
    for table in ("documents", "versions", "jobs", "outbox", "contents"):
        assert world.rows(f"SELECT 1 FROM {table}") == [], "no half of an acceptance is left"
    world.check()


def test_killed_after_the_commit_it_was_accepted_and_is_indexed(world: World, stack: Stack) -> None:
    with served(stack, fault=f"kill:{Fault.AFTER_ACCEPT_COMMIT}") as (url, process):
        with pytest.raises(httpx.TransportError):
            httpx.post(f"{url}/v1/documents", params={"key": "a"}, content=b"words")
        assert killed(process)
    stack.start("relay")
    stack.start("worker")
    until(all_succeeded(world, 1), seconds=60)
    with served(stack) as (url, _):
        again = httpx.post(f"{url}/v1/documents", params={"key": "a"}, content=b"words")
        assert (again.status_code, again.json()["unchanged"]) == (200, True), "sending again harms nothing"
    world.check()


def test_without_a_broker_an_upload_is_accepted_and_delivered_later(
    world: World, stack: Stack, valkey: LocalValkey
) -> None:
    valkey.stop()
    stack.start("relay")
    with served(stack) as (url, _):
        answer = httpx.post(f"{url}/v1/documents", content=b"words")
        assert answer.status_code == 202
        until(lambda: world.rows("SELECT 1 FROM breakers"), what="the breaker")
        document = httpx.get(f"{url}/v1/documents/{answer.json()['document_id']}").json()
        assert "broker" in document["waiting"]
        valkey.start()
        stack.start("worker")
        until(all_succeeded(world, 1), seconds=60)
    assert world.row("SELECT attempt FROM jobs")["attempt"] == 1
    world.check()


def test_without_postgresql_the_door_says_when_to_come_again(
    world: World, stack: Stack, postgres: LocalPostgres
) -> None:
    with served(stack) as (url, process):
        postgres.stop()
        answer = httpx.post(f"{url}/v1/documents", content=b"words", timeout=30)
        assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")
        assert int(answer.headers["Retry-After"]) > 0
        assert httpx.get(f"{url}/health/live").status_code == 200
        assert httpx.get(f"{url}/health/ready", timeout=30).status_code == 503
        postgres.start()
        until(
            lambda: httpx.post(f"{url}/v1/documents", content=b"words", timeout=30).status_code == 202,
            seconds=60,
            what="the recovery",
        )
        assert process.poll() is None
    world.engine.dispose()
    world.check()
