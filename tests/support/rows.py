"""Processes and ages as rows, and a world with one partition: what the operator's questions are asked about."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, text

from pipeline.acceptance import Acceptance
from pipeline.leases import Lease
from pipeline.outcomes import Outcome
from pipeline.settings import Settings
from pipeline.states import State
from tests.support.world import World


class OperatedWorld(World):
    """A world in which every document is in partition 0."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine, Settings(partitions=1))
        self.worker_id = 1

    def run(self) -> "OperatedWorld":
        """Registers a relay and a worker, which is `worker_id` from then on."""
        self.process("relay")
        self.worker_id = self.process("worker")
        return self

    def file(self, filename: str = "report.pdf", **fields: Any) -> Acceptance:
        """Uploads a file whose text is its name."""
        return self.upload(filename, filename=filename, title=filename, **fields)

    def job_of(self, filename: str = "a.txt") -> UUID:
        """Uploads a file and returns its job."""
        job_id = self.file(filename).job_id
        assert job_id is not None
        return job_id

    def process(self, kind: str, *, silent_for: float = 0, partitions: tuple[int, ...] = (0,)) -> int:
        """Registers a process that beat `silent_for` seconds ago."""
        is_worker = kind == "worker"
        with self.engine.begin() as connection:
            process_id: int = connection.execute(
                text("""
                    INSERT INTO processes (kind, host, pid, partitions, slots, heartbeat_at)
                    VALUES (:kind, 'host', 1, :partitions, :slots, now() - make_interval(secs => :silent_for))
                    RETURNING process_id
                """),
                {
                    "kind": kind,
                    "partitions": list(partitions) if is_worker else [],
                    "slots": 3 if is_worker else 0,
                    "silent_for": silent_for,
                },
            ).scalar_one()
        return process_id

    def take(self, job_id: UUID) -> Lease:
        """Leases a job that has been relayed."""
        self.execute("DELETE FROM outbox WHERE job_id = :id", id=job_id)
        (taken,) = self.lease(job_id, worker_id=self.worker_id)
        return taken

    def attempt(self, job_id: UUID, outcome: Outcome | None = None) -> State | None:
        """One whole attempt, by default a successful one."""
        return self.finish(self.take(job_id), outcome)

    def age(self, table: str, column: str, by: timedelta, where: str = "true") -> None:
        """Makes rows older: moves a time of theirs into the past."""
        self.execute(f"UPDATE {table} SET {column} = {column} - CAST(:by AS interval) WHERE {where}", by=by)
