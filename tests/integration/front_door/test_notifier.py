"""The notifier: few notifications for many commits, but always one after the last."""

import threading
import time
from collections.abc import Iterator

import psycopg
import pytest

from fencepost.local.postgres import LocalPostgres
from ingest.notifier import QUIET_SECONDS, Notifier
from pipeline.relay import CHANNEL
from tests.support.servers import Database


@pytest.fixture
def notifier(database: Database) -> Iterator[Notifier]:
    """A running one."""
    notifier = Notifier(database.url)
    notifier.start()
    yield notifier
    notifier.stop()


@pytest.fixture
def listener(database: Database) -> Iterator[psycopg.Connection]:
    """A connection that listens."""
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute(f"LISTEN {CHANNEL}")
        yield connection


def heard(listener: psycopg.Connection) -> int:
    """How many notifications came, until there is silence."""
    return len(list(listener.notifies(timeout=0.5)))


def test_many_commits_are_told_seldom(notifier: Notifier, listener: psycopg.Connection) -> None:
    notifier.wake()
    assert list(listener.notifies(timeout=10, stop_after=1))
    began, wakes, pause = time.monotonic(), 0, threading.Event()
    while time.monotonic() - began < 30 * QUIET_SECONDS:
        notifier.wake()
        wakes += 1
        pause.wait(QUIET_SECONDS / 20)
    most = (time.monotonic() - began) / QUIET_SECONDS + 2
    assert 2 <= heard(listener) <= most < wakes


def test_a_commit_right_after_a_notification_is_told_too(notifier: Notifier, listener: psycopg.Connection) -> None:
    for _ in range(20):
        notifier.wake()
        assert list(listener.notifies(timeout=10, stop_after=1))


def test_it_survives_a_restart_of_postgres(
    notifier: Notifier, listener: psycopg.Connection, postgres: LocalPostgres, database: Database
) -> None:
    notifier.wake()
    assert heard(listener) == 1
    postgres.restart()
    with psycopg.connect(database.url, autocommit=True) as again:
        again.execute(f"LISTEN {CHANNEL}")
        notifier.wake()  # meets the dead connection, and is told on the next one
        assert list(again.notifies(timeout=10, stop_after=1))


def test_it_stops_though_it_was_never_started_or_woken(database: Database) -> None:
    Notifier(database.url).stop()
    notifier = Notifier(database.url)
    notifier.start()
    notifier.stop()
    notifier.stop()
