import pytest

from indexer.search.backend import SearchBackend
from indexer.search.postgres import Postgres
from tests.support.indexing import Library
from tests.support.world import World


@pytest.fixture(params=[Postgres()], ids=["postgres"])
def backend(request: pytest.FixtureRequest) -> SearchBackend:
    """Each search backend in turn."""
    chosen: SearchBackend = request.param
    return chosen


@pytest.fixture
def library(world: World, backend: SearchBackend) -> Library:
    """Documents and their index."""
    return Library(world, backend)
