"""An application that asks for keys, shared by the tests of a file."""

from collections.abc import Iterator

import pytest

from fencepost.local.postgres import LocalPostgres
from tests.support import servers, shelves
from tests.support.shelves import Scene


@pytest.fixture(scope="module")
def scene(postgres: LocalPostgres) -> Iterator[Scene]:
    with servers.fresh_database(postgres) as database, shelves.staged(database) as scene:
        yield scene
