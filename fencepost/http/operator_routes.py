"""The routes of operators: overview, workers, jobs, quarantine and outbox."""

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query
from sqlalchemy import Connection, Engine
from starlette.requests import Request

from fencepost.http.index_routes import TheBackend, summary
from fencepost.http.operator_shapes import (
    Assign,
    AssignMany,
    Dismiss,
    DismissMany,
    JobDetail,
    JobPage,
    Moved,
    MovedMany,
    OutboxPage,
    OverviewShape,
    ProcessPage,
    QuarantineItem,
    QuarantinePage,
    RefusedMove,
    Released,
    Replay,
    ReplayMany,
)
from indexer.search.backend import SearchBackend
from pipeline import alarms, events, jobs, outbox, overview, quarantine
from pipeline.errors import Conflict, NotFound, Refusal
from pipeline.overview_cache import OverviewCache
from pipeline.problems import documented
from pipeline.quarantine import Answers, Filter
from pipeline.requests import Cursor, Limit, TheEngine, TheSettings
from pipeline.sanitise import clean_name
from pipeline.settings import Settings
from pipeline.states import State

router = APIRouter(tags=["operators"])

Partition = Annotated[int | None, Query(ge=0, lt=1024, description="Only jobs of this partition.")]


def _job_id(job_id: Annotated[str, Path(description="The job's id.")]) -> UUID:
    try:
        return UUID(job_id)
    except ValueError:
        raise NotFound("job_not_found", f"There is no job {job_id}.") from None


JobId = Annotated[UUID, Depends(_job_id)]


@router.get("/v1/overview", summary="Where everything is and what is wrong", responses=documented())
def show_overview(request: Request, engine: TheEngine, settings: TheSettings, backend: TheBackend) -> OverviewShape:
    """Counts are of `as_of`, at most some seconds ago; the rest is of this moment."""
    return OverviewShape.model_validate(read_overview(request.app.state.overview, engine, settings, backend))


def read_overview(cache: OverviewCache, engine: Engine, settings: Settings, backend: SearchBackend) -> dict[str, Any]:
    """What the overview shows, as plain values."""
    counted = cache.get()
    with engine.connect() as connection:
        live = overview.live(connection, settings) | {"index": summary(connection, backend)}
    found = alarms.alarms(counted, live)
    eta = overview.eta_seconds(counted, live)
    return live | dict(counted) | {"eta_seconds": eta, "alarms": [asdict(alarm) for alarm in found]}


@router.get("/v1/workers", summary="Every process of the system", responses=documented())
def list_workers(engine: TheEngine, settings: TheSettings) -> ProcessPage:
    """Tells who lives, what they read, and what they hold."""
    with engine.connect() as connection:
        return ProcessPage.model_validate({"items": overview.workers(connection, settings)})


