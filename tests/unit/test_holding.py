"""What a worker may believe of its own leases, by a clock that the test moves."""

from datetime import UTC, datetime
from typing import cast
from uuid import UUID, uuid4

import pytest

from pipeline.holding import Holding
from pipeline.leases import Lease

SECONDS, BEAT, DEADLINE = 30.0, 10.0, 600.0


class Hands:
    """A clock that stands still."""

    def __init__(self) -> None:
        self.at = 1000.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.at


class Named:
    """As much of a lease as is looked at here."""

    def __init__(self) -> None:
        self.job_id: UUID = uuid4()
        self.generation = 1


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def holding(clock: Hands) -> Holding:
    return Holding(attempt_seconds=DEADLINE, clock=clock)


def taken(holding: Holding, clock: Hands) -> Lease:
    lease = cast("Lease", Named())
    holding.add([lease], asked_at=clock.at, seconds=SECONDS)
    return lease


def test_a_lease_counts_from_when_it_was_asked_for(holding: Holding, clock: Hands) -> None:
    lease = taken(holding, clock)
    clock.at += SECONDS - 1
    assert holding.still(lease)
    clock.at += 1
    assert not holding.still(lease), "an answer that took long makes it no longer"


def test_a_beat_makes_it_last_and_a_missing_one_ends_it(holding: Holding, clock: Hands) -> None:
    renewed, lost = taken(holding, clock), taken(holding, clock)
    clock.at += BEAT
    holding.renewed({renewed.job_id}, until=clock.at + SECONDS)
    clock.at += SECONDS - 1
    assert holding.still(renewed)
    assert not holding.still(lost)


def test_who_cannot_renew_takes_nothing_more_before_its_leases_run_out(holding: Holding, clock: Hands) -> None:
    assert holding.may_take(margin=BEAT), "before the first beat"
    holding.renewed(set(), until=clock.at + SECONDS)
    clock.at += SECONDS - BEAT - 1
    assert holding.may_take(margin=BEAT)
    clock.at += 1
    assert not holding.may_take(margin=BEAT)
    holding.renewed(set(), until=clock.at + SECONDS)
    assert holding.may_take(margin=BEAT), "it beats again"


def test_an_attempt_past_its_deadline_is_renewed_no_more(holding: Holding, clock: Hands) -> None:
    lease = taken(holding, clock)
    assert holding.renewable() == [(lease.job_id, 1)]
    clock.at += DEADLINE
    assert holding.renewable() == []
    assert holding.all() == [(lease.job_id, 1)]


def test_what_ended_is_forgotten(holding: Holding, clock: Hands) -> None:
    lease = taken(holding, clock)
    holding.drop([lease])
    holding.drop([lease])
    assert (holding.all(), holding.still(lease)) == ([], False)
