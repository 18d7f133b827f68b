"""Connections to PostgreSQL, and the named statements in queries/*.sql.

A statement that takes part in a race lives in a file of its own whose first line says what it does and what guards
it. Everything else is written where it is used.
"""

from functools import cache
from importlib.resources import files

import orjson
from sqlalchemy import Engine, TextClause, create_engine, event, make_url, text
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

AWAY = (OperationalError, InterfaceError, PoolTimeout)
"""Errors that are about the state of PostgreSQL, or of our pool, and not about the statement."""

MOST_BIGINT = 2**63 - 1


def connect(
    url: str, *, size: int = 5, application: str = "fencepost", statement_seconds: float = 30, pooled: bool = False
) -> Engine:
    """An engine with a pool of `size` connections that are checked before use.

    A statement is cancelled after `statement_seconds`; a connection attempt is given up after 5 s. Through a
    transaction pooler (`pooled`) nothing may outlive a transaction: limits are set in each, and nothing is prepared.
    """
    limits = {
        "timezone": "UTC",
        "statement_timeout": str(round(statement_seconds * 1000)),
        "idle_in_transaction_session_timeout": "60000",
        "jit": "off",
    }
    session: dict[str, object] = {"options": " ".join(f"-c {name}={value}" for name, value in limits.items())}
    engine = create_engine(
        make_url(url).set(drivername="postgresql+psycopg"),
        pool_size=size,
        max_overflow=size,
        pool_pre_ping=True,
        pool_recycle=1800,
        json_deserializer=orjson.loads,  # json would make an integer of 1e300, which orjson.dumps refuses
        connect_args={
            "connect_timeout": 5,
            "application_name": application,
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            **({"prepare_threshold": None} if pooled else session),
        },
    )
    if pooled:
        set_limits = "; ".join(f"SET LOCAL {name} = '{value}'" for name, value in limits.items())
        # Past SQLAlchemy, whose empty list of parameters would allow one statement only.
        event.listen(engine, "begin", lambda connection: connection.connection.cursor().execute(set_limits))
    return engine


def reason(error: DBAPIError) -> str:
    """What PostgreSQL or its driver said, in one line."""
    return str(error.orig).strip().partition("\n")[0]


@cache
def query(name: str, package: str = "pipeline") -> TextClause:
    """The statement in queries/<name>.sql of the package, with its parameters written `:name`."""
    return text((files(package) / "queries" / f"{name}.sql").read_text())