@router.get("/v1/jobs", summary="List jobs, the newest first", responses=documented())
def list_jobs(
    engine: TheEngine,
    settings: TheSettings,
    state: State | None = None,
    collection: str | None = None,
    partition: Partition = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> JobPage:
    """Filters by state, collection and partition; says why each unfinished one waits."""
    with engine.connect() as connection:
        overview.bound(connection)
        items, following = jobs.listing(
            connection,
            settings,
            state=state,
            collection=clean_name(collection),
            partition=partition,
            cursor=cursor,
            limit=limit,
        )
    return JobPage.model_validate({"items": items, "next": following})


@router.get("/v1/jobs/{job_id}", summary="Show a job and its attempts", responses=documented(404))
def show_job(job_id: JobId, engine: TheEngine, settings: TheSettings) -> JobDetail:
    """Tells its state, why it waits or failed, and each attempt."""
    with engine.connect() as connection:
        return JobDetail.model_validate(jobs.find(connection, job_id, settings))


@router.get("/v1/quarantine", summary="What needs a person, the newest first", responses=documented())
def list_quarantine(
    engine: TheEngine,
    code: str | None = None,
    collection: str | None = None,
    owner: str | None = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> QuarantinePage:
    """Filters by code, collection and owner."""
    chosen = Filter(code=clean_name(code), collection=clean_name(collection), owner=clean_name(owner))
    with engine.connect() as connection:
        overview.bound(connection)
        items, following = quarantine.listing(connection, chosen, cursor=cursor, limit=limit)
    return QuarantinePage.model_validate({"items": items, "next": following})


@router.get("/v1/quarantine/{job_id}", summary="Show one quarantined job", responses=documented(404))
def show_quarantined(job_id: JobId, engine: TheEngine) -> QuarantineItem:
    """Also after it was resolved, with its note."""
    with engine.connect() as connection:
        return QuarantineItem.model_validate(quarantine.find(connection, job_id))


@router.post("/v1/quarantine/replay", summary="Replay all that match", responses=documented())
def replay_many(body: ReplayMany, engine: TheEngine, settings: TheSettings) -> MovedMany:
    """Works in small transactions; an empty filter matches all."""
    return _many(engine, body.filter(), _replaying(body, settings))


@router.post("/v1/quarantine/dismiss", summary="Dismiss all that match", responses=documented())
def dismiss_many(body: DismissMany, engine: TheEngine) -> MovedMany:
    """Closes them with one note."""
    return _many(engine, body.filter(), lambda connection, ids: quarantine.dismiss(connection, ids, note=body.note))


@router.post("/v1/quarantine/assign", summary="Assign all that match", responses=documented())
def assign_many(body: AssignMany, engine: TheEngine) -> MovedMany:
    """Gives them one owner."""
    return _many(engine, body.filter(), lambda connection, ids: quarantine.assign(connection, ids, owner=body.owner))


@router.post(
    "/v1/quarantine/{job_id}/replay", status_code=202, summary="Run a job again", responses=documented(404, 409)
)
def replay(job_id: JobId, engine: TheEngine, settings: TheSettings, body: Replay | None = None) -> Moved:
    """As the same version, or as a new one. Only the newest version of a document can be replayed."""
    return _one(engine, job_id, _replaying(body or Replay(), settings))


@router.post("/v1/quarantine/{job_id}/dismiss", summary="Close a job for good", responses=documented(404, 409))
def dismiss(job_id: JobId, body: Dismiss, engine: TheEngine) -> Moved:
    """The note says why."""
    return _one(engine, job_id, lambda connection, ids: quarantine.dismiss(connection, ids, note=body.note))


@router.post("/v1/quarantine/{job_id}/assign", summary="Give a job an owner", responses=documented(404, 409))
def assign(job_id: JobId, body: Assign, engine: TheEngine) -> Moved:
    """It stays quarantined."""
    return _one(engine, job_id, lambda connection, ids: quarantine.assign(connection, ids, owner=body.owner))


@router.get("/v1/outbox", summary="What waits to be sent, the oldest first", responses=documented())
def list_outbox(
    engine: TheEngine,
    exhausted: Annotated[bool | None, Query(description="Only those that the broker refused too often.")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> OutboxPage:
    """Exhausted ones wait for a person to release them."""
    with engine.connect() as connection:
        overview.bound(connection)
        items, following = outbox.listing(connection, exhausted=exhausted, cursor=cursor, limit=limit)
    return OutboxPage.model_validate({"items": items, "next": following})


@router.post("/v1/outbox/release", summary="Release all exhausted messages", responses=documented())
def release_all(engine: TheEngine) -> Released:
    """Lets them travel again. The attempts of their jobs are untouched."""
    return _release(engine, None)


def _row_id(row_id: Annotated[str, Path(description="The row's id.")]) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", row_id):
        raise _no_row(row_id)
    return int(row_id)


@router.post("/v1/outbox/{row_id}/release", summary="Release one exhausted message", responses=documented(404, 409))
def release(row_id: Annotated[int, Depends(_row_id)], engine: TheEngine) -> Released:
    """Lets it travel again. The attempts of its job are untouched."""
    released = _release(engine, [row_id])
    if not released.released:
        with engine.connect() as connection:
            if not outbox.exists(connection, row_id):
                raise _no_row(row_id)
        raise Conflict("not_exhausted", f"Outbox row {row_id} is not held back: it is sent by itself.")
    return released


def _no_row(row_id: object) -> NotFound:
    return NotFound("outbox_row_not_found", f"There is no outbox row {row_id}; it may have been sent.")


def _release(engine: Engine, ids: Sequence[int] | None) -> Released:
    with engine.begin() as connection:
        released = outbox.release(connection, ids)
    events.emit("outbox.released", rows=released)
    return Released(released=released)


def _replaying(body: Replay, settings: Settings) -> Callable[[Connection, Sequence[UUID]], Answers]:
    as_new_version = body.how == "new_version"
    return lambda connection, ids: quarantine.replay(connection, ids, as_new_version=as_new_version, settings=settings)


def _one(engine: Engine, job_id: UUID, move: Callable[[Connection, Sequence[UUID]], Answers]) -> Moved:
    with engine.begin() as connection:
        answer = move(connection, [job_id])[job_id]
    if isinstance(answer, Refusal):
        raise answer
    return Moved.model_validate(answer, from_attributes=True)


def _many(engine: Engine, chosen: Filter, move: Callable[[Connection, Sequence[UUID]], Answers]) -> MovedMany:
    moved, refused = [], []
    for answers in quarantine.each_batch(engine, chosen, move):
        for job_id, answer in answers.items():
            if isinstance(answer, Refusal):
                refused.append(RefusedMove(job_id=job_id, status=answer.status, code=answer.code, detail=answer.detail))
            else:
                moved.append(Moved.model_validate(answer, from_attributes=True))
    return MovedMany(moved=moved, refused=refused)
