"""What operators ask: how much is where, what is stuck, and whether there are enough workers.

Two parts. The snapshot counts everything, in the background and at most every few seconds. What is live is read on
every request, so each of its statements looks at a bounded number of rows, however large the backlog is.
"""

from datetime import datetime
from typing import Any, TypedDict

from sqlalchemy import Connection, RowMapping, text

from pipeline import breaker
from pipeline.database import query
from pipeline.outcomes import TextQuality
from pipeline.settings import Settings
from pipeline.states import FINAL, State

CAP = 10_000
"""Up to here rows are counted; more is told as `CAP + 1`."""

PARTITION_CAP = 1_000
"""The same for each partition."""

MOST_ROWS = 10_000
"""How many leases, processes and recent attempts are looked at."""

SHOWN = 100
MINUTES = 15
STATEMENT_TIMEOUT = "2s"
SNAPSHOT_TIMEOUT = "60s"


class Snapshot(TypedDict):
    """Where every accepted version is, and what the published texts are like.

    `difference` is accepted minus all the others, and must be 0 (P5).
    """

    as_of: datetime
    accepted: int
    queued: int
    leased: int
    retry_wait: int
    quarantined: int
    succeeded: int
    superseded: int
    resolved: int
    purged: int
    difference: int
    unfinished: int
    text_quality: dict[str, int]


def snapshot(connection: Connection) -> Snapshot:
    """Counts jobs and texts; on a fresh connection, whose transaction it makes REPEATABLE READ. Costs full scans."""
    connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
    connection.execute(text(f"SET LOCAL statement_timeout = '{SNAPSHOT_TIMEOUT}'"))
    row = connection.execute(query("count_everything")).one()
    of = {state: int(row.states.get(state, 0)) for state in State}
    return Snapshot(
        as_of=row.as_of,
        accepted=row.accepted,
        queued=of[State.QUEUED],
        leased=of[State.LEASED],
        retry_wait=of[State.RETRY_WAIT],
        quarantined=of[State.QUARANTINED],
        succeeded=of[State.SUCCEEDED],
        superseded=of[State.SUPERSEDED],
        resolved=of[State.RESOLVED],
        purged=row.purged,
        difference=row.accepted - sum(of.values()) - row.purged,
        unfinished=row.accepted - sum(of[state] for state in FINAL) - row.purged,
        text_quality={quality: int(row.flaws.get(quality, 0)) for quality in TextQuality} | {TextQuality.OK: row.ok},
    )


def bound(connection: Connection) -> None:
    """From here to the end of the transaction a statement is cancelled after 2 s: no page may burden the database."""
    connection.execute(text(f"SET LOCAL statement_timeout = '{STATEMENT_TIMEOUT}'"))


def live(connection: Connection, settings: Settings) -> dict[str, Any]:
    """What changes from second to second; every statement reads a bounded number of rows."""
    bound(connection)
    silent = {"silent_seconds": settings.lease.seconds, "most": MOST_ROWS}
    oldest = connection.execute(query("oldest_queued"), {"most": MOST_ROWS}).mappings().one_or_none()
    expired = connection.execute(query("expired_leases"), {"most": MOST_ROWS, "shown": SHOWN}).mappings()
    outbox = dict(connection.execute(query("outbox_state"), {"cap": CAP}).mappings().one())
    partitions = connection.execute(
        query("partition_states"), silent | {"cap": PARTITION_CAP, "partitions": settings.partitions}
    ).mappings()
    rates = connection.execute(query("rates"), {"minutes": MINUTES, "cap": MOST_ROWS}).mappings().one()
    errors = connection.execute(query("recent_errors"), {"minutes": MINUTES, "most": MOST_ROWS, "cap": CAP})
    kinds, breakers = _living(connection, settings), breaker.state(connection)
    return {
        "oldest_queued": dict(oldest) if oldest else None,
        "expired_leases": [dict(row) for row in expired],
        "quarantined": outbox.pop("quarantined"),
        "outbox": outbox,
        "partitions": [dict(row) for row in partitions],
        "breaker": next(iter(breakers), None),
        "breakers": breakers,
        "processes": kinds["processes"],
        "capacity": _capacity(rates, kinds["slots"]),
        "throughput": {"per_second_now": rates["done_per_second_now"], "per_second": rates["done_per_second"]},
        "errors": {"minutes": MINUTES, **errors.mappings().one()},
    }


def workers(connection: Connection, settings: Settings) -> list[dict[str, Any]]:
    """Every process that lives, or was there within the last hour, and the jobs it holds."""
    rows = connection.execute(
        query("all_processes"), {"silent_seconds": settings.lease.seconds, "most": MOST_ROWS, "shown": 1_000}
    )
    return [dict(row) for row in rows.mappings()]


def eta_seconds(counted: Snapshot, now: dict[str, Any]) -> float | None:
    """How long the present backlog takes at the pace of the last minutes; None when nothing moves or waits."""
    if now["breakers"]:
        return None
    backlog = counted["queued"] + counted["retry_wait"] + counted["leased"]
    pace = max(now["throughput"]["per_second_now"], now["throughput"]["per_second"])
    return backlog / pace if backlog and pace else None


def _capacity(rates: RowMapping, slots: int) -> dict[str, float | int | None]:
    """Little's law: as many jobs are in service as arrive per second times the seconds that one takes."""
    seconds = rates["seconds_per_job"]
    arrivals = rates["arrivals_per_second"]
    needed = None if seconds is None else arrivals * seconds
    return {
        "minutes": MINUTES,
        "arrivals_per_minute": arrivals * 60,
        "seconds_per_job": seconds,
        "needed": needed,
        "slots": slots,
        "short_by": None if needed is None else max(needed - slots, 0),
    }


def _living(connection: Connection, settings: Settings) -> dict[str, Any]:
    rows = connection.execute(
        text("""
            SELECT kind, count(*) AS n, sum(slots) AS slots
            FROM (SELECT kind, slots FROM processes
                  WHERE ended_at IS NULL AND lost_at IS NULL
                    AND heartbeat_at > clock_timestamp() - make_interval(secs => :silent_seconds)
                  LIMIT :most) p
            GROUP BY kind
        """),
        {"silent_seconds": settings.lease.seconds, "most": MOST_ROWS},
    ).all()
    count = {row.kind: row.n for row in rows}
    return {
        "processes": {kind: count.get(kind, 0) for kind in ("api", "relay", "worker", "sweeper")},
        "slots": sum(row.slots for row in rows if row.kind == "worker"),
    }
