"""An index on a real OpenSearch, published to and looked at from below."""

from typing import TYPE_CHECKING, Any, cast
from uuid import UUID, uuid4

import httpx

from indexer.search.backend import Entry, EntryState
from indexer.search.opensearch import OpenSearchBackend
from indexer.search.stems import stems
from pipeline.indexes import IndexState, PhysicalIndex
from pipeline.outcomes import Outcome
from pipeline.settings import OpenSearch, Settings

if TYPE_CHECKING:
    from sqlalchemy import Connection

NOWHERE = cast("Connection", None)
"""For what the backend does in OpenSearch alone."""


def backend_of(url: str, **group: Any) -> OpenSearchBackend:
    """A backend with these settings of OpenSearch."""
    return OpenSearchBackend(Settings(opensearch_url=url, opensearch=OpenSearch(**group)))


def physical(prefix: str, number: int = 1) -> PhysicalIndex:
    """An index of ours, as the registry would have it."""
    fingerprint = OpenSearchBackend.fingerprint
    name = f"{prefix}-{fingerprint}-{number}"
    return PhysicalIndex(number, "opensearch", name, fingerprint, uuid4(), IndexState.CREATING)


class NodeIndex:
    """A backend and one physical index, which is made at once unless another one's is given."""

    def __init__(self, url: str, prefix: str, index: PhysicalIndex | None = None, **group: Any) -> None:
        self.url, self.prefix = url, prefix
        self.backend = backend_of(url, prefix=prefix, **group)
        self.physical = index or physical(prefix)
        self.name = self.physical.name
        self.http = httpx.Client(base_url=url, trust_env=False, timeout=30)
        self.backend.create(NOWHERE, self.physical)

    def publish(self, *entries: Entry) -> dict[UUID, Outcome]:
        """Publishes; returns what was not written."""
        return self.backend.publish(None, [self.name], entries)

    def state(self, document_id: UUID) -> EntryState | None:
        """What the index has of a document."""
        return next(iter(self.backend.states_of(NOWHERE, self.name, [document_id])), None)

    def found(self, word: str, field: str = "passages.words") -> list[UUID]:
        """The documents that are no tombstones and have the word in one of its forms, after a refresh."""
        query: dict[str, Any] = {"match_phrase": {field: stems(word, None)}}
        if field.startswith("passages."):
            query = {"nested": {"path": "passages", "query": query}}
        body = {"query": {"bool": {"must": query, "filter": {"term": {"tombstone": False}}}}}
        self.ask("POST", f"/{self.name}/_refresh")
        return [UUID(hit["_id"]) for hit in self.ask("POST", f"/{self.name}/_search", body)["hits"]["hits"]]

    def settings(self, **settings: object) -> None:
        """Changes settings of the index."""
        self.ask("PUT", f"/{self.name}/_settings", {name.replace("__", "."): value for name, value in settings.items()})

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Asks the node itself."""
        return self.http.request(method, path, json=body).raise_for_status().json()
