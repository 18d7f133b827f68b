"""A search backend that stands for an engine outside PostgreSQL, and that can be told to be in trouble."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

from sqlalchemy import Connection, Engine, text

from indexer.search.backend import Entry
from indexer.search.postgres import Postgres
from pipeline.errors import IndexUnavailable
from pipeline.outcomes import Outcome, outage


class Elsewhere(Postgres):
    """Commits what it writes by itself, and fails the test that calls it while a transaction is open."""

    in_transaction = False

    def __init__(self, engine: Engine) -> None:
        self.trouble: str | None = None
        self.calls: list[str] = []
        self.meanwhile: Callable[[], object] = lambda: None
        self._engine = engine

    def publish(
        self, connection: Connection | None, targets: Sequence[str], entries: Sequence[Entry]
    ) -> dict[UUID, Outcome]:
        """Writes entries, or hands them all back."""
        assert connection is None
        try:
            with self._called("publish") as own:
                return super().publish(own, targets, entries)
        except IndexUnavailable as error:
            return {entry.document_id: outage(error.message) for entry in entries}

    def version_of(self, connection: Connection, document_ids: Sequence[UUID]) -> dict[UUID, int]:
        """The versions of the live index."""
        del connection
        with self._called("version_of") as own:
            return super().version_of(own, document_ids)

    def purge_tombstone(self, connection: Connection, document_id: UUID, version: int) -> bool:
        """Forgets a deleted document."""
        del connection
        with self._called("purge_tombstone") as own:
            return super().purge_tombstone(own, document_id, version)

    def maintain(self, connection: Connection) -> None:
        """Nothing to do."""

    def probe(self, targets: Sequence[str]) -> None:
        """Says whether it is still in trouble."""
        del targets
        with self._called("probe"):
            pass

    @contextmanager
    def _called(self, name: str) -> Iterator[Connection]:
        self.calls.append(name)
        with self._engine.begin() as own:
            waiting = own.execute(
                text("SELECT query FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in %'")
            ).scalars()
            assert list(waiting) == [], f"a transaction waits for {name}"
        self.meanwhile()
        if self.trouble is not None:
            raise IndexUnavailable(self.trouble)
        with self._engine.begin() as own:
            yield own
