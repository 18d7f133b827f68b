"""The routes of the quarantine: what needs a person, and what a person decides."""

from collections.abc import Callable, Sequence
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from sqlalchemy import Connection, Engine

from fencepost.http.operator_routes import JobId
from fencepost.http.operator_shapes import (
    Assign,
    AssignMany,
    Dismiss,
    DismissMany,
    Moved,
    MovedMany,
    QuarantineItem,
    QuarantinePage,
    RefusedMove,
    Replay,
    ReplayMany,
)
from pipeline import overview, quarantine
from pipeline.caller import Caller
from pipeline.errors import Refusal
from pipeline.problems import documented
from pipeline.quarantine import Answers, Filter
from pipeline.requests import ADMINISTERS, Cursor, Limit, TheCaller, TheEngine, TheSettings
from pipeline.sanitise import clean_name
from pipeline.settings import Settings

router = APIRouter(tags=["operators"], dependencies=[ADMINISTERS])


@router.get("/v1/quarantine", summary="What needs a person, the newest first", responses=documented())
def list_quarantine(
    engine: TheEngine,
    caller: TheCaller,
    code: str | None = None,
    collection: str | None = None,
    owner: str | None = None,
    state: Annotated[
        Literal["quarantined", "resolved"], Query(description="resolved: those that were, with their notes.")
    ] = "quarantined",
    cursor: Cursor = None,
    limit: Limit = 50,
) -> QuarantinePage:
    """Filters by code, collection and owner."""
    chosen = Filter(code=clean_name(code), collection=clean_name(collection), owner=clean_name(owner))
    with engine.connect() as connection:
        overview.bound(connection)
        items, following = quarantine.listing(
            connection, chosen, caller.visible, resolved=state == "resolved", cursor=cursor, limit=limit
        )
    return QuarantinePage.model_validate({"items": items, "next": following})


@router.get("/v1/quarantine/{job_id}", summary="Show one quarantined job", responses=documented(404))
def show_quarantined(job_id: JobId, engine: TheEngine) -> QuarantineItem:
    """Also after it was resolved, with its note."""
    with engine.connect() as connection:
        return QuarantineItem.model_validate(quarantine.find(connection, job_id))


@router.post("/v1/quarantine/replay", summary="Replay all that match", responses=documented())
def replay_many(body: ReplayMany, engine: TheEngine, settings: TheSettings, caller: TheCaller) -> MovedMany:
    """Works in small transactions; an empty filter matches all."""
    return _many(engine, body.filter(), caller, _replaying(body, settings))


@router.post("/v1/quarantine/dismiss", summary="Dismiss all that match", responses=documented())
def dismiss_many(body: DismissMany, engine: TheEngine, caller: TheCaller) -> MovedMany:
    """Closes them with one note."""
    return _many(engine, body.filter(), caller, lambda held, ids: quarantine.dismiss(held, ids, note=body.note))


@router.post("/v1/quarantine/assign", summary="Assign all that match", responses=documented())
def assign_many(body: AssignMany, engine: TheEngine, caller: TheCaller) -> MovedMany:
    """Gives them one owner."""
    return _many(engine, body.filter(), caller, lambda held, ids: quarantine.assign(held, ids, owner=body.owner))


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


def _replaying(body: Replay, settings: Settings) -> Callable[[Connection, Sequence[UUID]], Answers]:
    as_new_version = body.how == "new_version"
    return lambda connection, ids: quarantine.replay(connection, ids, as_new_version=as_new_version, settings=settings)


def _one(engine: Engine, job_id: UUID, move: Callable[[Connection, Sequence[UUID]], Answers]) -> Moved:
    with engine.begin() as connection:
        answer = move(connection, [job_id])[job_id]
    if isinstance(answer, Refusal):
        raise answer
    return Moved.model_validate(answer, from_attributes=True)


def _many(
    engine: Engine, chosen: Filter, caller: Caller, move: Callable[[Connection, Sequence[UUID]], Answers]
) -> MovedMany:
    moved, refused = [], []
    for answers in quarantine.each_batch(engine, chosen, caller.visible, move):
        for job_id, answer in answers.items():
            if isinstance(answer, Refusal):
                refused.append(RefusedMove(job_id=job_id, status=answer.status, code=answer.code, detail=answer.detail))
            else:
                moved.append(Moved.model_validate(answer, from_attributes=True))
    return MovedMany(moved=moved, refused=refused)
