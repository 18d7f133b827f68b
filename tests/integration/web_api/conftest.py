from collections.abc import Iterator

import pytest
from httpx import Client

from tests.support import api
from tests.support.servers import Database
from tests.support.world import World


@pytest.fixture
def client(database: Database) -> Iterator[Client]:
    """Asks an application on this test's database."""
    with api.serving(database) as client:
        yield client


@pytest.fixture
def world(database: Database) -> World:
    """The same database, behind the application's back."""
    return World(database.engine)
