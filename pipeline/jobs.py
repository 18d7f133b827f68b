"""Jobs as operators look at them: one, or a page of them, each with the sentence that says why it waits."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, RowMapping, text

from pipeline import cursors, waiting
from pipeline.errors import NotFound
from pipeline.outcomes import HINTS
from pipeline.settings import Settings
from pipeline.states import State

_FIND = """
    SELECT j.job_id, j.document_id, j.input_version, j.operation, j.partition, j.priority, j.state, j.attempt,
           j.generation, j.worker_id, j.lease_until, j.due_at, j.accepted_at, j.finished_at, c.name AS collection,
           v.filename, v.title, q.code, q.message
    FROM jobs j
    JOIN collections c ON c.collection_id = j.collection_id
    JOIN versions v ON v.document_id = j.document_id AND v.input_version = j.input_version
    LEFT JOIN quarantine q ON q.job_id = j.job_id AND q.resolved_at IS NULL
"""
_ATTEMPTS = text("""
    SELECT generation, worker_id, started_at, ended_at, outcome, code, message,
           load_ms, extract_ms, store_ms, publish_ms
    FROM attempts WHERE job_id = :job_id ORDER BY generation DESC LIMIT 100
""")
_OPEN = "j.job_id IN (SELECT job_id FROM quarantine WHERE resolved_at IS NULL)"


def listing(
    connection: Connection,
    settings: Settings,
    *,
    state: State | None = None,
    collection: str | None = None,
    partition: int | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> tuple[list[dict[str, Any]], str | None]:
    """One page, the newest jobs first, and the cursor of the next. Raises Invalid for a bad cursor."""
    conditions, values = (
        ["true"],
        {"limit": limit + 1, "state": state, "collection": collection, "partition": partition},
    )
    if state is not None:
        conditions.append("j.state = :state")
    if state is State.QUARANTINED:
        conditions.append(_OPEN)  # has an index; the state has none
    if collection is not None:
        conditions.append("c.name = :collection")
    if partition is not None:
        conditions.append("j.partition = :partition")
    if (before := cursors.decode(cursor, (UUID,))) is not None:
        conditions.append("j.job_id < :before")
        values["before"] = before[0]
    statement = text(f"{_FIND} WHERE {' AND '.join(conditions)} ORDER BY j.job_id DESC LIMIT :limit")
    rows = connection.execute(statement, values).mappings().all()
    page = _explained(connection, rows[:limit], settings)
    return page, cursors.encode(page[-1]["job_id"]) if len(rows) > limit else None


def find(connection: Connection, job_id: UUID, settings: Settings) -> dict[str, Any]:
    """One job with its attempts, the newest first. Raises NotFound."""
    rows = connection.execute(text(f"{_FIND} WHERE j.job_id = :job_id"), {"job_id": job_id}).mappings().all()
    if not rows:
        raise NotFound("job_not_found", f"There is no job {job_id}. Jobs are purged some days after their end.")
    (job,) = _explained(connection, rows, settings)
    attempts = connection.execute(_ATTEMPTS, {"job_id": job_id}).mappings()
    return job | {"attempts": [dict(row) for row in attempts]}


def _explained(connection: Connection, rows: Sequence[RowMapping], settings: Settings) -> list[dict[str, Any]]:
    sentences = waiting.explain(connection, [row["job_id"] for row in rows if not row["finished_at"]], settings)
    return [dict(row) | {"waiting": sentences.get(row["job_id"]), "failure": _failure(row)} for row in rows]


def _failure(row: RowMapping) -> dict[str, str] | None:
    if row["code"] is None:
        return None
    return {"code": row["code"], "message": row["message"], "hint": HINTS[row["code"]]}
