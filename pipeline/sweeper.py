"""The sweeper: finds what stopped moving and sets it going again. Stateless and convergent.

Each step repeats its condition in the statement that acts, so that whatever happened in between wins. Any number of
sweepers may run side by side.
"""

import time
from collections.abc import Sequence
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import Connection, Engine, Row, text

from pipeline import events, faults
from pipeline.broker import Postman
from pipeline.database import query
from pipeline.errors import BrokerUnavailable
from pipeline.faults import Fault
from pipeline.leases import Ending, finish_if_held
from pipeline.outcomes import LeaseLost, Published
from pipeline.processes import LOCK_CLASS
from pipeline.settings import Settings

BATCH = 500
PURGE_EVERY_SECONDS = 60.0

CAUSES = {
    "worker_lost": "The worker died while it held this job.",
    "deadline": "The attempt did not end within {seconds:g} s.",
    "lease_expired": "The worker went silent while it held this job.",
}


class Index(Protocol):
    """What the sweeper needs of a search backend."""

    def version_of(self, connection: Connection, document_ids: Sequence[UUID]) -> dict[UUID, int]:
        """The version that the index has of each document that it knows, read in real time."""

    def purge_tombstone(self, connection: Connection, document_id: UUID, version: int) -> bool:
        """Removes a tombstone if it still has this version."""

    def maintain(self, connection: Connection) -> None:
        """Refreshes what ranking needs, if it is stale."""


