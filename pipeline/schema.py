"""Brings the database to the schema of this release, and tells whether it is there."""

from pathlib import Path

from alembic import command, op
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, text

FOLDER = Path(__file__).parent / "migrations"
LOCK = 0x46504D47  # "FPMG": two migrating processes take turns


def migrate(engine: Engine) -> tuple[str | None, str]:
    """Runs what is missing; returns (revision before, revision after).

    A lock that cannot be had within 4 s stops the migration, so that it never queues behind traffic.
    """
    with engine.connect() as connection:
        connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": LOCK})
        try:
            before = current(engine)
            connection.execute(text("SET lock_timeout = '4s'"))
            connection.commit()
            command.upgrade(_config(connection), "head")
            return before, newest()
        finally:
            connection.rollback()
            connection.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": LOCK})
            connection.execute(text("RESET lock_timeout"))
            connection.commit()


def current(engine: Engine) -> str | None:
    """The revision of the database, None when it is empty."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def newest() -> str:
    """The revision that this release needs."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    assert head is not None  # noqa: S101 - the package contains migrations
    return head


def run_file(name: str) -> None:
    """Runs one SQL file of the versions folder (called by the migrations)."""
    op.get_bind().exec_driver_sql((FOLDER / "versions" / name).read_text())


def _config(connection: object = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    config.attributes["connection"] = connection
    return config
