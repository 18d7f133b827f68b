import pytest

from indexer.search.backend import SearchBackend
from indexer.search.postgres import Postgres
from tests.support.search_index import SearchIndex
from tests.support.servers import Database


@pytest.fixture(params=[Postgres()], ids=["postgres"])
def backend(request: pytest.FixtureRequest) -> SearchBackend:
    """Each search backend in turn."""
    chosen: SearchBackend = request.param
    return chosen


@pytest.fixture
def index(backend: SearchBackend, database: Database) -> SearchIndex:
    """An empty index."""
    return SearchIndex(backend, database.engine)