class Sweeper:
    """All steps, in the order in which they help each other."""

    def __init__(self, engine: Engine, postman: Postman, index: Index, settings: Settings) -> None:
        self._engine = engine
        self._postman = postman
        self._index = index
        self._settings = settings
        self._purge_at = 0.0

    def run_once(self) -> float:
        """One pass; returns the seconds until the next."""
        self.mark_lost()
        self.reclaim()
        self.send_again()
        if time.monotonic() >= self._purge_at:
            self._purge_at = time.monotonic() + PURGE_EVERY_SECONDS
            self.purge()
        return self._settings.sweep.every_seconds

    def mark_lost(self) -> list[int]:
        """Notes processes that died without a word; returns their numbers."""
        with self._engine.begin() as connection:
            lost = connection.execute(
                query("mark_lost"), {"lease_seconds": self._settings.lease.seconds, "lock_class": LOCK_CLASS}
            ).all()
        for row in lost:
            events.emit("process.lost", process_id=row.process_id, kind=row.kind, host=row.host, pid=row.pid)
        if lost:
            faults.reach(Fault.SWEEP_AFTER_DEAD)
        return [row.process_id for row in lost]

    def reclaim(self) -> list[UUID]:
        """Ends attempts whose holder went silent or died; returns the jobs."""
        with self._engine.begin() as connection:
            documents = (
                connection.execute(
                    text("""
                    SELECT j.document_id FROM jobs j LEFT JOIN processes p ON p.process_id = j.worker_id
                    WHERE j.state = 'leased'
                      AND (j.lease_until < clock_timestamp() OR p.lost_at IS NOT NULL OR p.ended_at IS NOT NULL)
                    LIMIT :most
                """),
                    {"most": BATCH},
                )
                .scalars()
                .all()
            )
            if not documents:
                return []
            locked = connection.execute(query("lock_documents_free"), {"documents": documents}).scalars().all()
            budget = self._settings.budget
            held = connection.execute(
                query("reclaimable"),
                {
                    "documents": locked,
                    "attempts": budget.attempts,
                    "elapsed_seconds": budget.elapsed_seconds,
                    "attempt_seconds": budget.attempt_seconds,
                },
            ).all()
            endings = self._endings(connection, held)
            states = finish_if_held(connection, endings, self._settings) if endings else {}
            if endings:
                faults.reach(Fault.SWEEP_BEFORE_RECLAIM_COMMIT)
        for row in held:
            events.emit(
                "job.reclaimed", job_id=str(row.job_id), worker_id=row.worker_id, cause=row.cause,
                state=states.get(row.job_id),
            )  # fmt: skip
        if held:
            faults.reach(Fault.SWEEP_AFTER_RECLAIM)
        return [row.job_id for row in held]

    def _endings(self, connection: Connection, held: Sequence[Row[Any]]) -> list[Ending]:
        """Lost leases; but before a spent budget quarantines a job, the index is asked whether it has the version."""
        spent = [row.document_id for row in held if row.is_spent]
        published = self._index.version_of(connection, spent) if spent else {}
        seconds = self._settings.budget.attempt_seconds
        return [
            Ending(
                row.job_id,
                row.generation,
                Published()
                if published.get(row.document_id) == row.input_version
                else LeaseLost(row.cause, CAUSES[row.cause].format(seconds=seconds)),
            )
            for row in held
        ]

    def send_again(self) -> int:
        """Sends again what may be lost and is not in the broker's queue any more; returns how many jobs.

        A queue that nobody reads since the number of partitions was lowered counts as lost, too.

        Sends of the same job keep a distance that doubles, except after the death of a worker, which is told at once.
        """
        spacing = {"first": self._settings.sweep.resend_first_seconds, "most": self._settings.sweep.resend_most_seconds}
        with self._engine.begin() as connection:
            seen_at = connection.execute(text("SELECT clock_timestamp()")).scalar_one()
            under_way = connection.execute(query("overdue_deliveries"), spacing).all()
        overdue = [row for row in under_way if row.overdue]
        if not overdue:
            return 0
        try:
            waiting = self._postman.waiting([row.partition for row in overdue])
        except BrokerUnavailable:
            return 0  # the relay says so; what the broker has is known when it is back
        lost = [
            job
            for row in overdue
            if waiting[row.partition] < row.deliveries or row.partition >= self._settings.partitions
            for job in row.overdue
        ]
        if not lost:
            return 0
        with self._engine.begin() as connection:
            sent = connection.execute(query("send_again"), {"jobs": lost, "seen_at": seen_at}).rowcount
        events.emit("delivery.resent", jobs=sent)
        faults.reach(Fault.SWEEP_AFTER_RESEND)
        return sent

    def purge(self) -> None:
        """Removes what nobody needs any more, in batches, and lets the index refresh its statistics."""
        keep = self._settings.retention
        for state, days in (
            ("succeeded", keep.succeeded_days), ("superseded", keep.superseded_days), ("resolved", keep.resolved_days),
        ):  # fmt: skip
            while self._purge_jobs(state, days) >= BATCH:
                faults.reach(Fault.SWEEP_AFTER_PURGE)
        while self._purge_documents(keep.tombstone_days) >= BATCH:
            pass
        with self._engine.begin() as connection:
            connection.execute(
                text("DELETE FROM idempotency_keys WHERE created_at < now() - make_interval(secs => :hours * 3600)"),
                {"hours": keep.idempotency_hours},
            )
            connection.execute(
                text("DELETE FROM processes WHERE coalesce(ended_at, lost_at) < now() - interval '1 day'")
            )
        with self._engine.begin() as connection:
            self._index.maintain(connection)
        faults.reach(Fault.SWEEP_AFTER_PURGE)

    def _purge_jobs(self, state: str, days: float) -> int:
        with self._engine.begin() as connection:
            row = connection.execute(query("purge_jobs"), {"state": state, "days": days, "most": BATCH}).one()
            _drop_unused(connection, row.hashes or [])
        return int(row.jobs)

    def _purge_documents(self, days: float) -> int:
        """Removes what the index has forgotten; returns how many, without those whose entry turned out to be newer."""
        with self._engine.begin() as connection:
            gone = connection.execute(query("purgeable_tombstones"), {"days": days, "most": BATCH}).all()
            for row in gone:
                self._index.purge_tombstone(connection, row.document_id, row.input_version)
            documents = [row.document_id for row in gone]
            kept = self._index.version_of(connection, documents) if documents else {}
            documents = [document for document in documents if document not in kept]
            if documents:
                row = connection.execute(query("purge_documents"), {"documents": documents}).one()
                _drop_unused(connection, row.hashes or [])
        return len(documents)


def _drop_unused(connection: Connection, hashes: Sequence[bytes]) -> None:
    """Removes contents, and their results, that no version names any more.

    Locked ones are in the hands of an intake; the check comes in a later statement than the lock, so that it sees
    every version committed before.
    """
    if not hashes:
        return
    free = (
        connection.execute(
            text("SELECT sha256 FROM contents WHERE sha256 = ANY(CAST(:hashes AS bytea[])) FOR UPDATE SKIP LOCKED"),
            {"hashes": list(hashes)},
        )
        .scalars()
        .all()
    )
    unused = (
        connection.execute(
            text("""
            DELETE FROM contents c
            WHERE sha256 = ANY(CAST(:hashes AS bytea[]))
              AND NOT EXISTS (SELECT FROM versions v WHERE v.sha256 = c.sha256)
            RETURNING sha256
        """),
            {"hashes": free},
        )
        .scalars()
        .all()
    )
    connection.execute(
        text("""
            DELETE FROM results r
            WHERE sha256 = ANY(CAST(:hashes AS bytea[]))
              AND NOT EXISTS (SELECT FROM versions v WHERE v.result_id = r.result_id)
        """),
        {"hashes": unused},
    )
