"""What the fault tests share: a stack of real processes that ends with the test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.servers import Database
from tests.support.stack import Stack, running


@pytest.fixture
def stack(database: Database, broker_url: str, tmp_path: Path) -> Iterator[Stack]:
    """Real processes under default settings."""
    with running(database.url, broker_url, tmp_path) as stack:
        yield stack
