"""Real processes for all tests of one module, where each test only looks at what they did.

They have the broker for themselves: no other test of that module may use it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from fencepost.local.postgres import LocalPostgres
from fencepost.local.valkey import LocalValkey
from tests.support import servers
from tests.support.stack import Stack, running
from tests.support.world import World


@contextmanager
def shared(postgres: LocalPostgres, valkey: LocalValkey) -> Iterator[tuple[World, Stack]]:
    """A world and a stack without processes, on a database and a broker of their own."""
    with (
        servers.fresh_database(postgres) as database,
        servers.fresh_broker(valkey) as broker_url,
        TemporaryDirectory(prefix="fencepost-stack-") as folder,
        running(database.url, broker_url, Path(folder)) as stack,
    ):
        yield World(database.engine), stack
