"""Whether this process lives, and whether it can do its work."""

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from pipeline import breaker, schema

router = APIRouter(tags=["health"])


@router.get("/health/live", summary="Does the process answer?")
async def live() -> dict[str, str]:
    """Answers as long as the process can."""
    return {"status": "live"}


@router.get("/health/ready", summary="Can it accept documents?", responses={503: {"description": "Not now."}})
def ready(request: Request) -> JSONResponse:
    """200 when the database answers and has this release's schema; else 503 with the reasons.

    An index or a broker in trouble makes it no less ready: what is accepted meanwhile waits in the database. It is said
    in `paused`.
    """
    engine = request.app.state.engine
    try:
        revision = schema.current(engine)
        if revision != schema.newest():
            return _not_ready(f"The schema is at {revision}, not {schema.newest()}; run `fencepost migrate`.")
        with engine.connect() as connection:
            paused = [{"name": open_["name"], "reason": open_["reason"]} for open_ in breaker.state(connection)]
    except (DBAPIError, PoolTimeout):
        return _not_ready("PostgreSQL does not answer.")
    return JSONResponse({"status": "ready", "paused": paused} if paused else {"status": "ready"})


def _not_ready(reason: str) -> JSONResponse:
    return JSONResponse({"status": "not ready", "reasons": [reason]}, 503)
