"""A breaker, kept as a row so that everybody sees it: why something pauses, since when, and when it is tried again.

While BROKER is open nothing can be sent; while INDEX is open nothing is sent or leased, and what is under way goes back
unspent. Failures are counted in the row, because any number of processes share it.
"""

from datetime import datetime
from typing import TypedDict

from sqlalchemy import Connection, Engine, text

from pipeline import events
from pipeline.database import query

BROKER = "broker"
INDEX = "index"

FIRST_SECONDS = 0.5
MOST_SECONDS = 30.0
JITTER = 0.25
"""The pause doubles from the first to the most; up to this part of it is left out at random."""

_PAUSES = {"first": FIRST_SECONDS, "most": MOST_SECONDS, "jitter": JITTER}


class Breaker(TypedDict):
    """An open breaker."""

    name: str
    reason: str
    failures: int
    opened_at: datetime
    probe_at: datetime
    age_seconds: float


def trip(connection: Connection, name: str, *, reason: str) -> bool:
    """Notes a failure; returns whether this one opened the breaker. May be repeated."""
    changed = connection.execute(query("trip_breaker"), {"name": name, "reason": reason} | _PAUSES)
    return bool(changed.scalar_one_or_none())


def pause_publishing(engine: Engine, reason: str) -> None:
    """Notes a failure of the index in a transaction of its own, and says so if it is the first."""
    with engine.begin() as connection:
        has_opened = trip(connection, INDEX, reason=reason)
    if has_opened:
        events.emit("index.unavailable", reason=reason)


def pause(connection: Connection, name: str) -> float:
    """Seconds until the next probe; 0 when it is due or the breaker is closed."""
    statement = text("SELECT extract(epoch FROM probe_at - clock_timestamp())::float8 FROM breakers WHERE name = :name")
    return max(0.0, connection.execute(statement, {"name": name}).scalar_one_or_none() or 0.0)


def claim_probe(connection: Connection, name: str, *, lapse_seconds: float) -> int | None:
    """Claims the probe if one is due; returns the failures so far, which `put_off` wants to know."""
    claimed = connection.execute(query("claim_probe"), {"name": name, "lapse_seconds": lapse_seconds})
    return claimed.scalar_one_or_none()


def put_off(connection: Connection, name: str, *, reason: str, failures: int) -> None:
    """Notes that the claimed probe failed."""
    connection.execute(query("put_off_probe"), {"name": name, "reason": reason, "failures": failures} | _PAUSES)


def close(connection: Connection, name: str) -> float | None:
    """Closes the breaker; returns for how many seconds it was open, None when it was not."""
    statement = text("""
        DELETE FROM breakers WHERE name = :name RETURNING extract(epoch FROM clock_timestamp() - opened_at)::float8
    """)
    return connection.execute(statement, {"name": name}).scalar_one_or_none()


def why_open(connection: Connection, name: str) -> str | None:
    """The reason of an open breaker, None when it is closed."""
    return connection.execute(
        text("SELECT reason FROM breakers WHERE name = :name"), {"name": name}
    ).scalar_one_or_none()


def state(connection: Connection) -> list[Breaker]:
    """Every open breaker."""
    rows = connection.execute(
        text("""
            SELECT name, reason, failures, opened_at, probe_at,
                   extract(epoch FROM clock_timestamp() - opened_at)::float8 AS age_seconds
            FROM breakers ORDER BY name
        """)
    )
    return [Breaker(**row) for row in rows.mappings()]  # type: ignore[typeddict-item] # the columns are its names
