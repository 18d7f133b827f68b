"""Whether this process lives, and whether it can do its work."""

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from pipeline import schema

router = APIRouter(tags=["health"])


@router.get("/health/live", summary="Does the process answer?")
async def live() -> dict[str, str]:
    """Answers as long as the process can."""
    return {"status": "live"}


@router.get("/health/ready", summary="Can it accept documents?", responses={503: {"description": "Not now."}})
def ready(request: Request) -> JSONResponse:
    """200 when the database answers and has this release's schema; else 503 with the reasons."""
    reasons = []
    try:
        revision = schema.current(request.app.state.engine)
    except (DBAPIError, PoolTimeout):
        reasons.append("PostgreSQL does not answer.")
    else:
        if revision != schema.newest():
            reasons.append(f"The schema is at {revision}, not {schema.newest()}; run `fencepost migrate`.")
    if reasons:
        return JSONResponse({"status": "not ready", "reasons": reasons}, 503)
    return JSONResponse({"status": "ready"})
