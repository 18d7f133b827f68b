"""A database with the words of the glossary: what tests do to jobs, and what must hold at every moment."""

import hashlib
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, RowMapping, text

from pipeline import contents, indexes, outbox
from pipeline.acceptance import Acceptance, Submission, accept_one
from pipeline.leases import Ending, Lease, finish_if_held, lease, lock_held
from pipeline.outcomes import Outcome, Published
from pipeline.settings import Settings
from pipeline.states import Operation, State


@dataclass
class World:
    """One test's database and settings."""

    engine: Engine
    settings: Settings = field(default_factory=Settings)

    def upload(self, content: str | bytes = "some text", **fields: Any) -> Acceptance:
        """Accepts one version of a document in a transaction of its own."""
        data = content.encode() if isinstance(content, str) else content
        sha256 = hashlib.sha256(data).digest()
        with self.engine.begin() as connection:
            contents.store_small(connection, {sha256: data})
            submission = Submission(sha256=sha256, size=len(data), **fields)
            return accept_one(connection, submission, partitions=self.settings.partitions)

    def delete(self, document_id: UUID) -> Acceptance:
        """Accepts a delete."""
        with self.engine.begin() as connection:
            submission = Submission(operation=Operation.DELETE, document_id=document_id)
            return accept_one(connection, submission, partitions=self.settings.partitions)

    def reindex(self, document_id: UUID) -> Acceptance:
        """Accepts the same content as a new version."""
        with self.engine.begin() as connection:
            submission = Submission(document_id=document_id, always=True)
            return accept_one(connection, submission, partitions=self.settings.partitions)

    def relay(self) -> tuple[outbox.Delivery, ...]:
        """Claims and confirms as a relay does whose broker takes everything; returns what was sent."""
        with self.engine.begin() as connection:
            claim = outbox.claim(connection, self.settings)
        with self.engine.begin() as connection:
            outbox.confirm(connection, claim.deliveries)
        return claim.deliveries

    def lease(self, *jobs: UUID | None, worker_id: int = 1) -> list[Lease]:
        """Leases in a transaction of its own."""
        with self.engine.begin() as connection:
            wanted = [job for job in jobs if job is not None]
            live = indexes.must_be_live(connection)
            seconds = self.settings.lease.seconds
            return lease(connection, wanted, worker_id=worker_id, seconds=seconds, backend=live.backend)

    def finish(self, held: Lease, outcome: Outcome | None = None) -> State | None:
        """Ends an attempt as a worker does; None when the lease was not held any more."""
        with self.engine.begin() as connection:
            lock_held(connection, [held])
            ending = Ending(held.job_id, held.generation, outcome or Published())
            return finish_if_held(connection, [ending], self.settings).get(held.job_id)

    def job(self, job_id: UUID | None) -> RowMapping:
        """One job's row."""
        return self.row("SELECT * FROM jobs WHERE job_id = :id", id=job_id)

    def document(self, document_id: UUID) -> RowMapping:
        """One document's row."""
        return self.row("SELECT * FROM documents WHERE document_id = :id", id=document_id)

    def row(self, statement: str, **values: Any) -> RowMapping:
        """The one row of a query."""
        with self.engine.connect() as connection:
            return connection.execute(text(statement), values).mappings().one()

    def rows(self, statement: str, **values: Any) -> list[RowMapping]:
        """All rows of a query."""
        with self.engine.connect() as connection:
            return list(connection.execute(text(statement), values).mappings())

    def execute(self, statement: str, **values: Any) -> int:
        """Runs one statement (to age rows, for example); returns how many rows it touched."""
        with self.engine.begin() as connection:
            return connection.execute(text(statement), values).rowcount

    def check(self) -> None:
        """The promises that hold at every moment, from rows (P3, P5)."""
        sums = self.row("""
            SELECT (SELECT coalesce(sum(input_version), 0) FROM documents)
                   + (SELECT count FROM tallies WHERE name = 'removed_versions') AS accepted,
                   (SELECT count(*) FROM jobs)
                   + (SELECT sum(count) FROM tallies WHERE name LIKE 'purged%') AS counted
        """)
        assert sums["accepted"] == sums["counted"], f"accepted and counted jobs differ: {dict(sums)}"
        orphans = self.rows("SELECT job_id FROM outbox EXCEPT SELECT job_id FROM jobs")
        assert not orphans, f"outbox rows without a job: {orphans}"
        forgotten = self.rows("""
            SELECT j.job_id, j.state FROM jobs j LEFT JOIN outbox o USING (job_id)
            WHERE j.state IN ('queued', 'retry_wait') AND o.job_id IS NULL AND j.sent_at IS NULL
              AND NOT EXISTS (SELECT FROM jobs l WHERE l.document_id = j.document_id AND l.state = 'leased')
        """)
        assert not forgotten, f"waiting jobs that nobody will ever send: {forgotten}"
        for index in self.rows("SELECT name FROM search_indexes WHERE state = 'live' AND backend = 'postgres'"):
            backwards = self.rows(f"""
                SELECT d.document_id FROM documents d JOIN {index["name"]}.entries e USING (document_id)
                WHERE e.version <> d.published_version
            """)
            assert not backwards, f"the index and the documents disagree: {backwards}"
