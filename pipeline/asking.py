"""What the ground floor asks of the search backend, which stands above it: the composition root hands one down."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol
from uuid import UUID

from sqlalchemy import Connection, Engine


class Index(Protocol):
    """The part of a search backend that the sweeper's process needs; see indexer.search.backend."""

    in_transaction: bool
    """Whether it is in PostgreSQL; else its answers come over the network, and none is asked within a transaction."""

    def version_of(self, connection: Connection, document_ids: Sequence[UUID]) -> dict[UUID, int]:
        """The version that the index has of each document that it knows, read in real time."""

    def purge_tombstone(self, connection: Connection, document_id: UUID, version: int) -> bool:
        """Removes a tombstone if it still has this version."""

    def maintain(self, connection: Connection) -> None:
        """Refreshes what ranking needs, if it is stale."""

    def probe(self, targets: Sequence[str]) -> None:
        """Tries whether the engine takes a write to each target. Raises IndexUnavailable with the reason."""


@contextmanager
def asking(engine: Engine, index: Index) -> Iterator[Connection]:
    """A connection to ask the index with: in a transaction only where the index is in PostgreSQL."""
    if index.in_transaction:
        with engine.begin() as connection:
            yield connection
    else:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            yield connection
