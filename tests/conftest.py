"""Fixtures for all tests; tests/support/servers.py says what each gives."""

import signal
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

from fencepost.local.opensearch import LocalOpenSearch
from fencepost.local.postgres import LocalPostgres
from fencepost.local.valkey import LocalValkey
from tests.support import indexing, kinds, leaks, servers
from tests.support.indexing import Library
from tests.support.kinds import OtherKinds
from tests.support.servers import Database
from tests.support.world import World

# A busy machine is slow, and that is no mistake of the code.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("patient", PATIENT)
settings.register_profile("soak", PATIENT, max_examples=300)
settings.load_profile("patient")


def pytest_sessionstart() -> None:
    """A run that is told to stop tears its fixtures down, as after Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    leaks.adopt_orphans()


@pytest.fixture(scope="session", autouse=True)
def _nothing_left_behind() -> Iterator[None]:
    """Fails the run when a process that a test started still lives at its end."""
    yield
    left = leaks.descendants()
    leaks.end(left)
    assert not left, f"processes left behind: {left}"


@pytest.fixture(scope="session")
def server_folder() -> Iterator[Path]:
    """A private folder for the servers of the session, removed at its end."""
    with TemporaryDirectory(prefix="fencepost-tests-") as folder:
        yield Path(folder)


@pytest.fixture
def enterable_folder() -> Iterator[Path]:
    """An empty folder that the servers' user may enter."""
    with servers.open_folder() as folder:
        yield folder


@pytest.fixture
def other_kinds() -> Iterator[OtherKinds]:
    """The kinds that can be read, to be changed by this test."""
    with kinds.changing() as changed:
        yield changed


@pytest.fixture(scope="session")
def postgres(server_folder: Path) -> Iterator[LocalPostgres]:
    """The session's PostgreSQL."""
    with LocalPostgres(server_folder, servers.FAST) as server:
        servers.prepare_template(server)
        yield server


@pytest.fixture(scope="session")
def valkey(server_folder: Path) -> Iterator[LocalValkey]:
    """The session's Valkey."""
    with LocalValkey(server_folder) as server:
        yield server


@pytest.fixture(scope="session")
def opensearch(server_folder: Path) -> Iterator[LocalOpenSearch]:
    """The session's OpenSearch, with half a gigabyte of heap."""
    with LocalOpenSearch(server_folder, options=servers.QUICK_JAVA) as server:
        yield server


@pytest.fixture
def index_prefix(opensearch: LocalOpenSearch) -> Iterator[str]:
    """A prefix for the names of this test's indexes, which are removed afterwards."""
    with servers.fresh_prefix(opensearch) as prefix:
        yield prefix


@pytest.fixture
def database(postgres: LocalPostgres) -> Iterator[Database]:
    """A migrated, empty database of this test alone."""
    with servers.fresh_database(postgres) as fresh:
        yield fresh


@pytest.fixture
def world(database: Database) -> World:
    """Documents and jobs of this test's database, seen and moved by hand."""
    return World(database.engine)


@pytest.fixture
def broker_url(valkey: LocalValkey) -> Iterator[str]:
    """The address of a broker of this test alone."""
    with servers.fresh_broker(valkey) as url:
        yield url


@pytest.fixture(params=["postgres", "opensearch"])
def library(request: pytest.FixtureRequest, world: World) -> Library:
    """Documents and their index, in each search backend in turn."""
    if request.param == "postgres":
        return indexing.installed(world, None)
    return indexing.installed(world, request.getfixturevalue("opensearch"), request.getfixturevalue("index_prefix"))
