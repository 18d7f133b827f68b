"""The outbox: what waits to be sent, claimed in one short transaction and confirmed in another.

Rows are chosen by what they are (due, unclaimed, within the window), never by "id greater than the last one": a
transaction that commits late would be skipped.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Connection, RowMapping, text

from pipeline import cursors
from pipeline.database import query
from pipeline.settings import Settings

MOST_ROWS = 2000
"""How many rows one claim takes, so that its transaction stays short."""

MOST_COLLECTIONS = 64
"""How many collections of a lane take turns in one claim; the next claim goes on with the ones behind them."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Jobs of one partition that travel in one message."""

    delivery_id: UUID
    partition: int
    jobs: tuple[UUID, ...]
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """What one claim found: deliveries to send, and the collection after which the next claim goes on."""

    deliveries: tuple[Delivery, ...]
    next_collection: int


def claim(
    connection: Connection, settings: Settings, *, after_collection: int = 0, most_rows: int = MOST_ROWS
) -> Claim:
    """Claims due rows, groups them into deliveries and notes the sending on their jobs."""
    relay = settings.relay
    rows = (
        connection.execute(
            query("claim_outbox"),
            {
                "partitions": settings.partitions,
                "window_jobs": relay.window_jobs,
                "after_collection": after_collection,
                "most_collections": MOST_COLLECTIONS,
                "most_rows": most_rows,
            },
        )
        .mappings()
        .all()
    )
    _drop(connection, [row["id"] for row in rows if not row["is_waiting"]])
    spent = {row["id"] for row in rows if row["tries"] >= settings.budget.publications}
    _exhaust(connection, spent)
    sendable = [row for row in rows if row["is_waiting"] and row["id"] not in spent]
    deliveries = tuple(_deliveries(sendable, settings))
    if deliveries:
        connection.execute(
            query("mark_claimed"),
            {
                "ids": [row for d in deliveries for row in d.rows],
                "jobs": [job for d in deliveries for job in d.jobs],
                "deliveries": [d.delivery_id for d in deliveries for _ in d.rows],
                "partitions": [d.partition for d in deliveries for _ in d.rows],
                "claim_seconds": relay.claim_seconds,
            },
        )
    collections = {row["collection_id"] for row in rows}
    return Claim(deliveries, max(collections) if len(collections) >= MOST_COLLECTIONS else 0)


def confirm(connection: Connection, deliveries: Sequence[Delivery]) -> int:
    """Deletes the rows of deliveries that the broker has taken; returns how many there were. Touches no job."""
    return connection.execute(query("confirm_outbox"), _names(deliveries)).rowcount


def give_back(connection: Connection, deliveries: Sequence[Delivery], settings: Settings, *, error: str) -> None:
    """Unclaims rows because the broker is away or full: nobody's budget is spent."""
    _unclaim(connection, deliveries, settings, error=error, refused=False)


def refuse(connection: Connection, delivery: Delivery, settings: Settings, *, error: str) -> None:
    """Unclaims rows that the broker refuses: each spends one publication, the last one makes it wait for a person."""
    _unclaim(connection, [delivery], settings, error=error, refused=True)


def send_again(connection: Connection, jobs: Sequence[UUID], *, seen_at: datetime) -> int:
    """Puts jobs back whose delivery was lost by `seen_at`, if they still wait; returns how many."""
    values = {"jobs": list(jobs), "seen_at": seen_at, "is_lost": True}
    return connection.execute(query("send_again"), values).rowcount


def take_back(connection: Connection, jobs: Sequence[UUID]) -> int:
    """Puts offered jobs back that nobody may lease now, as if they had not been sent; returns how many."""
    return connection.execute(query("send_again"), {"jobs": list(jobs), "seen_at": None, "is_lost": False}).rowcount


def release(connection: Connection, visible: list[int] | None, ids: Sequence[int] | None = None) -> int:
    """Lets exhausted rows travel again, all of them or the given ones; returns how many. Jobs are not touched.

    Only of the `visible` collections; None: all.
    """
    return connection.execute(
        text("""
            UPDATE outbox SET exhausted = false, tries = 0, due_at = now(), claim = NULL, claimed_until = NULL
            WHERE exhausted AND (CAST(:ids AS bigint[]) IS NULL OR id = ANY(CAST(:ids AS bigint[])))
              AND (CAST(:visible AS integer[]) IS NULL OR collection_id = ANY(CAST(:visible AS integer[])))
        """),
        {"ids": list(ids) if ids is not None else None, "visible": visible},
    ).rowcount


