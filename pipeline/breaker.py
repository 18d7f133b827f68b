"""A breaker, kept as a row so that everybody sees it: why something pauses, since when, and when it is tried again."""

from datetime import datetime

from sqlalchemy import Connection, text

from pipeline.loop import backoff

FIRST_SECONDS = 0.5
MOST_SECONDS = 30.0


def open_or_extend(connection: Connection, name: str, *, reason: str, failures: int) -> float:
    """Notes one more failure; returns the seconds until the next probe (doubling, with jitter)."""
    seconds = backoff(failures, first=FIRST_SECONDS, most=MOST_SECONDS)
    connection.execute(
        text("""
            INSERT INTO breakers (name, reason, probe_at)
            VALUES (:name, :reason, clock_timestamp() + make_interval(secs => :seconds))
            ON CONFLICT (name) DO UPDATE SET reason = EXCLUDED.reason, probe_at = EXCLUDED.probe_at
        """),
        {"name": name, "reason": reason, "seconds": seconds},
    )
    return seconds


def close(connection: Connection, name: str) -> bool:
    """Closes the breaker; returns whether it was open."""
    return connection.execute(text("DELETE FROM breakers WHERE name = :name"), {"name": name}).rowcount > 0


def state(connection: Connection) -> list[dict[str, str | datetime]]:
    """Every open breaker: {name, reason, opened_at, probe_at}."""
    rows = connection.execute(text("SELECT name, reason, opened_at, probe_at FROM breakers ORDER BY name"))
    return [dict(row) for row in rows.mappings()]
