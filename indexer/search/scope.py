"""What a request may see: the one place that resolves the filters, above all the collections, for every backend."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import orjson
from sqlalchemy import Connection, text

from indexer.search.backend import SearchRequest

_COLLECTIONS = text("SELECT collection_id FROM collections WHERE name = ANY(:names)")


class Scope(NamedTuple):
    """The only documents that may be found. Of metadata every named field must have one of its values."""

    collection_ids: Sequence[int] | None
    """None = all; of a name that is no collection there is none."""
    media_types: Sequence[str]
    """Empty = all."""
    languages: Sequence[str]
    """The same."""
    metadata: Mapping[str, Sequence[str]]


def scope_of(connection: Connection, request: SearchRequest) -> Scope:
    """The filters of a request."""
    return Scope(
        None if request.collections is None else _collection_ids(connection, request.collections),
        sorted(request.media_types),
        sorted(request.languages),
        {name: sorted(values) for name, values in sorted(request.metadata.items())},
    )


def meanings(value: str) -> list[str | float | bool]:
    """What a text in a filter may stand for: itself, and a number or a truth value."""
    try:
        parsed = orjson.loads(value)
    except orjson.JSONDecodeError:
        return [value]
    return [value, parsed] if isinstance(parsed, int | float) else [value]


def _collection_ids(connection: Connection, names: frozenset[str]) -> list[int]:
    return sorted(connection.scalars(_COLLECTIONS, {"names": sorted(names)})) if names else []
