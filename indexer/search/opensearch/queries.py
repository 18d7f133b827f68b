"""A request as a query of OpenSearch.

A document matches when it has any of the terms, or all of the required ones, in a passage or in its name, which is the
title with the key. Its score: far more when no clause is missing, much for terms in the name, then the BM25 of its best
passage, and a little for terms that only other passages have.
"""

from collections.abc import Sequence
from typing import Any

from indexer.search.backend import Sort
from indexer.search.opensearch.mapping import WORDS
from indexer.search.opensearch.metadata import metadata_name, metadata_text
from indexer.search.scope import Scope, meanings
from indexer.search.terms import Term, Terms

NAME_BOOST = 4
"""A term's frequency in a name counts half of what it can count in a passage."""
ELSEWHERE_BOOST = 0.5
COMPLETE_BOOST = 100
"""For each term. No document that lacks a clause comes near it, and a float still tells two scores apart above it."""
MOST_BEGINNINGS = 1000
"""Words that go on from a lone character at the end of a phrase."""
BEST_PASSAGES = 2

_NAME = "words"
_PASSAGE = "passages.words"

Json = dict[str, Any]
PASSAGES: Json = {
    "_source": False,
    "stored_fields": ["passages.text", "passages.breaks", "passages.member", "passages.headings"],
    "docvalue_fields": ["passages.page"],
}
"""What is shown of a passage; the engine reads it without the rest of the document."""
ORDERS: dict[Sort, list[Json]] = {
    Sort.RELEVANCE: [{"_score": "desc"}, {"document_id": "asc"}],
    Sort.NEWEST: [{"accepted_at": "desc"}, {"document_id": "asc"}],
    Sort.TITLE: [{"title_order": "asc"}, {"document_id": "asc"}],
}


def query_of(terms: Terms, scope: Scope, sort: Sort) -> Json:
    """The query for the documents that match, each with its best passages."""
    best = {"name": "best", "size": BEST_PASSAGES, **PASSAGES}
    ranking = _ranking(terms) if sort is Sort.RELEVANCE else []
    return {
        "bool": {
            "filter": [*_visible(scope), *(_anywhere(terms.of(bits)) for bits in terms.required)],
            "must_not": [_anywhere(terms.excluded)] if terms.excluded else [],
            "should": [*_in_name(terms.terms), {"nested": _in_passages(terms.terms) | {"inner_hits": best}}, *ranking],
            "minimum_should_match": 0 if terms.required else 1,
        }
    }


def beginnings_of(document_ids: Sequence[str]) -> Json:
    """The query for the first passage of each of these documents."""
    first = {"name": "best", "size": 1, "sort": ["passages.n"], **PASSAGES}
    passages = {"nested": {"path": "passages", "query": {"match_all": {}}, "inner_hits": first}}
    return {"bool": {"filter": [{"ids": {"values": document_ids}}, passages]}}


def _visible(scope: Scope) -> list[Json]:
    """What every document that is found must be."""
    filters: list[Json] = [{"term": {"tombstone": False}}]
    if scope.collection_ids is not None:
        filters.append({"terms": {"collection_id": scope.collection_ids}})
    if scope.media_types:
        filters.append({"terms": {"media_type": scope.media_types}})
    if scope.languages:
        filters.append({"terms": {"language": scope.languages}})
    for name, values in scope.metadata.items():
        forms = {metadata_text(form) for value in values for form in meanings(value)}
        filters.append({"terms": {f"metadata.{metadata_name(name)}": sorted(forms)}})
    return filters


def _ranking(terms: Terms) -> list[Json]:
    """What makes no document match, but tells those that do apart."""
    if len(terms.terms) == 1:
        return []
    parts: list[Json] = [{"nested": _in_passages([term]) | {"boost": ELSEWHERE_BOOST}} for term in terms.terms]
    if len(terms.clauses) > 1:
        complete = {"bool": {"filter": [_anywhere(terms.of(bits)) for bits in terms.clauses]}}
        parts.append({"constant_score": {"filter": complete, "boost": COMPLETE_BOOST * len(terms.terms)}})
    return parts


def _anywhere(terms: Sequence[Term]) -> Json:
    """Any of the terms, in a passage or in the name."""
    return {"bool": {"should": [*_in_name(terms), {"nested": _in_passages(terms)}]}}


def _in_name(terms: Sequence[Term]) -> list[Json]:
    return [_occurs(term, _NAME, NAME_BOOST) for term in terms]


def _in_passages(terms: Sequence[Term]) -> Json:
    wanted = {"bool": {"should": [_occurs(term, _PASSAGE, 1) for term in terms]}}
    return {"path": "passages", "score_mode": "max", "query": wanted}


def _occurs(term: Term, field: str, boost: float) -> Json:
    """The words of a term next to each other, in one of its forms."""
    forms = [_form(form.words, field, boost, is_beginning=term.atom.is_beginning) for form in term.forms]
    return forms[0] if len(forms) == 1 else {"dis_max": {"queries": forms}}


def _form(stems: Sequence[str], field: str, boost: float, *, is_beginning: bool) -> Json:
    words = " ".join(stems)
    if not is_beginning:
        return {"match_phrase": {field: {"query": words, "boost": boost, "analyzer": WORDS}}}
    if len(stems) == 1:
        return {"prefix": {field: {"value": words, "boost": boost}}}
    phrase = {"query": words, "boost": boost, "max_expansions": MOST_BEGINNINGS, "analyzer": WORDS}
    return {"match_phrase_prefix": {field: phrase}}
