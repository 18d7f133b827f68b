"""What a request may see: the one place that holds the filters, above all the collections."""

from typing import NamedTuple

import orjson
from sqlalchemy import Connection, text

from indexer.search.backend import SearchRequest
from indexer.search.statements import GATE
from indexer.search.terms import Terms

_SHELVES = text("""
    SELECT shelf_id FROM shelves JOIN collections USING (collection_id)
    WHERE (CAST(:collections AS text[]) IS NULL OR name = ANY(:collections))
      AND (CAST(:media_types AS text[]) IS NULL OR media_type = ANY(:media_types))
""")


class Scope(NamedTuple):
    """SQL for statements.py: expressions that come first, a condition on `x`, and the parameters of both."""

    gates: str
    condition: str
    parameters: dict[str, object]


def scope_of(connection: Connection, request: SearchRequest, terms: Terms) -> Scope:
    """The filters of a request, its excluded words and its quoted phrases."""
    parts = [_shelves(connection, request), _metadata(request), _excluded(terms), _required(terms)]
    return Scope(
        "\n".join(part.gates for part in parts),
        " ".join(part.condition for part in parts),
        {name: value for part in parts for name, value in part.parameters.items()},
    )


_ANYTHING = Scope("", "", {})


def _shelves(connection: Connection, request: SearchRequest) -> Scope:
    """Collections and media types."""
    if request.collections is None and not request.media_types:
        return _ANYTHING
    collections = None if request.collections is None else sorted(request.collections)
    parameters = {"collections": collections, "media_types": sorted(request.media_types) or None}
    shelves = list(connection.scalars(_SHELVES, parameters))
    return Scope("", "AND x.shelf_id = ANY(CAST(:shelves AS integer[]))", {"shelves": shelves})


def _metadata(request: SearchRequest) -> Scope:
    """Every named field must have one of its values."""
    fields: list[str] = []
    parameters: dict[str, object] = {}
    for name, values in sorted(request.metadata.items()):
        forms = [form for value in sorted(values) for form in _forms(name, value)]
        these = {f"metadata_{len(parameters) + i}": form for i, form in enumerate(forms)}
        fields.append(" OR ".join(f"e.metadata @> CAST(:{parameter} AS jsonb)" for parameter in these))
        parameters |= these
    if not fields:
        return _ANYTHING
    condition = " AND ".join(f"({field})" for field in fields)
    return Scope(
        "", f"AND EXISTS (SELECT FROM entries e WHERE e.document_id = x.document_id AND {condition})", parameters
    )


def _forms(name: str, value: str) -> list[str]:
    """The JSON that a value may stand for: itself, a number or a truth value, or one of a list."""
    values: list[object] = [value]
    try:
        parsed = orjson.loads(value)
    except orjson.JSONDecodeError:
        parsed = None
    if isinstance(parsed, (int, float)):
        values.append(parsed)
    return [orjson.dumps({name: form}).decode() for one in values for form in (one, [one])]


def _excluded(terms: Terms) -> Scope:
    if terms.excluded is None:
        return _ANYTHING
    condition = "AND x.document_id NOT IN (SELECT document_id FROM excluded)"
    return Scope(GATE.format(name="excluded"), condition, {"excluded": terms.excluded})


def _required(terms: Terms) -> Scope:
    """Phrases that must be somewhere in the document; a phrase that is the whole query needs no gate."""
    if len(terms.clauses) == 1:
        return _ANYTHING
    phrases = {f"required_{i}": terms.anyone_of(bits) for i, bits in enumerate(terms.required)}
    conditions = (f"AND (x.document_id IN (SELECT document_id FROM {name})) IS TRUE" for name in phrases)
    return Scope("\n".join(GATE.format(name=name) for name in phrases), " ".join(conditions), dict(phrases))
