"""What asks the Clock, at frozen moments, and the durations that are promised by default."""

from datetime import UTC, datetime, timedelta

import pytest
from freezegun import freeze_time

from fencepost.web.rendering import _ago
from pipeline.clock import SystemClock
from pipeline.settings import MIB, Settings

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_every_promised_default_is_the_default() -> None:
    found = Settings()
    assert (found.budget.attempts, found.budget.elapsed_seconds, found.budget.attempt_seconds) == (8, 6 * 3600, 600)
    assert (found.budget.backoff_first_seconds, found.budget.backoff_most_seconds) == (5, 600)
    assert (found.budget.backoff_jitter, found.budget.publications) == (0.5, 10)
    assert (found.lease.seconds, found.lease.beat_seconds) == (30, 10)
    assert (found.relay.claim_seconds, found.relay.batch_jobs, found.relay.batch_bytes) == (10, 128, 4 * MIB)
    assert (found.relay.window_jobs, found.partitions) == (256, 16)
    assert (found.sweep.every_seconds, found.sweep.resend_first_seconds, found.sweep.resend_most_seconds) == (
        1,
        30,
        600,
    )
    assert (found.worker.threads, found.worker.stop_grace_seconds) == (3, 8)
    assert (found.retention.idempotency_hours, found.retention.tombstone_days) == (24, 30)
    assert (found.quarantine_owner, found.upload.most_bytes) == ("operators", 256 * MIB)


def test_the_clock_tells_utc_and_goes_on() -> None:
    clock = SystemClock()
    with freeze_time(NOON) as frozen:
        began = clock.monotonic()
        frozen.tick(timedelta(seconds=90))
        assert clock.now() == NOON + timedelta(seconds=90)
        assert clock.monotonic() - began == pytest.approx(90)


def test_a_page_tells_how_long_ago_something_was() -> None:
    with freeze_time(NOON) as frozen:
        assert _ago(NOON) == "0 s ago"
        frozen.tick(timedelta(minutes=5))
        assert _ago(NOON) == "5 min ago"
    assert _ago(None) == "never"
