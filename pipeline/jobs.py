"""Jobs as operators look at them: one, or a page of them, each with the sentence that says why it waits."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, RowMapping, text

from pipeline import cursors, waiting
from pipeline.errors import NotFound
from pipeline.outcomes import failure
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
    SELECT a.job_id, a.generation, a.worker_id, a.started_at, a.ended_at, a.outcome, a.code, a.message,
           json_build_object('load_ms', a.load_ms, 'extract_ms', a.extract_ms, 'store_ms', a.store_ms,
                             'publish_ms', a.publish_ms) AS stages
    FROM unnest(CAST(:jobs AS uuid[])) AS job (job_id)
    CROSS JOIN LATERAL (
        SELECT * FROM attempts WHERE attempts.job_id = job.job_id ORDER BY generation DESC LIMIT 100
    ) a
    ORDER BY a.generation DESC
""")
_OPEN = "j.job_id IN (SELECT job_id FROM quarantine WHERE resolved_at IS NULL)"


@dataclass(frozen=True, slots=True)
class Filter:
    """Which jobs a list shows; None is no condition."""

    state: State | None = None
    collection: str | None = None
    partition: int | None = None


def listing(
    connection: Connection,
    wanted: Filter,
    visible: list[int] | None,
    *,
    cursor: str | None,
    limit: int,
    settings: Settings,
) -> tuple[list[dict[str, Any]], str | None]:
    """One page of the `visible` collections (None: all), the newest jobs first, and the cursor of the next.

    Raises Invalid for a bad cursor.
    """
    statement, values = selection(wanted, visible, cursor)
    rows = connection.execute(text(statement), values | {"limit": limit + 1}).mappings().all()
    page, following = cursors.page(rows, limit, "job_id")
    return _explained(connection, page, settings), following


def selection(wanted: Filter, visible: list[int] | None, cursor: str | None) -> tuple[str, dict[str, Any]]:
    """The statement of a page, which takes `limit` besides, and its values."""
    conditions = ["true"]
    values: dict[str, Any] = asdict(wanted) | {"visible": visible}
    if visible is not None:  # asked of documents, whose index lets a small collection read its own rows only
        conditions.append("j.document_id IN (SELECT document_id FROM documents WHERE collection_id = ANY(:visible))")
    if wanted.state is not None:
        conditions.append("j.state = :state")
    if wanted.state is State.QUARANTINED:
        conditions.append(_OPEN)  # has an index; the state has none
    if wanted.collection is not None:
        conditions.append("c.name = :collection")
    if wanted.partition is not None:
        conditions.append("j.partition = :partition")
    if (before := cursors.decode(cursor, (UUID,))) is not None:
        conditions.append("j.job_id < :before")
        values["before"] = before[0]
    return f"{_FIND} WHERE {' AND '.join(conditions)} ORDER BY j.job_id DESC LIMIT :limit", values


def find(connection: Connection, job_id: UUID, settings: Settings) -> dict[str, Any]:
    """One job with its attempts, the newest first. Raises NotFound."""
    rows = connection.execute(text(f"{_FIND} WHERE j.job_id = :job_id"), {"job_id": job_id}).mappings().all()
    if not rows:
        raise NotFound("job_not_found", f"There is no job {job_id}. Jobs are purged some days after their end.")
    (job,) = _explained(connection, rows, settings)
    return job | {"attempts": attempts(connection, [job_id])[job_id]}


def is_visible(connection: Connection, job_id: UUID, collections: list[int]) -> bool:
    """Whether there is such a job in one of the collections."""
    statement = text("SELECT EXISTS (SELECT FROM jobs WHERE job_id = :job_id AND collection_id = ANY(:collections))")
    return bool(connection.scalar(statement, {"job_id": job_id, "collections": collections}))


def attempts(connection: Connection, job_ids: Sequence[UUID]) -> dict[UUID, list[dict[str, Any]]]:
    """The attempts at each job, the newest first, at most 100."""
    of: dict[UUID, list[dict[str, Any]]] = {job_id: [] for job_id in job_ids}
    for row in connection.execute(_ATTEMPTS, {"jobs": list(job_ids)}).mappings():
        of[row["job_id"]].append(dict(row))
    return of


def _explained(connection: Connection, rows: Sequence[RowMapping], settings: Settings) -> list[dict[str, Any]]:
    sentences = waiting.explain(connection, [row["job_id"] for row in rows if not row["finished_at"]], settings)
    return [dict(row) | {"waiting": sentences.get(row["job_id"]), "failure": _failure(row)} for row in rows]


def _failure(row: RowMapping) -> dict[str, str] | None:
    return failure(row["code"], row["message"]) if row["code"] is not None else None
