"""Searching in PostgreSQL: understand ─▶ rank a bounded set of candidates ─▶ count ─▶ show the page."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, TextClause, text

from indexer.search import statements
from indexer.search.backend import EXACT_TOTAL, Facets, FacetValue, SearchPage, SearchRequest, Sort, most_first
from indexer.search.cursor import Cursor, Weights
from indexer.search.postgres_hits import Found, show
from indexer.search.postgres_scope import Conditions, conditions
from indexer.search.query import parse
from indexer.search.scope import scope_of
from indexer.search.statistics import statistics
from indexer.search.terms import Terms, look_up

MOST_CANDIDATES = 2000
"""Matching rows from which the ranked hits are taken."""
POOL = 250
"""Candidates that are scored by BM25; the others follow in the order of which terms they have."""
COUNTED_FIRST = 12_000
MOST_COUNTED = 60_000
"""Matching rows that are counted, and can be paged through; most searches need the first thousands only."""

_SCORE = re.compile(r"[0-9]{1,9}(\.[0-9]{1,4})?")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?\+00")
"""As PostgreSQL writes it; Python understands more ways of writing a time than PostgreSQL does."""
_PLANNED_ANEW = text("SET LOCAL plan_cache_mode = force_custom_plan")  # a generic plan costs five times as much
_SHELVES = text("""
    SELECT s.shelf_id, c.name AS collection, s.media_type, s.language
    FROM shelves s JOIN collections c USING (collection_id)
    WHERE s.shelf_id = ANY(:shelves)
""")


@dataclass(frozen=True, slots=True)
class _Counted:
    """How many documents match, by shelf; `truncated` when there are more."""

    shelves: Mapping[str, int]
    truncated: bool

    @property
    def total(self) -> int:
        return sum(self.shelves.values())

    @property
    def is_capped(self) -> bool:
        return self.truncated or self.total > EXACT_TOTAL


@dataclass(frozen=True, slots=True)
class _Listing:
    """The documents of a page, and where the next one begins."""

    found: list[Found]
    next: Cursor | None
    counted: _Counted


@dataclass(frozen=True, slots=True)
class _Search:
    """A request that has been understood."""

    connection: Connection
    request: SearchRequest
    cursor: Cursor
    terms: Terms
    conditions: Conditions

    def run(self, statement: str, **parameters: object) -> list[Row[tuple[Any, ...]]]:
        """Executes one of `statements` with the conditions in their place."""
        sql = _text(statement.format(gates=self.conditions.gates, scope=self.conditions.condition))
        bounds = {"most": MOST_CANDIDATES, "most_counted": MOST_COUNTED, "limit": self.request.limit + 1}
        return list(self.connection.execute(sql, {**self.conditions.parameters, **bounds, **parameters}))


def search(connection: Connection, request: SearchRequest) -> SearchPage:
    """One page of the documents that match. Raises Invalid for a query or a cursor that cannot be."""
    asked = _understood(connection, request)
    listing = _ranked(asked) if request.sort is Sort.RELEVANCE else _ordered(asked)
    return SearchPage(
        total=min(listing.counted.total, EXACT_TOTAL),
        total_capped=listing.counted.is_capped,
        hits=show(connection, asked.terms, listing.found),
        facets=_facets(connection, listing.counted.shelves),
        next=None if listing.next is None else str(listing.next),
    )


def facets(connection: Connection, request: SearchRequest) -> Facets:
    """How many documents match. Raises Invalid for a query that cannot be."""
    counted = _counted(_understood(connection, request))
    return Facets(_facets(connection, counted.shelves), counted.is_capped)


def _understood(connection: Connection, request: SearchRequest) -> _Search:
    cursor = Cursor.of(request, _is_place)
    connection.execute(_PLANNED_ANEW)
    terms = look_up(connection, parse(request.text), with_shares=True)
    scope = conditions(connection, scope_of(connection, request), terms)
    return _Search(connection, request, cursor, terms, scope)


def _ranked(asked: _Search) -> _Listing:
    """The page in order of relevance: candidates first, then what else matches."""
    weights = asked.cursor.weights or _weights(asked)
    if asked.cursor.stage == "rest":
        return _rest(asked, weights, [], _counted(asked))
    rows = asked.run(statements.RANKED, **_arms(asked.terms, weights), **_position(asked.cursor), pool=POOL)
    counted = _counted(asked) if rows[0].truncated else _Counted(rows[0].shelves or {}, truncated=False)
    weights = Weights(**{**weights.model_dump(), "dfs": dict(zip(_tsqueries(asked.terms), rows[0].dfs, strict=True))})
    found = [_found(row) for row in rows if row.document_id is not None]
    if len(found) > asked.request.limit:
        last = found[asked.request.limit - 1]
        place = asked.cursor.then("ranked", str(last.score), last.document_id, weights=weights)
        return _Listing(found[:-1], place, counted)
    return _rest(asked, weights, found, counted) if rows[0].truncated else _Listing(found, None, counted)


def _rest(asked: _Search, weights: Weights, found: list[Found], counted: _Counted) -> _Listing:
    """Fills a page with documents that match but were no candidates."""
    start = (asked.cursor.stage == "rest" and asked.cursor.document_id) or UUID(int=0)
    rows = asked.run(statements.REST, **_arms(asked.terms, weights), any=_any(asked.terms), after_id=start)
    rest = [_found(row) for row in rows][: asked.request.limit - len(found) + 1]
    if len(found) + len(rest) <= asked.request.limit:
        return _Listing(found + rest, None, counted)
    last = rest[-2].document_id if len(rest) > 1 else start
    return _Listing(found + rest[:-1], asked.cursor.then("rest", None, last, weights=weights), counted)


def _ordered(asked: _Search) -> _Listing:
    """The page in the order of a column: few matches are sorted, of many the column's index is walked."""
    counted = _counted(asked)
    statement = statements.ordered(asked.request.sort, many=counted.truncated)
    rows = asked.run(statement, any=_any(asked.terms), **_position(asked.cursor))
    found = [_found(row) for row in rows]
    if len(found) <= asked.request.limit:
        return _Listing(found, None, counted)
    last = rows[asked.request.limit - 1]
    return _Listing(found[:-1], asked.cursor.then("ranked", last.place, last.document_id), counted)


