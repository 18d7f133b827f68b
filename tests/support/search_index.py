"""An index under test: documents go in with a few words, hits come out by key. Any backend can stand behind it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Engine, text

from indexer.extract.types import Passage
from indexer.search.backend import Entry, Facets, Hit, SearchBackend, SearchPage, SearchRequest, Sort
from indexer.search.languages import Languages
from pipeline import indexes
from pipeline.indexes import IndexState, PhysicalIndex
from tests.support.entries import BEGINNING, entry


def make_live(backend: SearchBackend, engine: Engine, prefix: str) -> PhysicalIndex:
    """Makes an empty index in the place of the one that is live."""
    with engine.begin() as connection:
        old = indexes.live(connection)
        assert old is not None
        new = indexes.begin(connection, backend=backend.kind, fingerprint=backend.fingerprint, prefix=prefix, joint="-")
        backend.create(connection, new)
        backend.make_live(connection, new)
        indexes.change(connection, {old.index_id: IndexState.RETIRED, new.index_id: IndexState.LIVE})
    return new


@dataclass
class SearchIndex:
    """A search backend with a database of its own. `refresh` makes what was published visible to searches."""

    backend: SearchBackend
    engine: Engine
    refresh: Callable[[], None] = lambda: None
    is_fresh: bool = True
    ids: dict[str, UUID] = field(default_factory=dict)
    numbers: "count[int]" = field(default_factory=count)

    def entry(self, key: str, body: str | Sequence[Passage], /, *, version: int = 1, **fields: Any) -> Entry:
        """A document that is known by its key; each newer than the one before."""
        document_id = self.ids.setdefault(key, uuid4())
        accepted_at = BEGINNING + timedelta(seconds=next(self.numbers))
        return entry(body, version, document_id=document_id, **{"key": key, "accepted_at": accepted_at} | fields)

    def add(self, key: str, body: str | Sequence[Passage], /, *, version: int = 1, **fields: Any) -> bool:
        """Publishes one document; returns whether the index took it."""
        return not self.publish(self.entry(key, body, version=version, **fields))

    def delete(self, key: str, *, version: int) -> bool:
        """Publishes a tombstone; returns whether the index took it."""
        return self.add(key, (), version=version, tombstone=True, key=None)

    def publish(self, *entries: Entry) -> set[UUID]:
        """Publishes in one transaction; returns what was refused."""
        self.is_fresh = False
        Languages(self.engine).note(entry.language for entry in entries)
        with self.engine.begin() as connection:
            return set(self.backend.publish(connection, indexes.targets(connection), entries))

    def visible(self) -> None:
        """Waits until searches find what was published."""
        if not self.is_fresh:
            self.refresh()
            self.is_fresh = True

    def search(self, query: str, **request: Any) -> SearchPage:
        """One page."""
        self.visible()
        return self.backend.search(self.engine, SearchRequest(query, **request))

    def facets(self, query: str, **request: Any) -> Facets:
        """What is known of all that is found."""
        self.visible()
        return self.backend.facets(self.engine, SearchRequest(query, **request))

    def find(self, query: str, **request: Any) -> list[str]:
        """The keys of the first hits, in their order."""
        return [hit.key or "" for hit in self.search(query, **{"limit": 100, **request}).hits]

    def only(self, query: str, **request: Any) -> Hit:
        """The one document that is found."""
        (hit,) = self.search(query, **request).hits
        return hit

    def walk(self, query: str, *, limit: int, sort: Sort = Sort.RELEVANCE) -> list[Hit]:
        """All hits, page by page."""
        hits: list[Hit] = []
        cursor = None
        while True:
            page = self.search(query, limit=limit, sort=sort, cursor=cursor)
            hits += page.hits
            cursor = page.next
            if cursor is None:
                return hits
            assert len(page.hits) == limit

    def version_of(self, key: str) -> int | None:
        """The version that the index has."""
        with self.engine.connect() as connection:
            return self.backend.version_of(connection, [self.ids[key]]).get(self.ids[key])

    def collection(self, name: str) -> int:
        """The id of a new collection."""
        with self.engine.begin() as connection:
            statement = text("INSERT INTO collections (name) VALUES (:name) RETURNING collection_id")
            return int(connection.execute(statement, {"name": name}).scalar_one())
