"""The real statements on real PostgreSQL against a small reference model, step by step, in any order."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from sqlalchemy import text

from indexer.search.backend import Entry
from indexer.search.postgres import Postgres
from pipeline.broker import Postman
from pipeline.leases import Ending, Lease, finish_if_held, lock_held
from pipeline.outcomes import Outcome, Published, Rejected, RetryLater
from pipeline.settings import Budget, Settings
from pipeline.states import FINAL, State
from pipeline.sweeper import Sweeper
from tests.integration.test_sweeper import NoIndex
from tests.support.servers import Database
from tests.support.world import World

if TYPE_CHECKING:
    from uuid import UUID

ATTEMPTS = 3
KEYS = st.sampled_from(["a", "b"])


@dataclass
class ModelJob:
    """What the model remembers of a job."""

    version: int
    deletes: bool
    state: State = State.QUEUED
    attempt: int = 0
    generation: int = 0
    alone: bool = False


@dataclass
class ModelDocument:
    """A document is its jobs in the order of their versions, and what is published."""

    jobs: list[ModelJob] = field(default_factory=list)
    content: str = ""
    published: int = 0
    suspect: bool = False

    @property
    def newest(self) -> ModelJob:
        return self.jobs[-1]

    def leased(self) -> ModelJob | None:
        return next((job for job in self.jobs if job.state is State.LEASED), None)

    def add(self, *, deletes: bool) -> None:
        """A new version supersedes the waiting one; a delete supersedes the leased one too."""
        for job in self.jobs:
            if job.state in {State.QUEUED, State.RETRY_WAIT} or (deletes and job.state is State.LEASED):
                job.state = State.SUPERSEDED
        self.jobs.append(ModelJob(len(self.jobs) + 1, deletes, alone=self.suspect))

    def end(self, job: ModelJob, outcome: Outcome, *, lost: bool = False) -> None:
        """The rules of the design for the end of an attempt."""
        if isinstance(outcome, RetryLater) and outcome.refund:
            job.attempt -= 1
        else:
            self.suspect = not isinstance(outcome, Published)
            job.alone = job.alone or self.suspect
        if isinstance(outcome, Published):
            job.state, self.published = State.SUCCEEDED, job.version
            for older in self.jobs[: job.version - 1]:
                if older.state is State.QUARANTINED:
                    older.state = State.RESOLVED
        elif job.version < self.newest.version:
            job.state = State.SUPERSEDED
        elif isinstance(outcome, Rejected):
            job.state = State.QUARANTINED
        elif outcome.refund if isinstance(outcome, RetryLater) else False:
            job.state = State.QUEUED
        elif job.attempt >= ATTEMPTS:
            job.state = State.QUARANTINED
        else:
            job.state = State.QUEUED if lost else State.RETRY_WAIT


class Jobs(RuleBasedStateMachine):
    """Two documents, every move that the system knows, and stale holders that come back at any time."""

    world: ClassVar[World]

    def __init__(self) -> None:
        super().__init__()
        self.world.execute(
            "TRUNCATE documents, jobs, outbox, attempts, quarantine, results, "
            "fencepost_1_1.entries, fencepost_1_1.passages CASCADE"
        )
        self.documents: dict[str, ModelDocument] = {}
        self.ids: dict[str, UUID] = {}
        self.leases: list[tuple[str, Lease]] = []

    @rule(key=KEYS, content=st.sampled_from(["x", "y"]))
    def upload(self, key: str, content: str) -> None:
        accepted = self.world.upload(content, key=key)
        self.ids[key] = accepted.document_id
        document = self.documents.setdefault(key, ModelDocument())
        failed = {State.QUARANTINED, State.RESOLVED}
        same = document.jobs and document.content == content and not document.newest.deletes
        if same and document.newest.state not in failed:
            assert accepted.unchanged
            return
        assert not accepted.unchanged
        document.add(deletes=False)
        document.content = content

    @rule(key=KEYS)
    def delete(self, key: str) -> None:
        if key not in self.documents:
            return
        accepted = self.world.delete(self.ids[key])
        document = self.documents[key]
        assert accepted.unchanged == (document.newest.deletes and document.newest.state is not State.QUARANTINED)
        if not accepted.unchanged:
            document.add(deletes=True)

    @rule(key=KEYS)
    def reindex(self, key: str) -> None:
        if key in self.documents and not self.documents[key].newest.deletes:
            assert not self.world.reindex(self.ids[key]).unchanged
            self.documents[key].add(deletes=False)

    @rule()
    def lease(self) -> None:
        """Offers every job of every document, as the worst broker would."""
        self.world.execute("UPDATE jobs SET due_at = now() - interval '1 s'")
        jobs = [row["job_id"] for row in self.world.rows("SELECT job_id FROM jobs")]
        taken = self.world.lease(*jobs)
        expected = set()
        for key, document in self.documents.items():
            for job in document.jobs:
                if job.state in {State.QUEUED, State.RETRY_WAIT} and document.leased() is None:
                    job.state, job.attempt, job.generation = State.LEASED, job.attempt + 1, job.generation + 1
                    expected.add((self.ids[key], job.version))
        assert {(lease.document_id, lease.input_version) for lease in taken} == expected
        keys = {document_id: key for key, document_id in self.ids.items()}
        self.leases += sorted(((keys[lease.document_id], lease) for lease in taken), key=lambda pair: pair[0])

    @precondition(lambda self: self.leases)
    @rule(
        data=st.data(),
        outcome=st.sampled_from(
            [Published(), Rejected("corrupt", "c"), RetryLater("handler_error", "r"), RetryLater("s", "s", refund=True)]
        ),
    )
    def end(self, data: st.DataObject, outcome: Outcome) -> None:
        """Any holder ends its attempt, also one whose lease is long gone."""
        key, lease = data.draw(st.sampled_from(self.leases))
        document = self.documents[key]
        job = document.jobs[lease.input_version - 1]
        holds = job.state is State.LEASED and job.generation == lease.generation
        with self.world.engine.begin() as connection:
            held = lock_held(connection, [lease])
            assert (lease.job_id in held) == holds
            if holds and isinstance(outcome, Published):
                assert Postgres().publish(connection, lease.targets, [entry(lease)]) == {}
            ending = Ending(lease.job_id, lease.generation, outcome)
            states = finish_if_held(connection, [ending], self.world.settings)
        assert (lease.job_id in states) == holds
        if holds:
            document.end(job, outcome)

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def publish_late(self, data: st.DataObject) -> None:
        """Even a publish without any check cannot take the index back."""
        key, lease = data.draw(st.sampled_from(self.leases))
        if lease.input_version >= self.documents[key].published:
            return
        with self.world.engine.begin() as connection:
            assert set(Postgres().publish(connection, lease.targets, [entry(lease)])) == {lease.document_id}

    @rule()
    def expire_and_sweep(self) -> None:
        self.world.execute("UPDATE jobs SET lease_until = now() - interval '1 s' WHERE state = 'leased'")
        Sweeper(self.world.engine, Postman("redis://127.0.0.1:1"), NoIndex(), self.world.settings).reclaim()
        for document in self.documents.values():
            job = document.leased()
            if job is not None:
                document.end(job, RetryLater("lease_expired", "x"), lost=True)

    @invariant()
    def rows_and_model_agree(self) -> None:
        found = self.world.rows("""
            SELECT d.key, j.input_version, j.state, j.attempt, j.generation, j.alone
            FROM jobs j JOIN documents d USING (document_id) ORDER BY d.key, j.input_version
        """)
        expected = [
            (key, job.version, job.state, job.attempt, job.generation, job.alone)
            for key, document in sorted(self.documents.items())
            for job in document.jobs
        ]
        assert [tuple(row.values()) for row in found] == expected
        for key, document in self.documents.items():
            assert self.world.document(self.ids[key])["published_version"] == document.published
        self.world.check()

    def teardown(self) -> None:
        """From wherever it stopped, everything comes to an end by relaying, leasing and finishing alone."""
        with self.draining():
            for _ in range(8):
                self.world.execute("UPDATE jobs SET due_at = now() - interval '1 s', lease_until = CASE "
                                   "WHEN state = 'leased' THEN now() - interval '1 s' END")  # fmt: skip
                self.world.execute("UPDATE outbox SET due_at = now() - interval '1 s'")
                Sweeper(self.world.engine, Postman("redis://127.0.0.1:1"), NoIndex(), self.world.settings).reclaim()
                for delivery in self.world.relay():
                    for lease in self.world.lease(*delivery.jobs):
                        self.world.finish(lease)

    @contextmanager
    def draining(self) -> Iterator[None]:
        yield
        left = {row["state"] for row in self.world.rows("SELECT state FROM jobs")} - FINAL - {State.QUARANTINED}
        assert not left, f"never came to an end: {left}"


def entry(lease: Lease) -> Entry:
    deletes = lease.operation == "delete"
    return Entry(
        lease.document_id, lease.input_version, deletes, lease.collection_id, lease.key, "", "", {}, lease.accepted_at
    )


def test_the_statements_follow_the_model(database: Database) -> None:
    Jobs.world = World(database.engine, Settings(budget=Budget(attempts=ATTEMPTS)))
    with database.engine.begin() as connection:
        connection.execute(text("INSERT INTO collections (name) VALUES ('model')"))
    run_state_machine_as_test(
        Jobs,
        settings=settings(
            max_examples=settings().max_examples if settings.get_current_profile_name() == "soak" else 20,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
