"""The real servers of the test session.

Fixtures (declared in tests/conftest.py):

- `postgres`: the session's LocalPostgres; `.restart()`, `.stop()`, `.kill()`, `.start()`, `.url`, `.pid`.
- `valkey`: the session's LocalValkey, with the same methods.
- `database`: a `Database` of this test alone, migrated and empty: `.engine` (SQLAlchemy) and `.url`.
- `broker_url`: the address of a Valkey database of this test alone, empty before and after.
- `opensearch`: the session's LocalOpenSearch, started by the first test that wants it; the same methods.
- `index_prefix`: a beginning for the names of this test's indexes, aliases and templates, which are removed afterwards,
  like its cluster settings and points in time. A test that makes other names removes them itself.

A test that stops a server starts it again before it ends; the fixtures do it if the test failed in between.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

import httpx
import redis
from psycopg.errors import InsufficientPrivilege
from sqlalchemy import Engine, make_url, text
from sqlalchemy.exc import ProgrammingError

from fencepost.local.opensearch import LocalOpenSearch
from fencepost.local.postgres import LocalPostgres
from fencepost.local.server import LocalServer
from fencepost.local.valkey import LocalValkey
from pipeline.database import connect
from pipeline.schema import migrate
from tests.support.waiting import until

TEMPLATE = "migrated"
# Nothing of a test outlives a power cut. fsync is only left out here.
FAST = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "on", "autovacuum_naptime": "5s"}
# The quick compiler alone: a third less time to start, and tests index little.
QUICK_JAVA = ("-XX:TieredStopAtLevel=1",)
_numbers = count(1)


@dataclass(frozen=True)
class Database:
    """A database of one test: its engine, and its address for processes that the test starts."""

    engine: Engine
    url: str


def prepare_template(postgres: LocalPostgres) -> None:
    """Makes the migrated database that those of the tests are copied from."""
    _administer(postgres, f"CREATE DATABASE {TEMPLATE}")
    engine = connect(_address(postgres, TEMPLATE))
    migrate(engine)
    engine.dispose()


@contextmanager
def fresh_database(postgres: LocalPostgres) -> Iterator[Database]:
    """A migrated, empty database that is dropped afterwards, whoever is still connected to it."""
    name = f"test_{next(_numbers)}"
    ensure_running(postgres)
    _administer(postgres, f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY file_copy")
    url = _address(postgres, name)
    engine = connect(url, size=10)
    try:
        yield Database(engine, url)
    finally:
        engine.dispose()
        ensure_running(postgres)
        until(lambda: _is_dropped(postgres, name), what=f"the end of database {name}")


@contextmanager
def fresh_broker(valkey: LocalValkey) -> Iterator[str]:
    """The address of an emptied Valkey database; the whole server is emptied afterwards and has its default limits."""
    ensure_running(valkey)
    with redis.Redis.from_url(valkey.url) as client:
        client.flushall()
        yield valkey.url
        ensure_running(valkey)
        client.config_set("maxmemory", valkey.memory)
        client.flushall()


@contextmanager
def fresh_prefix(opensearch: LocalOpenSearch) -> Iterator[str]:
    """A prefix of names; whatever begins with it is removed afterwards, and the cluster's settings are reset."""
    prefix = f"test-{next(_numbers)}"
    ensure_running(opensearch)
    yield prefix
    ensure_running(opensearch)
    with httpx.Client(base_url=opensearch.url, trust_env=False, timeout=30) as client:
        for block in ("read_only", "read_only_allow_delete"):  # while there is one, nothing else may be set
            client.put("/_cluster/settings", json={"persistent": {f"cluster.blocks.{block}": None}}).raise_for_status()
        everything = {"persistent": {"*": None}, "transient": {"*": None}}
        client.put("/_cluster/settings", json=everything).raise_for_status()
        client.put(f"/{prefix}*/_settings", json={"index.blocks.read_only": None})  # 404 when there is none
        client.delete("/_search/point_in_time/_all").raise_for_status()
        client.delete(f"/_index_template/{prefix}*")
        client.delete(f"/{prefix}*?expand_wildcards=all").raise_for_status()


def ensure_running(server: LocalServer) -> None:
    """Starts a server that a test has stopped."""
    if server.process is None or server.process.poll() is not None:
        server.start()


def _is_dropped(postgres: LocalPostgres, name: str) -> bool:
    """Drops a database; False while an autovacuum worker, which we may not end, looks at it."""
    try:
        _administer(postgres, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    except ProgrammingError as error:
        if isinstance(error.orig, InsufficientPrivilege):
            return False
        raise
    return True


def _administer(postgres: LocalPostgres, statement: str) -> None:
    engine = connect(postgres.url)
    try:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(statement))
    finally:
        engine.dispose()


def _address(postgres: LocalPostgres, database: str) -> str:
    return make_url(postgres.url).set(database=database).render_as_string(hide_password=False)
