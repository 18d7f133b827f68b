"""Why is it waiting? One sentence for every unfinished job, computed from rows at the moment of asking.

Several things may be true at once. `REASONS` has the order in which they are said: what concerns this job alone first,
then what stands between it and a worker, in the order of its way there; its place in line only when nothing is wrong.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, RowMapping

from pipeline.breaker import BROKER, INDEX
from pipeline.database import query
from pipeline.outbox import MOST_COLLECTIONS
from pipeline.settings import Settings
from pipeline.states import State
from pipeline.wording import clause, counted, duration, moment, ordinal

CAP = 1_000
"""Up to here places and publications are counted."""

MOST_ROWS = 10_000
"""How many processes and leases are looked at."""


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What all waiting jobs share."""

    now: datetime
    has_relay: bool
    breakers: dict[str, dict[str, Any]]
    publications: int
    read_partitions: frozenset[int]
    last_readers: dict[int, datetime]
    attempts: int


def explain(connection: Connection, job_ids: Sequence[UUID], settings: Settings) -> dict[UUID, str]:
    """The sentence of each job that is not final; final and unknown ones are left out. Costs three statements."""
    jobs = connection.execute(query("waiting_jobs"), {"jobs": list(job_ids)}).mappings().all()
    if not jobs:
        return {}
    around = _surroundings(connection, settings)
    sentences = {job["job_id"]: _reason(job, around) for job in jobs}
    unblocked = [job for job in jobs if sentences[job["job_id"]] is None]
    places = _places(connection, [job["job_id"] for job in unblocked])
    return {job_id: sentence for job_id, sentence in sentences.items() if sentence} | {
        job["job_id"]: _in_line(job, places[job["job_id"]]) for job in unblocked
    }


def _surroundings(connection: Connection, settings: Settings) -> _Surroundings:
    row = connection.execute(
        query("waiting_surroundings"),
        {"silent_seconds": settings.lease.seconds, "most_processes": MOST_ROWS, "cap": CAP},
    ).one()
    return _Surroundings(
        now=row.now,
        has_relay=row.has_relay,
        breakers=row.breakers,
        publications=row.publications,
        read_partitions=frozenset(row.read_partitions),
        last_readers={int(n): datetime.fromisoformat(seen) for n, seen in row.last_readers.items()},
        attempts=settings.budget.attempts,
    )


def _places(connection: Connection, job_ids: list[UUID]) -> dict[UUID, RowMapping]:
    if not job_ids:
        return {}
    rows = connection.execute(
        query("waiting_positions"),
        {"jobs": job_ids, "cap": CAP, "most_leased": MOST_ROWS, "most_collections": MOST_COLLECTIONS},
    ).mappings()
    return {row["job_id"]: row for row in rows}


def _reason(job: RowMapping, around: _Surroundings) -> str | None:
    return next((sentence for reason in REASONS if (sentence := reason(job, around))), None)


def _needs_a_person(job: RowMapping, _around: _Surroundings) -> str | None:
    return f"needs a person: {job['trouble']}" if job["state"] == State.QUARANTINED else None


def _in_work(job: RowMapping, around: _Surroundings) -> str | None:
    if job["state"] != State.LEASED:
        return None
    if job["expired_for"] > 0:
        return f"worker {job['worker']} went silent: the lease ran out {duration(job['expired_for'])} ago"
    return (
        f"in work: leased {duration(job['attempt_age'])} ago by worker {job['worker']}, "
        f"attempt {job['attempt']} of {around.attempts}"
    )


def _document_is_busy(job: RowMapping, _around: _Surroundings) -> str | None:
    if job["busy_version"] is None:
        return None
    return f"waits for version {job['busy_version']} of the same document, leased {duration(job['busy_age'])} ago"


def _is_refused(job: RowMapping, _around: _Surroundings) -> str | None:
    return f"the broker refuses its message ({job['last_error']}): release it" if job["is_refused"] else None


def _retries_later(job: RowMapping, around: _Surroundings) -> str | None:
    if job["state"] != State.RETRY_WAIT or job["due_in"] <= 0:
        return None
    next_attempt = job["attempt"] + 1
    trouble = job["last_message"] or "a passing trouble"
    return f"retry {next_attempt} of {around.attempts} in {duration(job['due_in'])} after: {trouble}"


def _nobody_relays(job: RowMapping, around: _Surroundings) -> str | None:
    return "no relay is running" if job["sent_age"] is None and not around.has_relay else None


def _broker_is_away(_job: RowMapping, around: _Surroundings) -> str | None:
    if BROKER not in around.breakers:
        return None
    age, waiting = duration(around.breakers[BROKER]["age"]), counted(around.publications, CAP)
    plural = "" if around.publications == 1 else "s"
    return f"broker unreachable for {age}; {waiting} publication{plural} waiting"


def _publishing_is_paused(_job: RowMapping, around: _Surroundings) -> str | None:
    paused = around.breakers.get(INDEX)
    return f"publishing is paused: {clause(paused['reason'])}" if paused else None


def _nobody_reads(job: RowMapping, around: _Surroundings) -> str | None:
    partition = job["partition"]
    if partition in around.read_partitions:
        return None
    if partition not in around.last_readers:
        return f"no worker has ever read partition {partition}"
    return f"no worker reads partition {partition} since {moment(around.last_readers[partition], around.now)}"


def _is_nowhere(job: RowMapping, _around: _Surroundings) -> str | None:
    is_lost = job["sent_age"] is None and not job["is_announced"]
    return "neither sent nor waiting to be sent: reindex the document" if is_lost else None


REASONS: tuple[Callable[[RowMapping, _Surroundings], str | None], ...] = (
    _needs_a_person,
    _in_work,
    _document_is_busy,
    _is_refused,
    _retries_later,
    _is_nowhere,
    _nobody_relays,
    _broker_is_away,
    _publishing_is_paused,
    _nobody_reads,
)


def _in_line(job: RowMapping, place: RowMapping) -> str:
    """Nothing is wrong: its place, and what is in work before it."""
    n = place["place"] or 1
    line = f"{ordinal(n) if n <= CAP else f'{CAP:,}+'} in partition {job['partition']}"
    if place["front_age"] is not None:
        name = place["name"] or "another document"
        return f"{line}, behind {name} (leased {duration(place['front_age'])} ago by worker {place['worker']})"
    if job["sent_age"] is None:
        return f"{line}, about to be sent"
    sent = f"sent {duration(job['sent_age'])} ago, not yet taken"
    return sent if n == 1 else f"{line}, {sent}"
