"""What only the search backend in PostgreSQL has: transactions, estimates and bounds of its statements."""

import pytest

from indexer.search.postgres import Postgres
from tests.support.search_index import SearchIndex
from tests.support.servers import Database


@pytest.fixture
def index(database: Database) -> SearchIndex:
    """An empty index in PostgreSQL."""
    return SearchIndex(Postgres(), database.engine)
