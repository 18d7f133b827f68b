"""The route that searches."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from indexer.search.backend import SearchBackend, SearchRequest, Sort
from pipeline.errors import Invalid
from pipeline.problems import documented
from pipeline.requests import READS, Cursor, TheCaller, TheEngine
from pipeline.sanitise import clean_text

MOST_HITS = 100
MOST_FILTERS = 20
KINDS = ("media_type", "language")
"""What is filtered by besides metadata."""

router = APIRouter(tags=["search"], dependencies=[READS])


class _Shape(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class PassageShape(_Shape):
    """A place where a document matches."""

    page: int | None
    member: str | None = Field(description="The attachment or archive member that the place is in.")
    heading: str | None = Field(description="The path of the headings that the place stands under, from the outermost.")
    html: str = Field(description="Escaped text with <mark> around the words, and nothing else.")


class HitShape(_Shape):
    """A document that matches."""

    document_id: UUID
    input_version: int | None = Field(description="The newest accepted version.")
    published_version: int = Field(description="The version that was searched.")
    collection: str
    key: str | None
    title: str
    media_type: str
    language: str | None = Field(description="An ISO 639-1 code; null where it is not known.")
    accepted_at: datetime
    score: float = Field(description="Only comparable within one search; 0 when sorted by a column.")
    passages: list[PassageShape]


class FacetShape(_Shape):
    """How many of the found documents have this value."""

    value: str
    count: int


class SearchShape(_Shape):
    """A page of hits."""

    total: int = Field(description="Exact to 10,000.")
    total_capped: bool = Field(description="Whether there are more than `total`; facets then count only a part.")
    hits: list[HitShape]
    facets: dict[str, list[FacetShape]]
    next: str | None = Field(description="The cursor of the next page.")


def the_backend(request: Request) -> SearchBackend:
    """The search backend of this installation."""
    chosen: SearchBackend = request.app.state.backend
    return chosen


async def _turn(request: Request) -> AsyncIterator[None]:
    async with request.app.state.searching:
        yield


IN_TURN = Depends(_turn, scope="function")
"""Some search at a time, and more wait without a thread: while an engine is slow, other requests still have some."""


def _visible(
    caller: TheCaller, collection: Annotated[list[str] | None, Query(description="May be repeated.")] = None
) -> frozenset[str] | None:
    """Which collections are searched: of those asked for, the ones that the caller may see; None: all."""
    return caller.among(frozenset(map(clean_text, collection)) if collection else None)


@router.get("/v1/search", summary="Search", responses=documented(422), dependencies=[IN_TURN])
def search(
    engine: TheEngine,
    backend: Annotated[SearchBackend, Depends(the_backend)],
    collections: Annotated[frozenset[str] | None, Depends(_visible)],
    q: Annotated[str, Query(description='Words, "phrases", -unwanted words, OR.')],
    *,
    filter: Annotated[  # noqa: A002 - its name on the wire
        list[str] | None,
        Query(
            description="media_type:VALUE, language:CODE or meta.NAME:VALUE."
            " Repeated, one name's values are alternatives."
        ),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_HITS)] = 10,
    cursor: Cursor = None,
    sort: Sort = Sort.RELEVANCE,
) -> SearchShape:
    """Finds documents with all of the words first, then with some. A quoted phrase must be there."""
    kinds, metadata = parse_filters(filter or ())
    request = SearchRequest(
        text=q,
        collections=collections,
        media_types=kinds["media_type"],
        languages=kinds["language"],
        metadata=metadata,
        sort=sort,
        limit=limit,
        cursor=cursor,
    )
    return SearchShape.model_validate(backend.search(engine, request))


def parse_filters(filters: Sequence[str]) -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    """What filters ask for of KINDS, and of metadata. Raises Invalid `bad_filter`."""
    if len(filters) > MOST_FILTERS:
        raise Invalid("bad_filter", f"A search takes at most {MOST_FILTERS} filters.")
    asked: dict[str, frozenset[str]] = {}
    for one in filters:
        name, colon, value = clean_text(one).partition(":")
        if not colon or (name not in KINDS and not (name.startswith("meta.") and name != "meta.")):
            raise Invalid("bad_filter", "A filter is media_type:VALUE, language:CODE or meta.NAME:VALUE.")
        asked[name] = asked.get(name, frozenset()) | {value}
    kinds = {name: asked.pop(name, frozenset()) for name in KINDS}
    return kinds, {name.removeprefix("meta."): values for name, values in asked.items()}
