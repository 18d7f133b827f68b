"""The real PostgreSQL and Valkey of one machine."""

import redis
from sqlalchemy import text

from fencepost.local.postgres import LocalPostgres
from fencepost.local.valkey import LocalValkey
from tests.support.servers import Database


def test_a_fresh_database_is_migrated_empty_and_not_a_superusers(database: Database) -> None:
    with database.engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM jobs")) == 0
        assert connection.scalar(text("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")) is False
        assert connection.scalar(text("SHOW server_version")).startswith("18.")


def test_postgres_restarts_and_survives_a_kill_on_the_same_address(postgres: LocalPostgres, database: Database) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("INSERT INTO tallies VALUES ('kept', 7)"))
    url, pid = postgres.url, postgres.pid
    postgres.restart()
    postgres.kill()
    postgres.start()
    assert (postgres.url, postgres.pid == pid) == (url, False)
    with database.engine.connect() as connection:
        assert connection.scalar(text("SELECT count FROM tallies WHERE name = 'kept'")) == 7


def test_valkey_refuses_what_does_not_fit_and_forgets_on_restart(valkey: LocalValkey, broker_url: str) -> None:
    with redis.Redis.from_url(broker_url) as client:
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        client.set("kept", 1)
        valkey.restart()
        assert client.get("kept") is None
