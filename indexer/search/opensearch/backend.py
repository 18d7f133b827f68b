"""The search backend for production: an OpenSearch cluster.

Publishing is conditional on the version in the engine itself, so it needs no transaction and may be repeated.
"""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Connection, Engine

from indexer.search.backend import Entry, EntryState, Facets, SearchPage, SearchRequest, remove_everywhere
from indexer.search.opensearch import indices, reading
from indexer.search.opensearch.bulk import Publisher
from indexer.search.opensearch.connection import connect
from indexer.search.opensearch.entries import PROBE
from indexer.search.opensearch.mapping import FINGERPRINT
from indexer.search.opensearch.searching import Searcher
from pipeline import indexes
from pipeline.errors import IndexUnavailable
from pipeline.indexes import PhysicalIndex
from pipeline.outcomes import Outcome
from pipeline.settings import Settings


class OpenSearchBackend:
    """See `SearchBackend` for what each method does. A physical index is an index with a write alias of its own."""

    kind = "opensearch"
    fingerprint = FINGERPRINT
    in_transaction = False

    def __init__(self, settings: Settings) -> None:
        self._settings = settings.opensearch
        self._client = connect(settings)
        self._publisher = Publisher(self._client, settings.opensearch)
        self._searcher = Searcher(self._client, settings.opensearch.prefix)

    def publish(
        self, connection: Connection | None, targets: Sequence[str], entries: Sequence[Entry]
    ) -> dict[UUID, Outcome]:
        """Writes entries. Those of one document may repeat; the newest counts."""
        del connection  # nothing of it is in PostgreSQL
        return self._publisher.publish(targets, entries)

    def version_of(self, connection: Connection, document_ids: Sequence[UUID]) -> dict[UUID, int]:
        """The versions of the live index."""
        live = indexes.live(connection)
        if live is None:
            raise IndexUnavailable("There is no live index in OpenSearch; run `fencepost migrate`.")
        states = reading.states_of(self._client, live.name, document_ids)
        return {state.document_id: state.version for state in states}

    def states_of(self, connection: Connection, index: str, document_ids: Sequence[UUID]) -> list[EntryState]:
        """What one index has of these documents."""
        del connection
        return reading.states_of(self._client, index, document_ids)

    def states_after(self, connection: Connection, index: str, after: UUID | None, limit: int) -> list[EntryState]:
        """The next entries in the order of document_id."""
        del connection
        return reading.states_after(self._client, index, after, limit)

    def remove(self, connection: Connection, index: str, state: EntryState) -> bool:
        """Removes an entry if it still is as told."""
        del connection
        return reading.remove(self._client, index, state)

    def purge_tombstone(self, connection: Connection, document_id: UUID, version: int) -> bool:
        """Forgets a deleted document in every index to which it was published."""
        return remove_everywhere(self, connection, EntryState(document_id, version, tombstone=True))

    def search(self, engine: Engine, request: SearchRequest) -> SearchPage:
        """One page of the documents that match."""
        return self._searcher.search(engine, request)

    def facets(self, engine: Engine, request: SearchRequest) -> Facets:
        """How many documents match, by collection, media type and language."""
        return self._searcher.facets(engine, request)

    def maintain(self, connection: Connection) -> None:
        """Nothing to do: the engine keeps house by itself."""

    def create(self, connection: Connection, index: PhysicalIndex) -> None:
        """Makes the index with its write alias."""
        del connection
        indices.create(self._client, index, self._settings)

    def make_live(self, connection: Connection, index: PhysicalIndex) -> None:
        """Leads the alias that searches read to this index."""
        ours = [one.identity for one in indexes.everyone(connection)]
        indices.make_live(self._client, index, self._settings.prefix, ours)

    def fingerprint_in(self, connection: Connection, index: PhysicalIndex) -> str | None:
        """What the index itself says."""
        del connection
        return indices.fingerprint_of(self._client, index)

    def drop(self, connection: Connection, index: PhysicalIndex) -> None:
        """Removes the index."""
        del connection
        indices.drop(self._client, index)

    def probe(self, targets: Sequence[str]) -> None:
        """Writes the entry of the probe, which no search and no verification sees."""
        for outcome in self._publisher.publish(targets, [PROBE]).values():
            raise IndexUnavailable(getattr(outcome, "message", "The index refuses the probe."))
