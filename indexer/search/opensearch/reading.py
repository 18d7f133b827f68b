"""What an index has, without its text: in real time by document, or in the order of documents."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from opensearchpy import OpenSearch
from opensearchpy.exceptions import ConflictError, NotFoundError

from indexer.search.backend import EntryState
from indexer.search.opensearch.connection import explaining
from pipeline.errors import IndexUnavailable

PROBE = UUID(int=0)
"""The document of the entry that only tries whether the engine takes a write."""
FIELDS = ["version", "tombstone"]


def states_of(client: OpenSearch, index: str, document_ids: Sequence[UUID]) -> list[EntryState]:
    """What the index has of these documents, in real time."""
    if not document_ids:
        return []
    with explaining():
        body = {"ids": [str(document_id) for document_id in document_ids]}
        docs = client.mget(index=index, body=body, _source_includes=FIELDS)["docs"]
    if any("error" in doc for doc in docs):
        raise IndexUnavailable(f"The index {index} is not in OpenSearch any more; `fencepost index rebuild` makes one.")
    return [_state(doc["_id"], doc["_source"]) for doc in docs if doc["found"]]


def states_after(client: OpenSearch, index: str, after: UUID | None, limit: int) -> list[EntryState]:
    """The next entries in the order of document_id, as they were at most a second ago; without the probe's."""
    body: dict[str, Any] = {
        "query": {"match_all": {}},
        "sort": [{"document_id": "asc"}],
        "search_after": [str(after or PROBE)],
        "size": limit,
        "track_total_hits": False,
        "_source": FIELDS,
    }
    with explaining():
        if after is None:
            client.indices.refresh(index=index)
        hits = client.search(index=index, body=body)["hits"]["hits"]
    return [_state(hit["_id"], hit["_source"]) for hit in hits]


def remove(client: OpenSearch, index: str, state: EntryState) -> bool:
    """Removes an entry if it still is as told at the moment of removal."""
    document_id = str(state.document_id)
    with explaining():
        try:
            found = client.get(index=index, id=document_id, _source_includes=FIELDS)
            if _state(document_id, found["_source"]) != state:
                return False
            guard = {"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]}
            client.delete(index=index, id=document_id, **guard)
        except (NotFoundError, ConflictError) as error:
            if error.error == "index_not_found_exception":
                raise
            return False
    return True


def _state(document_id: str, source: dict[str, Any]) -> EntryState:
    return EntryState(UUID(document_id), source["version"], source["tombstone"])
