"""Where a page ended, and what it was ranked by, so that the next one continues in the same order."""

import base64
from collections.abc import Callable
from typing import Annotated, Literal, Self
from uuid import UUID
from zlib import crc32

from pydantic import BaseModel, ConfigDict, Field

from indexer.search.backend import SearchRequest, Sort
from pipeline.errors import Invalid

Positive = Annotated[float, Field(ge=1e-9, le=1e12, allow_inf_nan=False)]
LONGEST_POINT = 4000
"""A cursor travels in an address; a point in time of more than some dozens of shards is longer."""
IsPlace = Callable[[Sort, str], bool]
"""Whether a text can be a place in this order, in the way a backend writes it."""


class Weights(BaseModel):
    """What ranking knew of the words of a query: in how many passages each is, and of how many of what length."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    dfs: dict[str, Positive] = Field(max_length=64)
    passages: Positive
    average_length: Positive


class Cursor(BaseModel):
    """The position after the last hit of a page. It only means something together with the same request.

    PostgreSQL ranks by `weights`; OpenSearch keeps the state of the index behind a `point` in time for a while.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    request: int
    stage: Literal["first", "ranked", "rest"] = "first"
    place: str | None = Field(None, max_length=1000)
    document_id: UUID | None = None
    weights: Weights | None = None
    point: str | None = Field(None, max_length=LONGEST_POINT)

    @classmethod
    def of(cls, request: SearchRequest, is_place: IsPlace) -> Self:
        """The cursor that came with a request, or the beginning. Raises Invalid when it is not one of ours."""
        mine = _fingerprint(request)
        if request.cursor is None:
            return cls(request=mine)
        try:
            cursor = cls.model_validate_json(base64.urlsafe_b64decode(request.cursor.encode() + b"=="))
            _check_place(cursor, request.sort, is_place)
        except ValueError:  # of base64, of UTF-8, of JSON, of a field
            raise Invalid("bad_cursor", "The cursor is not one that a search has given.") from None
        if cursor.request != mine:
            raise Invalid("bad_cursor", "The cursor belongs to another search; leave it out to start from the top.")
        return cursor

    def then(self, stage: str, place: str | None, document_id: UUID, **ranked_by: Weights | str | None) -> Self:
        """The cursor of the next page."""
        return self.model_copy(update={"stage": stage, "place": place, "document_id": document_id, **ranked_by})

    def __str__(self) -> str:
        return base64.urlsafe_b64encode(self.model_dump_json(exclude_defaults=True).encode()).decode().rstrip("=")


def _fingerprint(request: SearchRequest) -> int:
    """The same for two requests that ask for the same hits in the same order."""
    metadata = sorted((name, sorted(values)) for name, values in request.metadata.items())
    collections = None if request.collections is None else sorted(request.collections)
    kinds = [sorted(request.media_types), sorted(request.languages)]
    asked = (request.text, collections, *kinds, metadata, request.sort.value)
    return crc32(repr(asked).encode("utf-8", "backslashreplace"))


def _check_place(cursor: Cursor, sort: Sort, is_place: IsPlace) -> None:
    """Raises ValueError unless the place is one in the order of the hits."""
    if cursor.document_id is None or (cursor.place is None) != (cursor.stage == "rest"):
        raise ValueError("a place and a document belong together")
    if cursor.place is not None and not ("\0" not in cursor.place and is_place(sort, cursor.place)):
        raise ValueError("the place is none in this order")
