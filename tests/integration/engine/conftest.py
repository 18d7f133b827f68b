"""OpenSearch from below: a real node with an index of the test's own, and a server that says what a node never says."""

from collections.abc import Iterator

import pytest

from fencepost.local.opensearch import LocalOpenSearch
from tests.support.node_index import NodeIndex
from tests.support.scripted_engine import ScriptedEngine


@pytest.fixture
def scripted() -> Iterator[ScriptedEngine]:
    """A server that answers as the test says."""
    with ScriptedEngine() as engine:
        yield engine


@pytest.fixture
def node(opensearch: LocalOpenSearch, index_prefix: str) -> Iterator[NodeIndex]:
    """An empty index on the node."""
    index = NodeIndex(opensearch.url, index_prefix)
    yield index
    index.http.close()
