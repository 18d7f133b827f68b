"""The application of a test, as its clients see it."""

from collections.abc import Iterator

import pytest
from httpx import Client

from tests.support import api
from tests.support.servers import Database


@pytest.fixture
def client(database: Database) -> Iterator[Client]:
    """Asks an application on this test's database."""
    with api.serving(database) as client:
        yield client
