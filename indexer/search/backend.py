"""What every search backend can do, and the words in which one talks with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol
from uuid import UUID

from sqlalchemy import Connection, Engine

from pipeline import indexes
from pipeline.indexes import PhysicalIndex
from pipeline.outcomes import Outcome

EXACT_TOTAL = 10_000
"""A search counts so many documents; of more it only says that there are more."""


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

    @property
    def heading(self) -> str | None:
        """The path of the headings that it stands under."""


class Entry(NamedTuple):
    """A document's place in the index, written as a whole. A tombstone has no text and hides the document.

    `language` is an ISO 639-1 code; None where it is not known.
    """

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
    language: str | None = None


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
    languages: frozenset[str] = frozenset()
    metadata: Mapping[str, frozenset[str]] = field(default_factory=dict)
    sort: Sort = Sort.RELEVANCE
    limit: int = 10
    cursor: str | None = None


class HitPassage(NamedTuple):
    """A place where a document matches. `html` is escaped text with <mark> around the words, and nothing else."""

    page: int | None
    member: str | None
    heading: str | None
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
    language: str | None
    accepted_at: datetime
    score: float
    passages: list[HitPassage]


@dataclass(frozen=True, slots=True)
class FacetValue:
    """How many of the found documents have this value."""

    value: str
    count: int


def most_first(counts: Mapping[str, int]) -> list[FacetValue]:
    """The counts of one facet, the largest first, equal ones by name."""
    return [FacetValue(*pair) for pair in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))]


class SearchPage(NamedTuple):
    """A page of hits. `total` is exact unless `total_capped`: then there are at least that many."""

    total: int
    total_capped: bool
    hits: list[Hit]
    facets: dict[str, list[FacetValue]]
    next: str | None


class Facets(NamedTuple):
    """What the found documents are like. `capped`: there are more, and only a part was counted."""

    values: dict[str, list[FacetValue]]
    capped: bool


class EntryState(NamedTuple):
    """What the index has of a document, without its text."""

    document_id: UUID
    version: int
    tombstone: bool


class SearchBackend(Protocol):
    """A search index. `connection` is the caller's: what a backend writes in it commits with the caller.

    `index` and `targets` are names of physical indexes (pipeline.indexes). A backend whose engine is not PostgreSQL
    makes network calls, so only what searches or is asked once in a while may be called within a transaction.
    """

    kind: str
    """Its name in the settings: postgres or opensearch."""
    fingerprint: str
    """Of the mapping and the analyzers. An index with another one must be rebuilt."""
    in_transaction: bool
    """Whether `publish` writes in the caller's transaction; else it is called without one."""

    def publish(
        self, connection: Connection | None, targets: Sequence[str], entries: Sequence[Entry]
    ) -> dict[UUID, Outcome]:
        """Writes each entry to all targets unless one of them has a newer version of the document.

        Returns the outcome of each document that was not written everywhere: Superseded when it was refused for its
        version, Rejected, or RetryLater; with `refund` when the whole engine is in trouble and nobody's attempt counts.
        """

    def version_of(self, connection: Connection, document_ids: Sequence[UUID]) -> dict[UUID, int]:
        """The version that the live index has of each document that it knows, tombstones included, in real time."""

    def states_of(self, connection: Connection, index: str, document_ids: Sequence[UUID]) -> list[EntryState]:
        """What one index has of these documents, read in real time."""

    def states_after(self, connection: Connection, index: str, after: UUID | None, limit: int) -> list[EntryState]:
        """The next entries of one index in the order of document_id; a published one may be missing for a second."""

    def remove(self, connection: Connection, index: str, state: EntryState) -> bool:
        """Removes an entry if it still has this version and is, or is not, a tombstone as told."""

    def purge_tombstone(self, connection: Connection, document_id: UUID, version: int) -> bool:
        """Forgets a deleted document if its entries still are the tombstone of this version."""

    def search(self, engine: Engine, request: SearchRequest) -> SearchPage:
        """One page of the documents that match. Raises Invalid for a query, filter or cursor that cannot be.

        It takes connections of its own, and holds none while another engine than PostgreSQL answers.
        """

    def facets(self, engine: Engine, request: SearchRequest) -> Facets:
        """The facets of a search, for less than its hits. Raises as `search` does; takes connections as it does."""

    def maintain(self, connection: Connection) -> None:
        """Housekeeping, bounded in cost; to be called about once a minute."""

    def create(self, connection: Connection, index: PhysicalIndex) -> None:
        """Makes an empty index; does nothing when it was made already. Raises NameTaken for somebody else's."""

    def make_live(self, connection: Connection, index: PhysicalIndex) -> None:
        """From now on searches read this index, if the name they use is in the engine. May be repeated."""

    def fingerprint_in(self, connection: Connection, index: PhysicalIndex) -> str | None:
        """The fingerprint that an index was made with, as it says itself; None when it is not there or not ours."""

    def drop(self, connection: Connection, index: PhysicalIndex) -> None:
        """Removes an index and all in it; does nothing when it is gone."""

    def probe(self, targets: Sequence[str]) -> None:
        """Tries whether the engine takes a write to each target. Raises IndexUnavailable with the reason."""


def remove_everywhere(backend: SearchBackend, connection: Connection, state: EntryState) -> bool:
    """Removes an entry from every index to which it was published; False if one of them has it otherwise by now."""
    removed = [backend.remove(connection, index, state) for index in indexes.targets(connection)]
    return all(removed)
