"""Searching in OpenSearch: understand ─▶ ask the engine once ─▶ show the page.

PostgreSQL says which words are function words, what the collections are called and which version is the newest one.
"""

import math
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from opensearchpy import OpenSearch
from opensearchpy.exceptions import TransportError
from sqlalchemy import Connection, Engine, text

from indexer.search.backend import (
    EXACT_TOTAL,
    Facets,
    FacetValue,
    Hit,
    HitPassage,
    SearchPage,
    SearchRequest,
    Sort,
    most_first,
)
from indexer.search.cursor import Cursor
from indexer.search.hits import Piece, marked
from indexer.search.opensearch import queries
from indexer.search.opensearch.connection import explaining
from indexer.search.opensearch.points import KEPT_SECONDS, Points
from indexer.search.opensearch.queries import Json
from indexer.search.query import parse
from indexer.search.scope import scope_of
from indexer.search.terms import Terms, look_up

MOST_FACETS = 1000
SHOWN = ["version", "collection_id", "key", "title", "media_type", "language", "accepted_at"]

_FACET_FIELDS = {"collection": "collection_id", "media_type": "media_type", "language": "language"}
_NAMES = text("SELECT collection_id, name FROM collections WHERE collection_id = ANY(:collection_ids)")
_NEWEST = text("SELECT document_id, input_version FROM documents WHERE document_id = ANY(:document_ids)")
_SCORE = re.compile(r"[0-9]{1,9}(\.[0-9]{1,20})?([eE]-[0-9]{1,2})?")
_NANOSECONDS = re.compile(r"-?[0-9]{1,18}|[1-8][0-9]{18}")
_FULL = frozenset({429, 503})
"""The engine has no room for a search; it is no fault of a point in time."""


class _Answer(NamedTuple):
    """What the engine found, and the point in time that it looked at."""

    found: Json
    point: str | None

    @property
    def hits(self) -> list[Json]:
        hits: list[Json] = self.found["hits"]["hits"]
        return hits

    @property
    def is_capped(self) -> bool:
        return bool(self.found["hits"]["total"]["relation"] != "eq")


class Searcher:
    """Searches the index behind an alias. Thread-safe."""

    def __init__(self, client: OpenSearch, alias: str) -> None:
        self._client = client
        self._alias = alias
        self._points = Points(client, alias)

    def search(self, engine: Engine, request: SearchRequest) -> SearchPage:
        """One page of the documents that match. Raises Invalid for a query or a cursor that cannot be.

        While OpenSearch answers no connection is held: a slow one must not keep them from all other requests.
        """
        cursor, terms, query = self._understood(engine, request)
        with explaining():
            answer = self._ask(_body(request, cursor, query), cursor)
            hits = answer.hits[: request.limit]
            pieces = [*_pieces(hits), *_pieces(self._beginnings([hit for hit in hits if not _best(hit)], cursor))]
            following = self._next(request, cursor, answer)
        passages = marked(terms, pieces)
        total = answer.found["hits"]["total"]["value"]
        with engine.connect() as connection:
            names = _names(connection, answer)
            shown = _hits(connection, hits, names, passages)
        return SearchPage(
            total=min(total, EXACT_TOTAL),
            total_capped=answer.is_capped,
            hits=shown,
            facets=_facets(answer, names),
            next=None if following is None else str(following),
        )

    def facets(self, engine: Engine, request: SearchRequest) -> Facets:
        """How many documents match. Raises Invalid for a query that cannot be."""
        cursor, _terms, query = self._understood(engine, request)
        with explaining():
            answer = _Answer(self._ask_now(_body(request, cursor, query) | {"size": 0}, cursor), None)
        with engine.connect() as connection:
            names = _names(connection, answer)
        return Facets(_facets(answer, names), answer.is_capped)

    @staticmethod
    def _understood(engine: Engine, request: SearchRequest) -> tuple[Cursor, Terms, Json]:
        """Where the page begins, the words, and the query in the engine's language."""
        cursor = Cursor.of(request, _is_place)
        with engine.connect() as connection:
            terms = look_up(connection, parse(request.text), with_shares=False)
            return cursor, terms, queries.query_of(terms, scope_of(connection, request), request.sort)

    def _ask(self, body: Json, cursor: Cursor) -> _Answer:
        """Searches at the cursor's point in time, or in the present if there is none any more."""
        if cursor.point is not None:
            at = {"pit": {"id": cursor.point, "keep_alive": f"{KEPT_SECONDS}s"}}
            try:
                found = self._client.search(body=body | at, allow_partial_search_results=False)
                return _Answer(found, found["pit_id"])
            except TransportError as error:
                if not isinstance(error.status_code, int) or error.status_code in _FULL:
                    raise
        return _Answer(self._ask_now(body, cursor), None)

    def _ask_now(self, body: Json, cursor: Cursor) -> Json:
        """Searches the index as it is; the same request asks the same copies of its shards."""
        found: Json = self._client.search(
            index=self._alias, body=body, preference=_preference(cursor), allow_partial_search_results=False
        )
        return found

    def _beginnings(self, hits: Sequence[Json], cursor: Cursor) -> list[Json]:
        """Of documents whose name alone matches, the first passage."""
        if not hits:
            return []
        query = queries.beginnings_of([hit["_id"] for hit in hits])
        body = {"query": query, "size": len(hits), "_source": False, "track_total_hits": False}
        found: list[Json] = self._ask_now(body, cursor)["hits"]["hits"]
        return found

    def _next(self, request: SearchRequest, cursor: Cursor, answer: _Answer) -> Cursor | None:
        """Where the next page begins. Only an order by relevance can change while the index does."""
        if len(answer.hits) <= request.limit:
            if answer.point is not None:
                self._points.close(answer.point)
            return None
        point = answer.point
        if point is None and request.sort is Sort.RELEVANCE:
            point = self._points.open(_preference(cursor))
        place, document_id = answer.hits[request.limit - 1]["sort"]
        return cursor.then("ranked", str(place), UUID(document_id), point=point)


