"""What every search backend can do, and the words in which one talks with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol
from uuid import UUID

from sqlalchemy import Connection


class Passage(Protocol):
    """A piece of a document's text."""

    @property
    def text(self) -> str:
        """The words, as they will be shown."""

    @property
    def page(self) -> int | None:
        """The page on which it begins, from 1; None where there are no pages."""

    @property
    def breaks(self) -> Sequence[tuple[int, int]]:
        """Where the next pages begin, if it runs over several: (offset in the text, page)."""

    @property
    def member(self) -> str | None:
        """The path of the attachment or archive member it comes from."""


class Entry(NamedTuple):
    """A document's place in the index, written as a whole. A tombstone has no text and hides the document."""

    document_id: UUID
    version: int
    tombstone: bool
    collection_id: int
    key: str | None
    title: str
    media_type: str
    metadata: Mapping[str, object]
    accepted_at: datetime
    passages: Sequence[Passage] = ()


class Sort(StrEnum):
    """The order of the hits."""

    RELEVANCE = "relevance"
    NEWEST = "-accepted_at"
    TITLE = "title"


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search. `collections` are the only ones that it may see (None = all); every part of the answer obeys it."""

    text: str
    collections: frozenset[str] | None = None
    media_types: frozenset[str] = frozenset()
    metadata: Mapping[str, frozenset[str]] = field(default_factory=dict)
    sort: Sort = Sort.RELEVANCE
    limit: int = 10
    cursor: str | None = None


class HitPassage(NamedTuple):
    """A place where a document matches. `html` is escaped text with <mark> around the words, and nothing else."""

    page: int | None
    member: str | None
    html: str


class Hit(NamedTuple):
    """One found document. `input_version` is the newest accepted, `published_version` the one that was searched."""

    document_id: UUID
    input_version: int | None
    published_version: int
    collection: str
    key: str | None
    title: str
    media_type: str
    accepted_at: datetime
    score: float
    passages: list[HitPassage]


@dataclass(frozen=True, slots=True)
class FacetValue:
    """How many of the found documents have this value."""

    value: str
    count: int


class SearchPage(NamedTuple):
    """A page of hits. `total` is exact unless `total_capped`: then there are at least that many."""

    total: int
    total_capped: bool
    hits: list[Hit]
    facets: dict[str, list[FacetValue]]
    next: str | None


class SearchBackend(Protocol):
    """A search index. `connection` is the caller's: what a backend writes in it commits with the caller."""

    def publish(self, connection: Connection, entries: Sequence[Entry]) -> set[UUID]:
        """Writes each entry unless the index has a newer version; returns the documents that it refused."""

    def version_of(self, connection: Connection, document_ids: Sequence[UUID]) -> dict[UUID, int]:
        """The version that the index has of each document that it knows, tombstones included, read in real time."""

    def purge_tombstone(self, connection: Connection, document_id: UUID, version: int) -> bool:
        """Forgets a deleted document if its entry still is the tombstone of this version."""

    def search(self, connection: Connection, request: SearchRequest) -> SearchPage:
        """One page of the documents that match. Raises Invalid for a query, filter or cursor that cannot be."""

    def maintain(self, connection: Connection) -> None:
        """Housekeeping, bounded in cost; to be called about once a minute."""
