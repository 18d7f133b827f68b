"""Connections to PostgreSQL, and the named statements in queries/*.sql.

A statement that takes part in a race lives in a file of its own whose first line says what it does and what guards
it. Everything else is written in SQLAlchemy Core where it is used.
"""

from functools import cache
from importlib.resources import files

from sqlalchemy import Engine, TextClause, create_engine, make_url, text
from sqlalchemy.exc import DBAPIError


def connect(url: str, *, size: int = 5, application: str = "fencepost", statement_seconds: float = 30) -> Engine:
    """An engine with a pool of `size` connections that are checked before use.

    A statement is cancelled after `statement_seconds`; a connection attempt is given up after 5 s.
    """
    address = make_url(url).set(drivername="postgresql+psycopg")
    return create_engine(
        address,
        pool_size=size,
        max_overflow=size,
        pool_pre_ping=True,
        pool_recycle=1800,
        connect_args={
            "connect_timeout": 5,
            "application_name": application,
            "options": f"-c timezone=UTC -c statement_timeout={round(statement_seconds * 1000)}"
            " -c idle_in_transaction_session_timeout=60000 -c jit=off",
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
        },
    )


def reason(error: DBAPIError) -> str:
    """What PostgreSQL or its driver said, in one line."""
    return str(error.orig).strip().partition("\n")[0]


@cache
def query(name: str, package: str = "pipeline") -> TextClause:
    """The statement in queries/<name>.sql of the package, with its parameters written `:name`."""
    return text((files(package) / "queries" / f"{name}.sql").read_text())