def listing(
    connection: Connection,
    visible: list[int] | None,
    *,
    exhausted: bool | None = None,
    collection: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> tuple[list[dict[str, Any]], str | None]:
    """One page of rows, oldest first, and the cursor of the next. Raises Invalid for a bad cursor.

    Only of the `visible` collections; None: all.
    """
    condition = {None: "true", True: "o.exhausted", False: "NOT o.exhausted"}[exhausted]
    (after,) = cursors.decode(cursor, (int,)) or (0,)
    rows = (
        connection.execute(
            text(f"""
                SELECT o.id, o.job_id, j.document_id, o.partition, o.priority, o.tries, o.last_error, o.due_at,
                       o.created_at, o.exhausted, coalesce(o.claimed_until > clock_timestamp(), false) AS is_claimed,
                       c.name AS collection
                FROM outbox o JOIN jobs j ON j.job_id = o.job_id
                JOIN collections c ON c.collection_id = o.collection_id
                WHERE o.id > :after AND {condition}
                  AND (CAST(:visible AS integer[]) IS NULL OR o.collection_id = ANY(CAST(:visible AS integer[])))
                  AND (CAST(:collection AS text) IS NULL OR c.name = CAST(:collection AS text))
                ORDER BY o.id LIMIT :limit
            """),
            {"after": after, "limit": limit + 1, "visible": visible, "collection": collection},
        )
        .mappings()
        .all()
    )
    page, following = cursors.page(rows, limit, "id")
    return [dict(row) for row in page], following


def exists(connection: Connection, row_id: int, visible: list[int] | None) -> bool:
    """Whether the row is still there, in one of the `visible` collections; None: all."""
    statement = text("""
        SELECT EXISTS (SELECT FROM outbox WHERE id = :id
                       AND (CAST(:visible AS integer[]) IS NULL OR collection_id = ANY(CAST(:visible AS integer[]))))
    """)
    return bool(connection.scalar(statement, {"id": row_id, "visible": visible}))


def _deliveries(rows: Sequence[RowMapping], settings: Settings) -> Iterable[Delivery]:
    """Cuts each lane's rows into deliveries; a suspect job travels alone.

    A job of a partition that is no longer there moves to one that is.
    """

    def lane_of(row: RowMapping) -> tuple[int, int]:
        return row["priority"], row["partition"] % settings.partitions

    for (_, partition), lane in groupby(sorted(rows, key=lane_of), key=lane_of):  # stable: keeps the order in a lane
        batch: list[RowMapping] = []
        for row in lane:
            if row["alone"]:
                yield _delivery(partition, [row])
                continue
            if batch and _is_full(batch, row, settings):
                yield _delivery(partition, batch)
                batch = []
            batch.append(row)
        if batch:
            yield _delivery(partition, batch)


def _is_full(batch: list[RowMapping], row: RowMapping, settings: Settings) -> bool:
    size = sum(member["bytes"] for member in batch) + row["bytes"]
    return len(batch) >= settings.relay.batch_jobs or size > settings.relay.batch_bytes


def _delivery(partition: int, rows: Sequence[RowMapping]) -> Delivery:
    return Delivery(uuid4(), partition, tuple(row["job_id"] for row in rows), tuple(row["id"] for row in rows))


def _drop(connection: Connection, ids: Sequence[int]) -> None:
    if ids:
        connection.execute(text("DELETE FROM outbox WHERE id = ANY(:ids)"), {"ids": list(ids)})


def _exhaust(connection: Connection, ids: Iterable[int]) -> None:
    if ids:
        connection.execute(
            text("UPDATE outbox SET exhausted = true, claim = NULL, claimed_until = NULL WHERE id = ANY(:ids)"),
            {"ids": list(ids)},
        )


def _unclaim(
    connection: Connection, deliveries: Sequence[Delivery], settings: Settings, *, error: str, refused: bool
) -> None:
    budget = settings.budget
    connection.execute(
        query("unclaim_outbox"),
        _names(deliveries)
        | {
            "error": error,
            "refused": refused,
            "publications": budget.publications,
            "backoff_first": budget.backoff_first_seconds,
            "backoff_most": budget.backoff_most_seconds,
            "backoff_jitter": budget.backoff_jitter,
        },
    )


def _names(deliveries: Sequence[Delivery]) -> dict[str, list[UUID] | list[int]]:
    return {"deliveries": [d.delivery_id for d in deliveries], "ids": [row for d in deliveries for row in d.rows]}
