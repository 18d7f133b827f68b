"""Collections: what one may be called, and the ids behind the names."""

import re

from sqlalchemy import Connection, text

from pipeline.errors import invalid

NAME = re.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def collection_name(name: str) -> str:
    """The name, if it can be one of a collection; raises Invalid."""
    if not NAME.fullmatch(name):
        raise invalid(
            "collection", "is 1 to 100 letters, digits, dots, dashes or underscores, the first a letter or digit"
        )
    return name


def collection_ids(connection: Connection, names: set[str]) -> dict[str, int]:
    """The id of each collection; those that are new are made."""
    find = text("SELECT name, collection_id FROM collections WHERE name = ANY(:names)")
    known = {row.name: row.collection_id for row in connection.execute(find, {"names": sorted(names)})}
    if names - known.keys():
        connection.execute(
            text("INSERT INTO collections (name) SELECT unnest(CAST(:names AS text[])) ON CONFLICT DO NOTHING"),
            {"names": sorted(names - known.keys())},
        )
        known = {row.name: row.collection_id for row in connection.execute(find, {"names": sorted(names)})}
    return known
