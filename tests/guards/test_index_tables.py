"""An index that a rebuild makes has the very tables of the one that the migrations made."""

from sqlalchemy import Connection, text

from indexer.search.postgres import Postgres
from pipeline import indexes
from tests.support.world import World

COLUMNS = """
    SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attstorage, a.attcollation,
           pg_get_expr(d.adbin, d.adrelid), c.reloptions
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relnamespace = to_regnamespace(:schema) AND c.relkind = 'r' ORDER BY 1, 2
"""
INDEXES = "SELECT replace(indexdef, :schema, '') FROM pg_indexes WHERE schemaname = :schema ORDER BY 1"
CONSTRAINTS = """
    SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = to_regnamespace(:schema) AND contype <> 'n' ORDER BY 1
"""


def looks(connection: Connection, schema: str) -> list[list[tuple[object, ...]]]:
    parameters = {"schema": schema}
    return [
        [tuple(row) for row in connection.execute(text(sql), parameters)] for sql in (COLUMNS, INDEXES, CONSTRAINTS)
    ]


def test_a_new_index_looks_like_the_first(world: World):
    backend = Postgres()
    with world.engine.begin() as connection:
        new = indexes.begin(
            connection, backend="postgres", fingerprint=backend.fingerprint, prefix="fencepost", joint="_"
        )
        backend.create(connection, new)
        backend.create(connection, new)  # as after a crash
        first, second = looks(connection, "fencepost_1_1"), looks(connection, new.name)
    assert new.name == "fencepost_2_2"
    assert all(first)
    assert second == first
