"""A world with an index: documents are published by hand, entries are spoilt by hand, builds run step by step."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from pydantic import SecretStr
from sqlalchemy import text

from fencepost.local.opensearch import LocalOpenSearch
from indexer import results
from indexer.adopting import adopt
from indexer.extract import Extraction, Passage
from indexer.rebuilding import Builder
from indexer.refilling import Refiller
from indexer.results import Key
from indexer.search.backend import Entry, EntryState, SearchBackend, SearchRequest
from indexer.search.backends import backend as backend_of
from indexer.search.languages import Languages, chosen
from indexer.search.opensearch import OpenSearchBackend
from indexer.search.postgres import Postgres
from indexer.verifying import Verifier, begin
from pipeline import builds, indexes, verifications
from pipeline.acceptance import Acceptance
from pipeline.builds import Build, Phase
from pipeline.holding import Holding
from pipeline.leases import Ending, Lease, finish_if_held, lock_held
from pipeline.loop import Loop
from pipeline.outcomes import Published, TextQuality
from pipeline.settings import OpenSearch, Settings
from pipeline.verifications import Verification
from tests.support.entries import entry
from tests.support.waiting import until
from tests.support.world import World


def installed(world: World, node: LocalOpenSearch | None, prefix: str = "") -> "Library":
    """A library in PostgreSQL, or in OpenSearch where there is a node."""
    if node is None:
        return Library(world, Postgres())
    world.settings = Settings(opensearch_url=SecretStr(node.url), opensearch=OpenSearch(prefix=prefix))
    variables = {"FENCEPOST_OPENSEARCH_URL": node.url, "FENCEPOST_OPENSEARCH__PREFIX": prefix}
    backend = backend_of(world.settings)
    adopt(world.engine, backend, world.settings)
    world.execute("UPDATE search_indexes SET state = 'dropped' WHERE backend = 'postgres'")
    return Library(world, backend, variables)


@dataclass
class Library:
    """Documents that were published, and the index that they are in."""

    world: World
    backend: SearchBackend
    variables: dict[str, str] = field(default_factory=dict)
    """What real processes must know to have the same index."""
    builder: Builder = field(init=False)
    refiller: Refiller = field(init=False)

    def __post_init__(self) -> None:
        self.builder = Builder(self.world.engine, self.backend, self.world.settings)
        self.refiller = self.refilling_worker()

    @property
    def live(self) -> str:
        """The name of the index that is searched."""
        with self.world.engine.connect() as connection:
            return indexes.must_be_live(connection).name

    def refilling_worker(self, holding: Holding | None = None) -> Refiller:
        """Another worker's thread that refills."""
        with self.world.engine.begin() as connection:
            worker_id: int = connection.execute(
                text("INSERT INTO processes (kind, host, pid) VALUES ('worker', 'host', 1) RETURNING process_id")
            ).scalar_one()
        return Refiller(
            self.world.engine,
            self.backend,
            holding or Holding(attempt_seconds=60),
            worker_id=worker_id,
            settings=self.world.settings,
        )

    def add(self, words: str = "lighthouse", **fields: Any) -> UUID:
        """Uploads and publishes a document."""
        accepted = self.world.upload(words, **fields)
        self.publish(accepted, words)
        return accepted.document_id

    def add_many(self, n: int) -> list[UUID]:
        """Uploads and publishes many."""
        return [self.add(f"lighthouse number {i}") for i in range(n)]

    def update(self, document_id: UUID, words: str = "harbour") -> None:
        """Publishes a newer version."""
        self.publish(self.world.upload(words, document_id=document_id), words)

    def delete(self, document_id: UUID) -> None:
        """Publishes a tombstone."""
        self.publish(self.world.delete(document_id))

    def publish(self, accepted: Acceptance, words: str | None = None) -> None:
        """Leases, publishes to all targets and finishes, as a worker does."""
        if accepted.unchanged:
            return
        (held,) = self.world.lease(accepted.job_id)
        self.write(held, words)
        self.finish(held, words)

    def write(self, held: Lease, words: str | None) -> None:
        """The publish of an attempt, committed by itself as with an engine of its own."""
        written = entry(
            () if words is None else words,
            held.input_version,
            document_id=held.document_id,
            tombstone=words is None,
            collection_id=held.collection_id,
            key=held.key,
            title=held.title,
            media_type="" if words is None else "text/plain",
            metadata=held.metadata,
            accepted_at=held.accepted_at,
            language=chosen(held.metadata, None),
        )
        Languages(self.world.engine).note([written.language])
        with self.world.engine.begin() as connection:
            own = connection if self.backend.in_transaction else None
            outcomes = self.backend.publish(own, held.targets, [written])
        assert not outcomes, outcomes

    def finish(self, held: Lease, words: str | None) -> None:
        """The end of an attempt, with the stored result."""
        with self.world.engine.begin() as connection:
            lock_held(connection, [held])
            result_id = None
            if words is not None and held.sha256 is not None:
                key = Key(held.sha256, "text-2.1", "")
                results.store(connection, {key: Extraction("text/plain", TextQuality.OK, [Passage(words)], {})})
                result_id = results.find(connection, [key])[key].result_id
            finish_if_held(
                connection, [Ending(held.job_id, held.generation, Published(result_id))], self.world.settings
            )

    def spoil(self, document_id: UUID, version: int, *, tombstone: bool = False, words: str = "spoilt") -> None:
        """Puts another entry in the place of a document's, whatever its version."""
        self.lose(document_id)
        other = entry(() if tombstone else words, version, document_id=document_id, tombstone=tombstone)
        until(lambda: self._is_written(other), what="the end of the memory of what was there")

    def _is_written(self, other: Entry) -> bool:
        target = [self.live]
        with self.world.engine.begin() as connection:
            return not self.backend.publish(connection if self.backend.in_transaction else None, target, [other])

    def lose(self, *documents: UUID) -> None:
        """Takes entries out of the live index."""
        name = self.live
        with self.world.engine.begin() as connection:
            for state in self.backend.states_of(connection, name, documents):
                assert self.backend.remove(connection, name, state)
        self.refresh()  # else the engine remembers the versions of what is gone

    def refresh(self) -> None:
        """Makes what was published findable at once."""
        if self.backend.kind == OpenSearchBackend.kind:
            self.backend._client.indices.refresh(index=f"{self.world.settings.opensearch.prefix}-*")

    def entries(self, index: str | None = None) -> dict[UUID, EntryState]:
        """Everything in an index, the live one unless named."""
        name = index or self.live
        with self.world.engine.connect() as connection:
            return {one.document_id: one for one in self.backend.states_after(connection, name, None, 10_000)}

    def find(self, words: str) -> int:
        """How many documents a search finds."""
        self.refresh()
        return self.backend.search(self.world.engine, SearchRequest(words)).total

    def verify(self, *, repair: bool = False, chunk: int = 1000) -> Verification:
        """A whole verification, and the repair that it leads to."""
        with self.world.engine.begin() as connection:
            begun = begin(connection, indexes.must_be_live(connection), repair=repair)
        verifier = Verifier(self.world.engine, self.backend, self.world.settings, chunk=chunk)
        while verifier.step():
            pass
        if repair:
            self.run(self.build())
        return self.verification(begun.verification_id)

    def verification(self, verification_id: int) -> Verification:
        """As it is now."""
        with self.world.engine.connect() as connection:
            return verifications.find(connection, verification_id)

    def drifts(self, verification: Verification) -> dict[UUID, str]:
        """The kind of each document that differed."""
        with self.world.engine.connect() as connection:
            found, _ = verifications.drifts(connection, verification.verification_id, cursor=None, limit=100_000)
        return {row["document_id"]: row["kind"] for row in found}

    def rebuild(self) -> Build:
        """Starts one."""
        with self.world.engine.begin() as connection:
            return builds.begin_rebuild(
                connection,
                backend=self.backend.kind,
                fingerprint=self.backend.fingerprint,
                settings=self.world.settings,
            )

    def build(self) -> Build:
        """The last one, as it is now."""
        with self.world.engine.connect() as connection:
            found = builds.newest(connection)
        assert found is not None
        return found

    def run(self, build: Build, *, to: Phase | None = None) -> Build:
        """Moves a build on until it has ended, is stuck, or has come to a phase."""

        def moved() -> Build | None:
            now = self.build()
            if now.phase is to or now.finished_at is not None or now.phase is Phase.STUCK:
                return now
            self.builder.run_once()
            if to is not Phase.FILLING:
                self.refiller.run_once()
            return None

        assert self.build().build_id == build.build_id
        return until(moved, seconds=60, what=f"the end of {build}")

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """A sweeper and a worker that move builds meanwhile."""
        loops = [Loop("builder", self.builder.run_once), Loop("refill", self.refiller.run_once)]
        for loop in loops:
            loop.start()
        try:
            yield
        finally:
            for loop in loops:
                loop.stop(30)

    def check(self) -> None:
        """The index is exactly what was published."""
        expected = {
            row["document_id"]: (row["published_version"], row["tombstone"])
            for row in self.world.rows("""
                SELECT d.document_id, d.published_version, v.operation = 'delete' AS tombstone FROM documents d
                JOIN versions v ON v.document_id = d.document_id AND v.input_version = d.published_version
            """)
        }
        assert {one: tuple(state[1:]) for one, state in self.entries().items()} == expected