def _counted(asked: _Search) -> _Counted:
    """Counts until there are more than EXACT_TOTAL documents, or no more, or MOST_COUNTED rows were read."""
    for most in (COUNTED_FIRST, MOST_COUNTED):
        row = asked.run(statements.COUNTED, any=_any(asked.terms), most_counted=most)[0]
        counted = _Counted(row.shelves or {}, row.truncated)
        if not counted.truncated or counted.total > EXACT_TOTAL:
            break
    return counted


def _weights(asked: _Search) -> Weights:
    """What the words weigh by the estimates; what is rare is counted while it is looked for."""
    estimates = statistics(asked.connection)
    dfs = {term.tsquery: term.share * estimates.passages for term in asked.terms.terms if term.share}
    return Weights(dfs=dfs, passages=estimates.passages, average_length=estimates.average_length)


def _arms(terms: Terms, weights: Weights) -> dict[str, object]:
    return {
        "tsqueries": _tsqueries(terms),
        "forms": [form.tsquery for term in terms.terms for form in term.forms],
        "form_of": [i for i, term in enumerate(terms.terms, start=1) for _ in term.forms],
        "dfs": [weights.dfs.get(tsquery, 0.0) for tsquery in _tsqueries(terms)],
        "together": terms.together if len(terms.clauses) > 1 else None,
        "every_bit": (1 << len(terms.terms)) - 1,
        "clauses": list(terms.clauses),
        "passages": weights.passages,
        "average_length": weights.average_length,
    }


def _tsqueries(terms: Terms) -> list[str]:
    return [term.tsquery for term in terms.terms]


def _any(terms: Terms) -> str:
    """What every match has: the first of the quoted phrases, or else any of the words."""
    return terms.anyone_of(terms.required[0] if terms.required else -1)


def _is_place(sort: Sort, place: str) -> bool:
    if sort is Sort.RELEVANCE:
        return _SCORE.fullmatch(place) is not None
    if sort is Sort.NEWEST:
        return _TIME.fullmatch(place) is not None and datetime.fromisoformat(place) is not None
    return True


def _position(cursor: Cursor) -> dict[str, object]:
    return {"after_place": cursor.place, "after_id": cursor.document_id}


def _found(row: Row[tuple[Any, ...]]) -> Found:
    return Found(row.document_id, Decimal(row.score), [n for n in row.ns if n is not None])


def _facets(connection: Connection, shelves: Mapping[str, int]) -> dict[str, list[FacetValue]]:
    """The counts by collection, media type and language."""
    facets: dict[str, Counter[str]] = {"collection": Counter(), "media_type": Counter(), "language": Counter()}
    for row in connection.execute(_SHELVES, {"shelves": [int(shelf_id) for shelf_id in shelves]}):
        facets["collection"][row.collection] += shelves[str(row.shelf_id)]
        facets["media_type"][row.media_type] += shelves[str(row.shelf_id)]
        if row.language:
            facets["language"][row.language] += shelves[str(row.shelf_id)]
    return {name: most_first(counts) for name, counts in facets.items()}


@lru_cache(maxsize=128)
def _text(sql: str) -> TextClause:
    return text(sql)
