"""An installation whose documents are published to a real OpenSearch."""

from dataclasses import dataclass
from uuid import UUID

import httpx

from fencepost.local.opensearch import LocalOpenSearch
from indexer.search.backend import EntryState
from indexer.search.opensearch import OpenSearchBackend
from pipeline import indexes
from pipeline.indexes import IndexState
from pipeline.settings import Settings
from tests.support.world import World


@dataclass
class NodeIndex:
    """The live index of a world, and the variables with which processes publish to it."""

    backend: OpenSearchBackend
    world: World
    name: str
    variables: dict[str, str]
    client: httpx.Client

    def states(self) -> dict[UUID, EntryState]:
        """Everything that is in the index."""
        self.client.post(f"/{self.name}/_refresh").raise_for_status()
        with self.world.engine.connect() as connection:
            found = self.backend.states_after(connection, self.name, None, 10_000)
        return {state.document_id: state for state in found}

    def block(self, name: str, *, is_on: bool) -> None:
        """Sets or removes a block of the index."""
        setting = {f"index.blocks.{name}": is_on or None}
        self.client.put(f"/{self.name}/_settings", json=setting).raise_for_status()

    def check(self) -> None:
        """The index has the published version of every document, and nothing else."""
        rows = self.world.rows(
            "SELECT document_id, published_version, deleted FROM documents WHERE published_version > 0"
        )
        expected = {row["document_id"]: (row["published_version"], row["deleted"]) for row in rows}
        assert {state.document_id: (state.version, state.tombstone) for state in self.states().values()} == expected


def install(world: World, node: LocalOpenSearch, prefix: str) -> NodeIndex:
    """Makes an index on the node and puts it in the place of the one in PostgreSQL."""
    variables = {"FENCEPOST_OPENSEARCH_URL": node.url, "FENCEPOST_OPENSEARCH__PREFIX": prefix}
    backend = OpenSearchBackend(Settings(opensearch_url=node.url, opensearch={"prefix": prefix}))
    with world.engine.begin() as connection:
        old = indexes.live(connection)
        assert old is not None
        new = indexes.begin(connection, backend=backend.kind, fingerprint=backend.fingerprint, prefix=prefix, joint="-")
        backend.create(connection, new)
        indexes.change(connection, {old.index_id: IndexState.RETIRED, new.index_id: IndexState.LIVE})
        backend.make_live(connection, new)
    client = httpx.Client(base_url=node.url, trust_env=False, timeout=30)
    return NodeIndex(backend, world, new.name, variables, client)
