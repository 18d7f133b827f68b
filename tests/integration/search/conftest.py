"""Each test here runs on both search backends, unless its file is of one of them."""

from typing import TYPE_CHECKING

import pytest

from indexer.search.backend import SearchBackend
from indexer.search.backends import backend as backend_of
from indexer.search.opensearch import OpenSearchBackend
from pipeline.settings import Settings
from tests.support.search_index import SearchIndex, make_live
from tests.support.servers import Database

if TYPE_CHECKING:
    from fencepost.local.opensearch import LocalOpenSearch


@pytest.fixture(params=["postgres", "opensearch"])
def kind(request: pytest.FixtureRequest) -> str:
    """Each search backend in turn."""
    return str(request.param)


@pytest.fixture
def configured(kind: str, request: pytest.FixtureRequest, database: Database) -> Settings:
    """The settings of an installation."""
    if kind == "postgres":
        return Settings(database_url=database.url)
    node: LocalOpenSearch = request.getfixturevalue("opensearch")
    prefix: str = request.getfixturevalue("index_prefix")
    return Settings(database_url=database.url, opensearch_url=node.url, opensearch={"prefix": prefix})


@pytest.fixture
def backend(configured: Settings) -> SearchBackend:
    """The search backend."""
    return backend_of(configured)


@pytest.fixture
def index(backend: SearchBackend, configured: Settings, database: Database) -> SearchIndex:
    """An empty index."""
    if not isinstance(backend, OpenSearchBackend):
        return SearchIndex(backend, database.engine)
    prefix = configured.opensearch.prefix
    make_live(backend, database.engine, prefix)
    return SearchIndex(backend, database.engine, lambda: backend._client.indices.refresh(index=prefix))
