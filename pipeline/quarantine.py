"""What needs a person: jobs that failed for good, and what a person may do with them.

    list ─▶ replay the same version | replay as a new version | dismiss | assign

Every move locks the documents first, as all moves of jobs do, and only then looks whether it is still allowed. The
functions on given jobs work in the caller's transaction; `each_batch` runs one of them over all that match a filter.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, RowMapping, text

from pipeline import acceptance, cursors, events
from pipeline.acceptance import Acceptance, Submission
from pipeline.database import query
from pipeline.errors import Conflict, NotFound, Refusal
from pipeline.leases import lock_documents_of
from pipeline.outcomes import HINTS
from pipeline.settings import Settings
from pipeline.states import Operation, State

BATCH = 200

Answers = dict[UUID, Acceptance | Refusal]
"""What became of each job: where it, or its document, is now, or why it was refused."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which quarantined jobs are meant; None matches all."""

    code: str | None = None
    collection: str | None = None
    owner: str | None = None


def listing(
    connection: Connection,
    chosen: Filter,
    visible: list[int] | None,
    *,
    resolved: bool = False,
    cursor: str | None = None,
    limit: int = 50,
) -> tuple[list[dict[str, Any]], str | None]:
    """One page of what needs a person, newest first, and the cursor of the next. Raises Invalid for a bad cursor.

    Only of the `visible` collections; None: all. `resolved`: of what needed a person, and needs none any more.
    """
    before = cursors.decode(cursor, (datetime, UUID)) or (None, None)
    rows = _rows(connection, chosen, visible, resolved=resolved, before=before, most=limit + 1)
    page, following = cursors.page(rows, limit, "quarantined_at", "job_id")
    return [_item(row) for row in page], following


def find(connection: Connection, job_id: UUID) -> dict[str, Any]:
    """One item, also after it was resolved. Raises NotFound."""
    rows = _rows(connection, Filter(), None, job_id=job_id, most=1)
    if not rows:
        raise NotFound("job_not_found", f"No job {job_id} is, or was, in quarantine.")
    return _item(rows[0])


def replay(connection: Connection, job_ids: Sequence[UUID], *, as_new_version: bool, settings: Settings) -> Answers:
    """Runs jobs again, as they are or as new versions; each must be the newest version of its document."""
    jobs = _locked(connection, job_ids)
    moved = _as_new_versions(connection, jobs, settings) if as_new_version else _as_same(connection, job_ids)
    for job_id, answer in moved.items():
        events.emit("job.replayed", job_id=job_id, document_id=answer.document_id, input_version=answer.input_version)
    return _answers(job_ids, jobs, moved)


def dismiss(connection: Connection, job_ids: Sequence[UUID], *, note: str) -> Answers:
    """Closes jobs that nothing more will be done about; the note says why."""
    jobs = _locked(connection, job_ids)
    moved = _resolve(connection, dict.fromkeys(job_ids, note))
    for job_id in moved:
        events.emit("job.dismissed", job_id=job_id, note=note)
    return _answers(job_ids, jobs, moved)


def assign(connection: Connection, job_ids: Sequence[UUID], *, owner: str) -> Answers:
    """Gives jobs to somebody; they stay quarantined."""
    jobs = _locked(connection, job_ids)
    rows = connection.execute(query("assign_if_quarantined"), {"jobs": list(job_ids), "owner": owner})
    moved = _accepted(rows.mappings().all(), State.QUARANTINED)
    for job_id in moved:
        events.emit("job.assigned", job_id=job_id, owner=owner)
    return _answers(job_ids, jobs, moved)


def each_batch(
    engine: Engine,
    chosen: Filter,
    visible: list[int] | None,
    move: Callable[[Connection, Sequence[UUID]], Answers],
) -> Iterator[Answers]:
    """Runs `move` over all that match in the `visible` collections, in transactions of at most 200 jobs.

    Walks from the newest to the oldest, so that what fails again meanwhile is not met twice.
    """
    before: tuple[Any, Any] = (None, None)
    while True:
        with engine.begin() as connection:
            rows = _rows(connection, chosen, visible, before=before, most=BATCH)
            if not rows:
                return
            answers = move(connection, [row["job_id"] for row in rows])
        yield answers
        before = (rows[-1]["quarantined_at"], rows[-1]["job_id"])


