"""A physical index in PostgreSQL: a schema with the tables of one index. The transaction chooses it."""

from sqlalchemy import Connection, text

from indexer.search import PACKAGE
from pipeline.database import query
from pipeline.errors import IndexUnavailable

_CHOOSE = text("SELECT set_config('search_path', quote_ident(:name) || ', public', true)")
_CHOOSE_LIVE = text("""
    SELECT set_config('search_path', quote_ident(name) || ', public', true)
    FROM search_indexes WHERE state = 'live' AND backend = 'postgres'
""")


def choose(connection: Connection, name: str) -> None:
    """Until the end of the transaction, `entries` and `passages` are those of this index."""
    connection.execute(_CHOOSE, {"name": name})


def choose_live(connection: Connection) -> None:
    """Chooses the index that is searched. Raises IndexUnavailable when there is none in PostgreSQL."""
    if connection.execute(_CHOOSE_LIVE).first() is None:
        raise IndexUnavailable("There is no live index in PostgreSQL; run `fencepost migrate`.")


def create(connection: Connection, name: str) -> None:
    """Makes the schema with empty tables, if it is not there."""
    if not exists(connection, name):
        connection.execute(text(f"CREATE SCHEMA {_quoted(connection, name)}"))
        choose(connection, name)
        connection.execute(query("create_index", PACKAGE))


def exists(connection: Connection, name: str) -> bool:
    """Whether there is such an index."""
    found = connection.execute(text("SELECT to_regnamespace(:quoted)"), {"quoted": _quoted(connection, name)})
    return found.scalar() is not None


def drop(connection: Connection, name: str) -> None:
    """Removes the schema with all in it."""
    connection.execute(text(f"DROP SCHEMA IF EXISTS {_quoted(connection, name)} CASCADE"))


def _quoted(connection: Connection, name: str) -> str:
    return connection.dialect.identifier_preparer.quote_identifier(name)
