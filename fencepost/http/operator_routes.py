"""The routes of operators: overview, workers, jobs and outbox; the quarantine has a file of its own."""

import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query
from sqlalchemy import Engine
from starlette.requests import Request

from fencepost.http.index_routes import TheBackend, summary
from fencepost.http.operator_shapes import (
    JobDetail,
    JobPage,
    OutboxPage,
    OverviewShape,
    ProcessPage,
    Released,
)
from indexer.search.backend import SearchBackend
from pipeline import alarms, events, jobs, outbox, overview
from pipeline.agreement import disagreements
from pipeline.caller import Caller
from pipeline.errors import Conflict, NotFound
from pipeline.overview_cache import OverviewCache
from pipeline.problems import documented
from pipeline.requests import ADMINISTERS, OVERSEES, READS, Cursor, Limit, TheCaller, TheEngine, TheSettings
from pipeline.sanitise import clean_name
from pipeline.settings import Settings
from pipeline.states import State

reading = APIRouter(tags=["operators"], dependencies=[READS])
administering = APIRouter(tags=["operators"], dependencies=[ADMINISTERS])
overseeing = APIRouter(tags=["operators"], dependencies=[OVERSEES])
ROUTERS = (overseeing, administering, reading)

Partition = Annotated[int | None, Query(ge=0, lt=1024, description="Only jobs of this partition.")]


def _job_id(job_id: Annotated[str, Path(description="The job's id.")], caller: TheCaller, engine: TheEngine) -> UUID:
    """The id, if it is one and the caller may see that job; otherwise nobody is told whether it exists."""
    try:
        wanted = UUID(job_id)
    except ValueError:
        raise _no_job(job_id) from None
    if caller.visible is not None:
        with engine.connect() as connection:
            if not jobs.is_visible(connection, wanted, caller.visible):
                raise _no_job(wanted)
    return wanted


def _no_job(job_id: object) -> NotFound:
    return NotFound("job_not_found", f"There is no job {job_id}.")


JobId = Annotated[UUID, Depends(_job_id)]


@overseeing.get("/v1/overview", summary="Where everything is and what is wrong", responses=documented())
def show_overview(request: Request, engine: TheEngine, settings: TheSettings, backend: TheBackend) -> OverviewShape:
    """Counts are of `as_of`, at most some seconds ago; the rest is of this moment."""
    return OverviewShape.model_validate(read_overview(request.app.state.overview, engine, settings, backend))


def read_overview(cache: OverviewCache, engine: Engine, settings: Settings, backend: SearchBackend) -> dict[str, Any]:
    """What the overview shows, as plain values."""
    counted = cache.get()
    with engine.connect() as connection:
        live = overview.live(connection, settings)
        live |= {"index": summary(connection, backend), "disagreements": disagreements(connection, settings)}
    found = alarms.alarms(counted, live)
    eta = overview.eta_seconds(counted, live)
    return live | dict(counted) | {"eta_seconds": eta, "alarms": [asdict(alarm) for alarm in found]}


@overseeing.get("/v1/workers", summary="Every process of the system", responses=documented())
def list_workers(engine: TheEngine, settings: TheSettings) -> ProcessPage:
    """Tells who lives, what they read, and what they hold."""
    with engine.connect() as connection:
        items, warnings = overview.workers(connection, settings), disagreements(connection, settings)
    return ProcessPage.model_validate({"items": items, "warnings": warnings})


@reading.get("/v1/jobs", summary="List jobs, the newest first", responses=documented())
def list_jobs(
    engine: TheEngine,
    settings: TheSettings,
    caller: TheCaller,
    state: State | None = None,
    collection: str | None = None,
    partition: Partition = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> JobPage:
    """Filters by state, collection and partition; says why each unfinished one waits."""
    wanted = jobs.Filter(state, clean_name(collection), partition)
    with engine.connect() as connection:
        overview.bound(connection)
        items, following = jobs.listing(
            connection, wanted, caller.visible, cursor=cursor, limit=limit, settings=settings
        )
    return JobPage.model_validate({"items": items, "next": following})


@reading.get("/v1/jobs/{job_id}", summary="Show a job and its attempts", responses=documented(404))
def show_job(job_id: JobId, engine: TheEngine, settings: TheSettings) -> JobDetail:
    """Tells its state, why it waits or failed, and each attempt."""
    with engine.connect() as connection:
        return JobDetail.model_validate(jobs.find(connection, job_id, settings))


@administering.get("/v1/outbox", summary="What waits to be sent, the oldest first", responses=documented())
def list_outbox(
    engine: TheEngine,
    caller: TheCaller,
    exhausted: Annotated[bool | None, Query(description="Only those that the broker refused too often.")] = None,
    collection: str | None = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> OutboxPage:
    """Exhausted ones wait for a person to release them."""
    with engine.connect() as connection:
        overview.bound(connection)
        items, following = outbox.listing(
            connection,
            caller.visible,
            exhausted=exhausted,
            collection=clean_name(collection),
            cursor=cursor,
            limit=limit,
        )
    return OutboxPage.model_validate({"items": items, "next": following})


@administering.post("/v1/outbox/release", summary="Release all exhausted messages", responses=documented())
def release_all(engine: TheEngine, caller: TheCaller) -> Released:
    """Lets them travel again. The attempts of their jobs are untouched."""
    return _release(engine, caller)


def _row_id(row_id: Annotated[str, Path(description="The row's id.")]) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", row_id):
        raise _no_row(row_id)
    return int(row_id)


@administering.post(
    "/v1/outbox/{row_id}/release", summary="Release one exhausted message", responses=documented(404, 409)
)
def release(row_id: Annotated[int, Depends(_row_id)], engine: TheEngine, caller: TheCaller) -> Released:
    """Lets it travel again. The attempts of its job are untouched."""
    released = _release(engine, caller, [row_id])
    if not released.released:
        with engine.connect() as connection:
            if not outbox.exists(connection, row_id, caller.visible):
                raise _no_row(row_id)
        raise Conflict("not_exhausted", f"Outbox row {row_id} is not held back: it is sent by itself.")
    return released


def _no_row(row_id: object) -> NotFound:
    return NotFound("outbox_row_not_found", f"There is no outbox row {row_id}; it may have been sent.")


def _release(engine: Engine, caller: Caller, ids: Sequence[int] | None = None) -> Released:
    with engine.begin() as connection:
        released = outbox.release(connection, caller.visible, ids)
    events.emit("outbox.released", rows=released)
    return Released(released=released)