def _rows(
    connection: Connection,
    chosen: Filter,
    visible: list[int] | None,
    *,
    most: int,
    resolved: bool = False,
    before: tuple[Any, ...] = (None, None),
    job_id: UUID | None = None,
) -> Sequence[RowMapping]:
    values = {"before_at": before[0], "before_id": before[1], "most": most, "job_id": job_id, "visible": visible}
    return connection.execute(query("quarantined"), asdict(chosen) | values | {"resolved": resolved}).mappings().all()


def _item(row: RowMapping) -> dict[str, Any]:
    return dict(row) | {"hint": HINTS[row["code"]], "is_newest": row["input_version"] == row["newest_version"]}


def _locked(connection: Connection, job_ids: Sequence[UUID]) -> dict[UUID, RowMapping]:
    """The jobs as they are once their documents are locked."""
    lock_documents_of(connection, job_ids)
    rows = connection.execute(
        text("""
            SELECT j.job_id, j.document_id, j.input_version, j.state, j.operation, j.priority,
                   d.input_version AS newest_version
            FROM jobs j JOIN documents d USING (document_id)
            WHERE j.job_id = ANY(CAST(:jobs AS uuid[]))
        """),
        {"jobs": list(job_ids)},
    ).mappings()
    return {row["job_id"]: row for row in rows}


def _as_same(connection: Connection, job_ids: Sequence[UUID]) -> dict[UUID, Acceptance]:
    rows = connection.execute(query("replay_if_newest"), {"jobs": list(job_ids)})
    return _accepted(rows.mappings().all(), State.QUEUED)


def _as_new_versions(
    connection: Connection, jobs: dict[UUID, RowMapping], settings: Settings
) -> dict[UUID, Acceptance]:
    chosen = [
        job
        for job in jobs.values()
        if job["state"] == State.QUARANTINED and job["input_version"] == job["newest_version"]
    ]
    answers = acceptance.accept(
        connection,
        [
            Submission(
                operation=Operation(job["operation"]),
                document_id=job["document_id"],
                priority=job["priority"],
                always=True,
            )
            for job in chosen
        ],
        partitions=settings.partitions,
    )
    moved = {
        job["job_id"]: answer for job, answer in zip(chosen, answers, strict=True) if isinstance(answer, Acceptance)
    }
    _resolve(connection, {job_id: f"Replayed as version {answer.input_version}." for job_id, answer in moved.items()})
    return moved


def _resolve(connection: Connection, notes: dict[UUID, str]) -> dict[UUID, Acceptance]:
    rows = connection.execute(query("resolve_if_quarantined"), {"jobs": list(notes), "notes": list(notes.values())})
    return _accepted(rows.mappings().all(), State.RESOLVED)


def _accepted(rows: Sequence[RowMapping], state: State) -> dict[UUID, Acceptance]:
    return {
        row["job_id"]: Acceptance(row["document_id"], row["input_version"], row["job_id"], state, unchanged=False)
        for row in rows
    }


def _answers(job_ids: Sequence[UUID], before: dict[UUID, RowMapping], moved: dict[UUID, Acceptance]) -> Answers:
    return {job_id: moved.get(job_id) or _refusal(job_id, before.get(job_id)) for job_id in job_ids}


def _refusal(job_id: UUID, job: RowMapping | None) -> Refusal:
    if job is None:
        return NotFound("job_not_found", f"There is no job {job_id}.")
    if job["state"] != State.QUARANTINED:
        return Conflict("not_quarantined", f"Job {job_id} is {job['state']}, not quarantined.", state=job["state"])
    return Conflict(
        "newer_version_exists",
        f"Job {job_id} is for version {job['input_version']}, but its document has version {job['newest_version']}. "
        "Work with the newest one.",
        input_version=job["newest_version"],
    )
