"""The search backend that needs nothing but PostgreSQL: published in the transaction that finishes the job.

publish ─▶ schema (one for each physical index) ─▶ entries (one row a document, with its version)
                                                ─▶ passages (one row a piece of text, with its words)
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import Connection, Engine, column, select, table, text, tuple_
from sqlalchemy.dialects.postgresql import insert

from indexer.search import PACKAGE, schemas
from indexer.search.backend import Entry, EntryState, Facets, SearchPage, SearchRequest, remove_everywhere
from indexer.search.postgres_search import facets, search
from indexer.search.rows import MEDIA_TYPE_CHARACTERS, Row, name_words, rows_of
from indexer.search.statistics import maintain
from pipeline import indexes
from pipeline.database import query
from pipeline.indexes import PhysicalIndex
from pipeline.outcomes import Outcome, Superseded

STATEMENT_CHARACTERS = 2_000_000
SHELVES = table("shelves", column("shelf_id"), column("collection_id"), column("media_type"), column("language"))


class Shelf(NamedTuple):
    """A collection, a media type and a language, which have a row of `shelves` together; "" where none is known."""

    collection_id: int
    media_type: str
    language: str


class Postgres:
    """See `SearchBackend` for what each method does. A physical index is a schema."""

    kind = "postgres"
    fingerprint = "2"  # to be raised with queries/create_index.sql, indexer.search.text and stems
    in_transaction = True

    def publish(
        self, connection: Connection | None, targets: Sequence[str], entries: Sequence[Entry]
    ) -> dict[UUID, Outcome]:
        """Writes entries. Those of one document may repeat; the newest counts. Nothing is committed here."""
        assert connection is not None  # noqa: S101 - `in_transaction` says so
        refused: set[UUID] = set()
        for index in targets:
            schemas.choose(connection, index)
            refused |= _publish(connection, entries)
        return dict.fromkeys(refused, Superseded())

    def version_of(self, connection: Connection, document_ids: Sequence[UUID]) -> dict[UUID, int]:
        """The versions of the live index."""
        schemas.choose_live(connection)
        return {state.document_id: state.version for state in _states_of(connection, document_ids)}

    def states_of(self, connection: Connection, index: str, document_ids: Sequence[UUID]) -> list[EntryState]:
        """What one index has of these documents."""
        schemas.choose(connection, index)
        return _states_of(connection, document_ids)

    def states_after(self, connection: Connection, index: str, after: UUID | None, limit: int) -> list[EntryState]:
        """The next entries in the order of document_id."""
        schemas.choose(connection, index)
        statement = text("""
            SELECT document_id, version, tombstone FROM entries
            WHERE CAST(:after AS uuid) IS NULL OR document_id > CAST(:after AS uuid) ORDER BY document_id LIMIT :limit
        """)
        return [EntryState(*row) for row in connection.execute(statement, {"after": after, "limit": limit})]

    def remove(self, connection: Connection, index: str, state: EntryState) -> bool:
        """Removes an entry and its passages if it still is as told."""
        schemas.choose(connection, index)
        if connection.execute(query("remove_entry", PACKAGE), state._asdict()).rowcount == 0:
            return False
        connection.execute(query("delete_passages", PACKAGE), {"document_ids": [state.document_id]})
        return True

    def purge_tombstone(self, connection: Connection, document_id: UUID, version: int) -> bool:
        """Forgets a deleted document in every index to which it was published."""
        return remove_everywhere(self, connection, EntryState(document_id, version, tombstone=True))

    def search(self, engine: Engine, request: SearchRequest) -> SearchPage:
        """One page of the documents that match."""
        with engine.connect() as connection:
            schemas.choose_live(connection)
            return search(connection, request)

    def facets(self, engine: Engine, request: SearchRequest) -> Facets:
        """How many documents match, by collection, media type and language."""
        with engine.connect() as connection:
            schemas.choose_live(connection)
            return facets(connection, request)

    def maintain(self, connection: Connection) -> None:
        """Empties lists of pending words and refreshes stale estimates."""
        for index in indexes.targets(connection):
            schemas.choose(connection, index)
            maintain(connection)

    def create(self, connection: Connection, index: PhysicalIndex) -> None:
        """Makes the schema and its tables."""
        schemas.create(connection, index.name)

    def make_live(self, connection: Connection, index: PhysicalIndex) -> None:
        """Nothing to do: searches ask the registry."""

    def fingerprint_in(self, connection: Connection, index: PhysicalIndex) -> str | None:
        """That of the registry, which is in the same database."""
        return index.fingerprint if schemas.exists(connection, index.name) else None

    def drop(self, connection: Connection, index: PhysicalIndex) -> None:
        """Removes the schema."""
        schemas.drop(connection, index.name)

    def probe(self, targets: Sequence[str]) -> None:
        """Nothing to try: whoever asks for a probe has reached PostgreSQL."""


def _publish(connection: Connection, entries: Sequence[Entry]) -> set[UUID]:
    """Writes entries into the chosen schema unless it has newer ones; returns the documents that it refused."""
    newest = {entry.document_id: entry for entry in sorted(entries, key=lambda entry: entry.version)}
    if not newest:
        return set()
    shelves = _shelves(connection, {_shelf(entry) for entry in newest.values()})
    written = _upsert(connection, list(newest.values()), shelves)
    if replaced := [document_id for document_id, was_there in written.items() if was_there]:
        connection.execute(query("delete_passages", PACKAGE), {"document_ids": replaced})
    winners = [entry for entry in newest.values() if entry.document_id in written]
    for rows in _statements((entry, row) for entry in winners for row in rows_of(entry)):
        columns = _columns(rows) | {"shelf_ids": [shelves[_shelf(entry)] for entry, _ in rows]}
        connection.execute(query("insert_passages", PACKAGE), columns)
    return newest.keys() - written.keys()


def _states_of(connection: Connection, document_ids: Sequence[UUID]) -> list[EntryState]:
    statement = text("SELECT document_id, version, tombstone FROM entries WHERE document_id = ANY(:document_ids)")
    return [EntryState(*row) for row in connection.execute(statement, {"document_ids": list(document_ids)})]


def _shelf(entry: Entry) -> Shelf:
    return Shelf(entry.collection_id, entry.media_type[:MEDIA_TYPE_CHARACTERS], entry.language or "")


def _shelves(connection: Connection, wanted: set[Shelf]) -> dict[Shelf, int]:
    """The number of each shelf; new ones are added in order, so that two transactions never wait for each other."""
    names = [SHELVES.c[name] for name in Shelf._fields]
    mine = select(*names, SHELVES.c.shelf_id).where(tuple_(*names).in_(wanted))
    known = {Shelf(*row[:-1]): row.shelf_id for row in connection.execute(mine)}
    if missing := sorted(wanted - known.keys()):
        rows = [shelf._asdict() for shelf in missing]
        connection.execute(insert(SHELVES).values(rows).on_conflict_do_nothing())
        known = {Shelf(*row[:-1]): row.shelf_id for row in connection.execute(mine)}
    return known


def _upsert(connection: Connection, entries: list[Entry], shelves: dict[Shelf, int]) -> dict[UUID, bool]:
    """The documents whose entry was written, each with whether it replaced another."""
    parameters = {
        "document_ids": [entry.document_id for entry in entries],
        "versions": [entry.version for entry in entries],
        "tombstones": [entry.tombstone for entry in entries],
        "shelf_ids": [shelves[_shelf(entry)] for entry in entries],
        "keys": [entry.key for entry in entries],
        "titles": [entry.title for entry in entries],
        "metadata": [orjson.dumps(entry.metadata).decode() for entry in entries],
        "accepted_at": [entry.accepted_at for entry in entries],
        "words": [name_words(entry) for entry in entries],
    }
    rows = connection.execute(query("upsert_entries", PACKAGE), parameters)
    return {row.document_id: row.replaced for row in rows}


def _statements(rows: Iterator[tuple[Entry, Row]]) -> Iterator[list[tuple[Entry, Row]]]:
    """The rows in portions that one statement may carry."""
    portion: list[tuple[Entry, Row]] = []
    size = 0
    for entry, row in rows:
        portion.append((entry, row))
        size += len(row.body)
        if size >= STATEMENT_CHARACTERS:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def _columns(rows: list[tuple[Entry, Row]]) -> dict[str, list[object]]:
    return {
        "document_ids": [entry.document_id for entry, _ in rows],
        "ns": [row.n for _, row in rows],
        "pages": [row.page for _, row in rows],
        "breaks": ["{" + ",".join(map(str, row.breaks)) + "}" if row.breaks else None for _, row in rows],
        "lengths": [row.length for _, row in rows],
        "members": [row.member for _, row in rows],
        "headings": [orjson.dumps(row.headings).decode() if row.headings else None for _, row in rows],
        "bodies": [row.body for _, row in rows],
        "words": [row.words for _, row in rows],
    }
