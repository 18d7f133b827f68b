"""The routes that look at the search index, verify it, repair it and rebuild it. Sweepers and workers do the work."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from sqlalchemy import Connection, text

from fencepost.http.index_shapes import (
    Begun,
    BuildShape,
    Dropped,
    IndexesShape,
    VerificationPage,
    Verify,
)
from indexer import adopting
from indexer.search.backend import SearchBackend
from indexer.search_routes import the_backend
from pipeline import breaker, builds, events, indexes, overview, verifications
from pipeline.builds import Build, Kind, Phase
from pipeline.database import MOST_BIGINT
from pipeline.errors import Conflict, NotFound
from pipeline.indexes import PhysicalIndex
from pipeline.problems import documented
from pipeline.requests import OVERSEES, Cursor, Limit, TheEngine, TheSettings
from pipeline.verifications import Verification

router = APIRouter(tags=["index"], dependencies=[OVERSEES])

TheBackend = Annotated[SearchBackend, Depends(the_backend)]


@router.get("/v1/index", summary="The search index: which, how well, and what is done with it", responses=documented())
def show_index(engine: TheEngine, backend: TheBackend) -> IndexesShape:
    """Tells the live index and the others, the last verification, and the build with its progress."""
    with engine.connect() as connection:
        overview.bound(connection)
        return IndexesShape.model_validate(read_index(connection, backend))


@router.post(
    "/v1/index/verify", status_code=202, summary="Compare the live index with the database", responses=documented(409)
)
def verify(engine: TheEngine, backend: TheBackend, body: Verify | None = None) -> Begun:
    """With `repair`, what differs is written again from the stored results, and the index is verified once more."""
    repair = body is not None and body.repair
    with engine.begin() as connection:
        live = indexes.must_be_live(connection)
        _same_backend(live, backend)
        build = None
        if repair:
            build = builds.begin(connection, Kind.REPAIR, live.index_id, Phase.VERIFYING, walks=False)
        begun = verifications.begin(
            connection, live.index_id, build_id=build.build_id if build else None, repair=repair
        )
    return Begun(verification_id=begun.verification_id, build_id=begun.build_id)


@router.get(
    "/v1/index/verifications/{verification_id}", summary="One verification, and what differs", responses=documented(404)
)
def show_verification(
    verification_id: str, engine: TheEngine, cursor: Cursor = None, limit: Limit = 50
) -> VerificationPage:
    """By document; pages of drift can be read while it goes on."""
    number = int(verification_id) if verification_id.isascii() and verification_id.isdigit() else -1
    if not 0 <= number <= MOST_BIGINT:
        raise NotFound("verification_not_found", f"There is no verification {verification_id}.")
    with engine.connect() as connection:
        overview.bound(connection)
        found = verifications.find(connection, number)
        items, following = verifications.drifts(connection, number, cursor=cursor, limit=limit)
        index = indexes.find(connection, found.index_id)
        described = _verification(found, index, _now(connection))
    return VerificationPage.model_validate(described | {"items": [dict(item) for item in items], "next": following})


@router.post("/v1/index/rebuild", status_code=202, summary="Rebuild the index", responses=documented(409))
def rebuild(engine: TheEngine, backend: TheBackend, settings: TheSettings) -> Begun:
    """Makes a new index, fills and verifies it, and then swaps it in. One that is stuck goes on.

    Where the live index is gone from its engine, the new one is live at once, and then filled.
    """
    build = adopting.rebuild(engine, backend, settings)
    return Begun(verification_id=None, build_id=build.build_id)


@router.delete(
    "/v1/index/rebuild", status_code=202, summary="Cancel the rebuild or repair under way", responses=documented(404)
)
def cancel(engine: TheEngine) -> BuildShape:
    """The new index is dropped; the live one stays as it is."""
    with engine.begin() as connection:
        build = builds.cancel(connection)
        return BuildShape.model_validate(_build(connection, build, _now(connection)))


@router.delete("/v1/index/{name}", summary="Drop a retired index", responses=documented(404, 409))
def drop(name: str, engine: TheEngine, backend: TheBackend) -> Dropped:
    """What a rebuild replaced is kept until then."""
    with engine.begin() as connection:
        found = indexes.named(connection, name)
        if found is not None:
            _same_backend(found, backend)
        backend.drop(connection, builds.drop_index(connection, name))
    events.emit("index.dropped", index=name)
    return Dropped(name=name)


def read_index(connection: Connection, backend: SearchBackend) -> dict[str, Any]:
    """What there is to know about the index, as plain values."""
    live, now = indexes.live(connection), _now(connection)
    build = builds.under_way(connection) or builds.newest(connection)
    finished, verifying = (
        verifications.newest_of(connection, live.index_id, finished=finished) if live is not None else None
        for finished in (True, False)
    )
    every = indexes.everyone(connection)
    return {
        "backend": backend.kind,
        "live": _index(live, backend) if live is not None else None,
        "others": [_index(one, backend) for one in every if live is None or one.index_id != live.index_id],
        "verification": _verification(finished, live, now) if finished is not None and live is not None else None,
        "verifying": _verification(verifying, live, now) if verifying is not None and live is not None else None,
        "build": _build(connection, build, now) if build is not None else None,
        "paused": breaker.why_open(connection, breaker.INDEX),
    }


def summary(connection: Connection, backend: SearchBackend) -> dict[str, Any]:
    """The same in a few numbers, for the overview."""
    seen = read_index(connection, backend)
    live, verified, build = seen["live"], seen["verification"], seen["build"]
    return {
        "name": live["name"] if live else None,
        "backend": live["backend"] if live else backend.kind,
        "outdated": bool(live and live["outdated"]),
        "verified_at": verified["finished_at"] if verified else None,
        "drifted": verified["drifted"] if verified else None,
        "verifying": seen["verifying"],
        "build": build if build and build["finished_at"] is None else None,
    }


def _same_backend(index: PhysicalIndex, backend: SearchBackend) -> None:
    if index.backend != backend.kind:
        raise Conflict(
            "other_backend",
            f"{index.name} is in {index.backend}, but this server's settings say {backend.kind}."
            f" A server with FENCEPOST_SEARCH={index.backend} can do that.",
        )


def _index(index: PhysicalIndex, backend: SearchBackend) -> dict[str, Any]:
    return {
        "name": index.name,
        "backend": index.backend,
        "fingerprint": index.fingerprint,
        "state": index.state,
        "outdated": index.backend == backend.kind and index.fingerprint != backend.fingerprint,
    }


def _verification(found: Verification, index: PhysicalIndex, now: datetime) -> dict[str, Any]:
    seconds = ((found.finished_at or now) - found.started_at).total_seconds()
    return {
        "verification_id": found.verification_id,
        "index": index.name,
        "build_id": found.build_id,
        "repair": found.repair,
        "total": found.total,
        "checked": found.checked,
        "in_flight": found.in_flight,
        "drifted": found.drifted,
        "drift": dict(found.drift),
        "started_at": found.started_at,
        "finished_at": found.finished_at,
        "error": found.error,
        **_pace(found.checked, found.total, seconds, is_finished=found.finished_at is not None),
    }


def _build(connection: Connection, build: Build, now: datetime) -> dict[str, Any]:
    seconds = (now - build.phase_at).total_seconds() if build.phase is Phase.FILLING else 0.0
    return {
        "build_id": build.build_id,
        "kind": build.kind,
        "index": builds.index_of(connection, build).name,
        "phase": build.phase,
        "total": build.total,
        "done": build.done,
        "failed": build.failed,
        "error": build.error,
        "started_at": build.started_at,
        "phase_at": build.phase_at,
        "finished_at": build.finished_at,
        **_pace(build.done, build.total, seconds, is_finished=build.phase is not Phase.FILLING),
    }


def _pace(done: int, total: int, seconds: float, *, is_finished: bool) -> dict[str, float | None]:
    """How many a second, and how long the rest takes at that pace."""
    pace = done / seconds if seconds > 0 and done else None
    eta = max(total - done, 0) / pace if pace and not is_finished else None
    return {"per_second": pace, "eta_seconds": eta}


def _now(connection: Connection) -> datetime:
    now: datetime = connection.execute(text("SELECT clock_timestamp()")).scalar_one()
    return now
