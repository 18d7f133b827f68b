"""The sweeper: finds what stopped moving and sets it going again. Stateless and convergent.

Each step repeats its condition in the statement that acts, so that whatever happened in between wins. Any number of
sweepers may run side by side.
"""

from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, Row, text

from pipeline import breaker, events, faults, outbox
from pipeline.asking import Index, asking
from pipeline.breaker import INDEX
from pipeline.broker import Postman
from pipeline.database import query
from pipeline.errors import BrokerUnavailable, IndexUnavailable
from pipeline.faults import Fault
from pipeline.leases import Ending, finish_if_held
from pipeline.outcomes import LeaseLost, Published
from pipeline.processes import LOCK_CLASS
from pipeline.settings import Settings

BATCH = 500

CAUSES = {
    "worker_lost": "The worker died while it held this job.",
    "deadline": "The attempt did not end within {seconds:g} s.",
    "lease_expired": "The worker went silent while it held this job.",
}


class Sweeper:
    """All steps, in the order in which they help each other."""

    def __init__(self, engine: Engine, postman: Postman, index: Index, settings: Settings) -> None:
        self._engine = engine
        self._postman = postman
        self._index = index
        self._settings = settings
        budget = settings.budget
        self._budgets = {
            "attempts": budget.attempts,
            "elapsed_seconds": budget.elapsed_seconds,
            "attempt_seconds": budget.attempt_seconds,
        }

    def run_once(self) -> float:
        """One pass; returns the seconds until the next."""
        self.mark_lost()
        self.reclaim()
        self.send_again()
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
            found = connection.execute(query("reclaimable_documents"), self._budgets | {"most": BATCH}).all()
        if not found:
            return []
        asked = self._ask([row.document_id for row in found if row.is_spent])
        with self._engine.begin() as connection:
            documents = {"documents": [row.document_id for row in found]}
            locked = connection.execute(query("lock_documents_free"), documents).scalars().all()
            held = connection.execute(query("reclaimable"), self._budgets | {"documents": locked}).all()
            ending = [row for row in held if not row.is_spent or row.document_id in asked]
            endings = [self._ending(connection, row, asked) for row in ending]
            states = finish_if_held(connection, endings, self._settings) if endings else {}
            if endings:
                faults.reach(Fault.SWEEP_BEFORE_RECLAIM_COMMIT)
        for row in ending:
            events.emit(
                "job.reclaimed", job_id=str(row.job_id), worker_id=row.worker_id, cause=row.cause,
                state=states.get(row.job_id),
            )  # fmt: skip
        if ending:
            faults.reach(Fault.SWEEP_AFTER_RECLAIM)
        return [row.job_id for row in ending]

    def _ask(self, documents: list[UUID]) -> dict[UUID, int]:
        """The version that the index has of each, 0 for none; nothing while it cannot be asked.

        Before a spent budget quarantines a job, the index is asked whether the publish went through after all. A job
        that it cannot be asked about waits for a later pass: an outage quarantines nothing.
        """
        if not documents:
            return {}
        with self._engine.connect() as connection:
            if breaker.why_open(connection, INDEX) is not None:
                return {}
        try:
            with asking(self._engine, self._index) as connection:
                return dict.fromkeys(documents, 0) | self._index.version_of(connection, documents)
        except IndexUnavailable as error:
            events.emit("index.unanswered", reason=error.message)
            return {}

    def _ending(self, connection: Connection, row: Row[Any], asked: dict[UUID, int]) -> Ending:
        """A lost lease, unless a job with a spent budget turns out to be published."""
        if row.is_spent and asked[row.document_id] == row.input_version:
            return Ending(row.job_id, row.generation, Published(_result_of(connection, row.job_id)))
        message = CAUSES[row.cause].format(seconds=self._settings.budget.attempt_seconds)
        return Ending(row.job_id, row.generation, LeaseLost(row.cause, message))

    def send_again(self) -> int:
        """Sends again what may be lost and is not in the broker's queue any more; returns how many jobs.

        What is in a queue that nobody reads since the number of partitions was lowered counts as lost, too.
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
            sent = outbox.send_again(connection, lost, seen_at=seen_at)
        events.emit("delivery.resent", jobs=sent)
        faults.reach(Fault.SWEEP_AFTER_RESEND)
        return sent


def _result_of(connection: Connection, job_id: UUID) -> int | None:
    """The newest stored result of a job's content, which is what a publish that went through has published."""
    statement = text("""
        SELECT max(r.result_id)
        FROM jobs j JOIN versions v USING (document_id, input_version) JOIN results r USING (sha256)
        WHERE j.job_id = :job_id
    """)
    newest: int | None = connection.execute(statement, {"job_id": job_id}).scalar_one()
    return newest
