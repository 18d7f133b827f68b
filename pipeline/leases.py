"""The fence: a job is leased under a new generation, and only the holder of that generation can end the attempt.

Every function works in the caller's transaction, or opens one short transaction where it takes an engine.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, assert_never
from uuid import UUID

import orjson
from sqlalchemy import Connection, text

from pipeline import breaker, outbox
from pipeline.breaker import INDEX
from pipeline.database import query
from pipeline.indexes import TARGETS_LOCK
from pipeline.outcomes import FAILURES, LeaseLost, Outcome, Published, Rejected, RetryLater, Superseded
from pipeline.settings import Settings
from pipeline.states import State


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on one job until it expires, and all that the work needs to know."""

    job_id: UUID
    document_id: UUID
    input_version: int
    operation: str
    generation: int
    attempt: int
    partition: int
    alone: bool
    collection_id: int
    key: str | None
    sha256: bytes | None
    size: int | None
    title: str
    filename: str
    media_type: str
    metadata: dict[str, Any]
    accepted_at: datetime
    last_code: str | None
    targets: list[str]


@dataclass(slots=True)
class Stages:
    """How long the stages of one attempt took, in milliseconds; None for a stage that was not reached."""

    load_ms: int | None = None
    extract_ms: int | None = None
    store_ms: int | None = None
    publish_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """One attempt and how it ended."""

    job_id: UUID
    generation: int
    outcome: Outcome
    stages: Stages = field(default_factory=Stages)


def lease(connection: Connection, jobs: Sequence[UUID], *, worker_id: int, seconds: float, backend: str) -> list[Lease]:
    """Leases those of the jobs that wait, are due, and whose document nobody holds; the others are simply left out.

    So are all of them when the live index is not one of `backend`, the search backend that the worker has. While the
    index is in trouble nothing is leased, and what was offered waits in the outbox again.
    """
    leased = _lease(connection, jobs, worker_id=worker_id, seconds=seconds, backend=backend)
    if not leased and breaker.why_open(connection, INDEX) is not None:
        outbox.take_back(connection, jobs)
    return leased


def _lease(
    connection: Connection, jobs: Sequence[UUID], *, worker_id: int, seconds: float, backend: str
) -> list[Lease]:
    documents = connection.execute(
        text("""
            SELECT document_id FROM (SELECT pg_advisory_xact_lock_shared(:lock)) AS targets_stay, jobs
            WHERE job_id = ANY(CAST(:jobs AS uuid[])) AND state IN ('queued', 'retry_wait')
        """),
        {"jobs": list(jobs), "lock": TARGETS_LOCK},
    ).scalars()
    locked = connection.execute(query("lock_documents_free"), {"documents": list(documents)}).scalars().all()
    if not locked:
        return []
    rows = connection.execute(
        query("lease"),
        {"jobs": list(jobs), "documents": locked, "worker_id": worker_id, "lease_seconds": seconds, "backend": backend},
    )
    return [Lease(**row) for row in rows.mappings()]


def lock_documents(connection: Connection, documents: Sequence[UUID]) -> None:
    """Locks these documents until the end of the transaction, waiting for whoever holds one."""
    connection.execute(query("lock_documents"), {"documents": list(documents)})


def lock_documents_of(connection: Connection, jobs: Sequence[UUID]) -> None:
    """Locks the documents of these jobs until the end of the transaction."""
    find = text("SELECT document_id FROM jobs WHERE job_id = ANY(CAST(:jobs AS uuid[]))")
    lock_documents(connection, connection.execute(find, {"jobs": list(jobs)}).scalars().all())


def lock_held(connection: Connection, leases: Iterable[Lease]) -> set[UUID]:
    """Locks the documents and returns the jobs whose leases are still held: only these may be published."""
    chosen = list(leases)
    lock_documents(connection, [lease.document_id for lease in chosen])
    return set(
        connection.execute(
            query("held"),
            {"jobs": [lease.job_id for lease in chosen], "generations": [lease.generation for lease in chosen]},
        ).scalars()
    )


def renew_if_held(connection: Connection, held: Sequence[tuple[UUID, int]], *, seconds: float) -> set[UUID]:
    """Extends leases, given as (job_id, generation); returns the jobs that were extended."""
    if not held:
        return set()
    rows = connection.execute(
        query("renew_if_held"),
        {"jobs": [job for job, _ in held], "generations": [gen for _, gen in held], "lease_seconds": seconds},
    )
    return set(rows.scalars())


def finish_if_held(connection: Connection, endings: Sequence[Ending], settings: Settings) -> dict[UUID, State]:
    """Ends the attempts that are still held; the documents must be locked already. Returns each job's new state.

    A job that is missing from the answer was not held: somebody else owns it, or an earlier try of this very
    statement committed (`ended_already` tells).
    """
    budget = settings.budget
    rows = connection.execute(
        query("finish_if_held"),
        {
            "endings": orjson.dumps([_columns(ending) for ending in endings]).decode(),
            "attempts": budget.attempts,
            "elapsed_seconds": budget.elapsed_seconds,
            "backoff_first": budget.backoff_first_seconds,
            "backoff_most": budget.backoff_most_seconds,
            "backoff_jitter": budget.backoff_jitter,
            "owner": settings.quarantine_owner,
            "failures": sorted(FAILURES),
        },
    )
    return {row.job_id: State(row.state) for row in rows}


def ended_already(connection: Connection, ending: Ending) -> bool:
    """Whether the history has this very end, as after a commit whose answer got lost."""
    found = connection.execute(
        text("SELECT outcome FROM attempts WHERE job_id = :job AND generation = :generation"),
        {"job": ending.job_id, "generation": ending.generation},
    )
    return bool(found.scalar_one_or_none() == _columns(ending)["outcome"])


def _columns(ending: Ending) -> dict[str, Any]:
    row: dict[str, Any] = {"job_id": ending.job_id, "generation": ending.generation, "refund": False}
    match ending.outcome:
        case Published(result_id):
            row |= {"outcome": "published", "result_id": result_id}
        case Superseded():
            row |= {"outcome": "superseded"}
        case RetryLater(code, message, delay, refund):
            row |= {"outcome": "handed_back" if refund else "retry_later", "code": code, "message": message}
            row |= {"delay_seconds": delay.total_seconds() if delay is not None else None, "refund": refund}
        case Rejected(code, message):
            row |= {"outcome": "rejected", "code": code, "message": message}
        case LeaseLost(code, message):
            row |= {"outcome": "lease_lost", "code": code, "message": message}
        case _:
            assert_never(ending.outcome)
    return row | asdict(ending.stages)
