"""The scope of a request as conditions in SQL, with the words that a document must and must not have."""

from typing import NamedTuple

import orjson
from sqlalchemy import Connection, text

from indexer.search.scope import Scope, meanings
from indexer.search.statements import GATE
from indexer.search.terms import Terms, any_of

_SHELVES = text("""
    SELECT shelf_id FROM shelves
    WHERE (CAST(:collection_ids AS integer[]) IS NULL OR collection_id = ANY(:collection_ids))
      AND (CAST(:media_types AS text[]) IS NULL OR media_type = ANY(:media_types))
      AND (CAST(:languages AS text[]) IS NULL OR language = ANY(:languages))
""")


class Conditions(NamedTuple):
    """SQL for statements.py: expressions that come first, a condition on `x`, and the parameters of both."""

    gates: str
    condition: str
    parameters: dict[str, object]


def conditions(connection: Connection, scope: Scope, terms: Terms) -> Conditions:
    """The filters of a request, its excluded words and its quoted phrases."""
    parts = [_shelves(connection, scope), _metadata(scope), _excluded(terms), _required(terms)]
    return Conditions(
        "\n".join(part.gates for part in parts),
        " ".join(part.condition for part in parts),
        {name: value for part in parts for name, value in part.parameters.items()},
    )


_ANYTHING = Conditions("", "", {})


def _shelves(connection: Connection, scope: Scope) -> Conditions:
    """Collections, media types and languages."""
    if scope.collection_ids is None and not scope.media_types and not scope.languages:
        return _ANYTHING
    parameters = {
        "collection_ids": scope.collection_ids,
        "media_types": scope.media_types or None,
        "languages": scope.languages or None,
    }
    shelves = list(connection.scalars(_SHELVES, parameters))
    return Conditions("", "AND x.shelf_id = ANY(CAST(:shelves AS integer[]))", {"shelves": shelves})


def _metadata(scope: Scope) -> Conditions:
    """Every named field must have one of its values."""
    fields: list[str] = []
    parameters: dict[str, object] = {}
    for name, values in scope.metadata.items():
        forms = [form for value in values for form in _forms(name, value)]
        these = {f"metadata_{len(parameters) + i}": form for i, form in enumerate(forms)}
        fields.append(" OR ".join(f"e.metadata @> CAST(:{parameter} AS jsonb)" for parameter in these))
        parameters |= these
    if not fields:
        return _ANYTHING
    condition = " AND ".join(f"({field})" for field in fields)
    return Conditions(
        "", f"AND EXISTS (SELECT FROM entries e WHERE e.document_id = x.document_id AND {condition})", parameters
    )


def _forms(name: str, value: str) -> list[str]:
    """The JSON that a value may stand for, alone or as one of a list."""
    return [orjson.dumps({name: form}).decode() for one in meanings(value) for form in (one, [one])]


def _excluded(terms: Terms) -> Conditions:
    if not terms.excluded:
        return _ANYTHING
    condition = "AND x.document_id NOT IN (SELECT document_id FROM excluded)"
    return Conditions(GATE.format(name="excluded"), condition, {"excluded": any_of(terms.excluded)})


def _required(terms: Terms) -> Conditions:
    """Phrases that must be somewhere in the document; a phrase that is the whole query needs no gate."""
    if len(terms.clauses) == 1:
        return _ANYTHING
    phrases = {f"required_{i}": terms.anyone_of(bits) for i, bits in enumerate(terms.required)}
    conditions = (f"AND (x.document_id IN (SELECT document_id FROM {name})) IS TRUE" for name in phrases)
    return Conditions("\n".join(GATE.format(name=name) for name in phrases), " ".join(conditions), dict(phrases))
