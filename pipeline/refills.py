"""Documents to be written into the index of a build: leased and fenced like jobs, without a version of their own."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import orjson
from sqlalchemy import Connection, text

from pipeline.database import query
from pipeline.outcomes import Outcome, Published, RetryLater
from pipeline.settings import Settings

LEASE_SECONDS = 120
"""Nobody renews a refill. It is taken over at once when its worker is gone, and after this when the worker hangs."""
BACKOFF_MOST_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Refill:
    """The right to write one document into the index of a build."""

    document_id: UUID
    generation: int
    attempts: int


@dataclass(frozen=True, slots=True)
class Batch:
    """What one worker refills next, and where."""

    build_id: int
    index: str
    refills: list[Refill]


def lease(connection: Connection, *, backend: str, worker_id: int, most: int, most_bytes: int) -> Batch | None:
    """The next refills; None when no build fills an index of this backend.

    What others left behind goes first, then the walk over all documents moves on. A repair waits while the index is in
    trouble. A rebuild goes on, since the trouble may be that the live index is gone, which nothing else ends; when its
    own index takes nothing, its refills come back unspent and it rests.
    """
    build = connection.execute(
        text("""
            SELECT b.build_id, i.name,
                   b.kind = 'repair' AND EXISTS (SELECT FROM breakers WHERE name = 'index') AS is_paused
            FROM builds b JOIN search_indexes i USING (index_id)
            WHERE b.finished_at IS NULL AND b.phase = 'filling' AND i.backend = :backend
        """),
        {"backend": backend},
    ).one_or_none()
    if build is None:
        return None
    values = {
        "build_id": build.build_id,
        "worker_id": worker_id,
        "most": most,
        "most_bytes": most_bytes,
        "lease_seconds": LEASE_SECONDS,
    }
    for name in () if build.is_paused else ("lease_refills", "advance_build"):
        if rows := connection.execute(query(name), values).all():
            return Batch(build.build_id, build.name, [Refill(*row) for row in rows])
    return Batch(build.build_id, build.name, [])


def lock_held(connection: Connection, batch: Batch) -> list[Refill]:
    """Locks the refills and returns those whose leases are still held."""
    rows = connection.execute(
        query("refills_held"),
        {
            "build_id": batch.build_id,
            "documents": [refill.document_id for refill in batch.refills],
            "generations": [refill.generation for refill in batch.refills],
        },
    )
    held = set(rows.scalars())
    return [refill for refill in batch.refills if refill.document_id in held]


def finish_if_held(
    connection: Connection, build_id: int, endings: Sequence[tuple[Refill, Outcome]], settings: Settings
) -> None:
    """Ends refills that are still held: what was published is done, the rest is due again or has failed."""
    budget = settings.budget
    connection.execute(
        query("finish_refills_if_held"),
        {
            "build_id": build_id,
            "endings": orjson.dumps([_columns(refill, outcome) for refill, outcome in endings]).decode(),
            "attempts": budget.attempts,
            "backoff_first": budget.backoff_first_seconds,
            "backoff_most": min(budget.backoff_most_seconds, BACKOFF_MOST_SECONDS),
        },
    )


def add(connection: Connection, build_id: int, documents: Sequence[UUID]) -> int:
    """Hands documents to a build; returns how many it did not have already."""
    if not documents:
        return 0
    statement = text("""
        INSERT INTO refills (build_id, document_id)
        SELECT :build_id, document_id FROM unnest(CAST(:documents AS uuid[])) AS new (document_id)
        ORDER BY document_id
        ON CONFLICT (build_id, document_id) DO NOTHING
    """)
    added = connection.execute(statement, {"build_id": build_id, "documents": list(documents)}).rowcount
    count = text("UPDATE builds SET total = total + :added WHERE build_id = :build_id")
    connection.execute(count, {"added": added, "build_id": build_id})
    return added


def are_left(connection: Connection, build_id: int) -> bool:
    """Whether some refill is neither done nor failed."""
    statement = text("SELECT EXISTS (SELECT FROM refills WHERE build_id = :build_id AND NOT failed)")
    return bool(connection.execute(statement, {"build_id": build_id}).scalar_one())


def forget_failed(connection: Connection, build_id: int) -> None:
    """Drops what failed; whether it still matters is for a verification to say."""
    connection.execute(text("DELETE FROM refills WHERE build_id = :build_id AND failed"), {"build_id": build_id})
    connection.execute(text("UPDATE builds SET failed = 0 WHERE build_id = :build_id"), {"build_id": build_id})


def forget(connection: Connection, build_id: int) -> None:
    """Drops everything that a build still had to do."""
    connection.execute(text("DELETE FROM refills WHERE build_id = :build_id"), {"build_id": build_id})


def failures(connection: Connection, build_id: int) -> list[str]:
    """Why the first of those that failed did so."""
    statement = text("""
        SELECT document_id || ': ' || last_error FROM refills WHERE build_id = :build_id AND failed
        ORDER BY document_id LIMIT 5
    """)
    return list(connection.execute(statement, {"build_id": build_id}).scalars())


def _columns(refill: Refill, outcome: Outcome) -> dict[str, object]:
    row: dict[str, object] = {"document_id": refill.document_id, "generation": refill.generation, "counts": True}
    match outcome:
        case Published():
            return row | {"state": "done"}
        case RetryLater(_, message, _, refund):
            return row | {"state": "later", "counts": not refund, "error": message}
        case _:
            return row | {"state": "failed", "error": getattr(outcome, "message", "The index refused it.")}