def _body(request: SearchRequest, cursor: Cursor, query: Json) -> Json:
    body = {
        "query": query,
        "size": request.limit + 1,
        "sort": queries.ORDERS[request.sort],
        "_source": SHOWN,
        "track_total_hits": EXACT_TOTAL,
        "aggs": {name: {"terms": {"field": field, "size": MOST_FACETS}} for name, field in _FACET_FIELDS.items()},
    }
    if cursor.place is not None:
        body["search_after"] = [_VALUES[request.sort](cursor.place), str(cursor.document_id)]
    return body


_VALUES: dict[Sort, Any] = {Sort.RELEVANCE: float, Sort.NEWEST: int, Sort.TITLE: str}


def _is_place(sort: Sort, place: str) -> bool:
    if sort is Sort.RELEVANCE:
        return _SCORE.fullmatch(place) is not None and math.isfinite(float(place))
    return sort is Sort.TITLE or _NANOSECONDS.fullmatch(place) is not None


def _preference(cursor: Cursor) -> str:
    return f"fencepost{cursor.request}"


def _best(hit: Json) -> list[Json]:
    best: list[Json] = hit["inner_hits"]["best"]["hits"]["hits"]
    return best


def _pieces(hits: Sequence[Json]) -> list[Piece]:
    return [_piece(hit["_id"], passage.get("fields", {})) for hit in hits for passage in _best(hit)]


def _piece(document_id: str, fields: dict[str, list[Any]]) -> Piece:
    """A passage by its stored fields; one that is empty is missing."""
    (page,) = fields.get("passages.page", [None])
    (member,) = fields.get("passages.member", [None])
    (headings,) = fields.get("passages.headings", [None])
    (body,) = fields.get("passages.text", [""])
    return Piece(UUID(document_id), page, fields.get("passages.breaks", []), member, headings, body)


def _names(connection: Connection, answer: _Answer) -> dict[int, str]:
    """The names of the collections of all matches."""
    buckets = answer.found["aggregations"]["collection"]["buckets"]
    shown = {hit["_source"]["collection_id"] for hit in answer.hits}
    ids = sorted(shown | {bucket["key"] for bucket in buckets})
    return {row.collection_id: row.name for row in connection.execute(_NAMES, {"collection_ids": ids})}


def _facets(answer: _Answer, names: dict[int, str]) -> dict[str, list[FacetValue]]:
    """The counts by collection, media type and language."""
    found = answer.found["aggregations"]
    counts = {name: {bucket["key"]: bucket["doc_count"] for bucket in found[name]["buckets"]} for name in _FACET_FIELDS}
    counts["collection"] = {names[key]: n for key, n in counts["collection"].items() if key in names}
    return {name: most_first(of) for name, of in counts.items()}


def _hits(
    connection: Connection, hits: Sequence[Json], names: dict[int, str], passages: dict[UUID, list[HitPassage]]
) -> list[Hit]:
    ids = [UUID(hit["_id"]) for hit in hits]
    rows = connection.execute(_NEWEST, {"document_ids": ids})
    newest: dict[UUID, int] = {row.document_id: row.input_version for row in rows}
    return [
        _hit(hit, names[hit["_source"]["collection_id"]], newest.get(document_id), passages.get(document_id, []))
        for document_id, hit in zip(ids, hits, strict=True)
        if hit["_source"]["collection_id"] in names
    ]


def _hit(hit: Json, collection: str, input_version: int | None, passages: list[HitPassage]) -> Hit:
    source = hit["_source"]
    return Hit(
        document_id=UUID(hit["_id"]),
        input_version=input_version,
        published_version=source["version"],
        collection=collection,
        key=source["key"],
        title=source["title"],
        media_type=source["media_type"],
        language=source.get("language"),
        accepted_at=datetime.fromisoformat(source["accepted_at"]),
        score=hit["_score"] or 0.0,
        passages=passages,
    )
