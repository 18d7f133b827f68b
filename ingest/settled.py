"""Waits, without holding a thread or a connection, until a version is final or needs a person."""

import anyio
from sqlalchemy import Engine, text
from starlette.concurrency import run_in_threadpool

from ingest.shapes import Accepted, Failure
from pipeline.acceptance import Acceptance
from pipeline.states import SETTLED, State

FIRST_PAUSE = 0.02
MOST_PAUSE = 0.25


async def settled(engine: Engine, accepted: Acceptance, seconds: float) -> Accepted:
    """The acceptance with the state that its job has reached, after at most `seconds`."""
    shape = Accepted.of(accepted)
    pause = FIRST_PAUSE
    with anyio.move_on_after(seconds):
        while accepted.job_id is not None and shape.state not in SETTLED:
            await anyio.sleep(pause)
            pause = min(pause * 1.3, MOST_PAUSE)
            shape = await run_in_threadpool(_look, engine, accepted)
    return shape


def _look(engine: Engine, accepted: Acceptance) -> Accepted:
    with engine.connect() as connection:
        row = connection.execute(
            text("""
                SELECT j.state, q.code, q.message
                FROM jobs j LEFT JOIN quarantine q ON q.job_id = j.job_id AND j.state = 'quarantined'
                WHERE j.job_id = :job_id
            """),
            {"job_id": accepted.job_id},
        ).one_or_none()
    if row is None:  # purged meanwhile, which only final jobs are
        return Accepted.of(accepted, state=State.SUPERSEDED)
    return Accepted.of(accepted, state=row.state, failure=Failure.of(row.code, row.message))
