"""The search backend that needs nothing but PostgreSQL: published in the transaction that finishes the job.

publish ─▶ entries (one row a document, with its version) ─▶ passages (one row a piece of text, with its words)
"""

from collections.abc import Iterator, Sequence
from uuid import UUID

import orjson
from sqlalchemy import Connection, column, select, table, text, tuple_
from sqlalchemy.dialects.postgresql import insert

from indexer.search import PACKAGE
from indexer.search.backend import Entry
from indexer.search.postgres_search import search
from indexer.search.rows import Row, rows_of
from indexer.search.statistics import maintain
from indexer.search.text import search_text
from pipeline.database import query

__all__ = ["maintain", "publish", "purge_tombstone", "search", "version_of"]

STATEMENT_CHARACTERS = 2_000_000
TITLE_CHARACTERS = 4000
MEDIA_TYPE_CHARACTERS = 255
SHELVES = table("shelves", column("shelf_id"), column("collection_id"), column("media_type"))

Shelf = tuple[int, str]
"""A collection and a media type, which have a row of `shelves` together."""


def publish(connection: Connection, entries: Sequence[Entry]) -> set[UUID]:
    """Writes each entry unless the index has a newer version; returns the documents that it refused.

    Entries of one document may repeat; the newest counts. Nothing is committed here.
    """
    newest = {entry.document_id: entry for entry in sorted(entries, key=lambda entry: entry.version)}
    if not newest:
        return set()
    shelves = _shelves(connection, {_shelf(entry) for entry in newest.values()})
    written = _upsert(connection, list(newest.values()), shelves)
    if replaced := [document_id for document_id, was_there in written.items() if was_there]:
        connection.execute(query("delete_passages", PACKAGE), {"document_ids": replaced})
    winners = [entry for entry in newest.values() if entry.document_id in written]
    for rows in _statements(row for entry in winners for row in rows_of(entry, shelves[_shelf(entry)])):
        columns = dict(zip(_PARAMETERS, map(list, zip(*rows, strict=True)), strict=True))
        connection.execute(query("insert_passages", PACKAGE), columns)
    return newest.keys() - written.keys()


def version_of(connection: Connection, document_ids: Sequence[UUID]) -> dict[UUID, int]:
    """The version that the index has of each document that it knows, tombstones included."""
    found = connection.execute(
        text("SELECT document_id, version FROM entries WHERE document_id = ANY(:document_ids)"),
        {"document_ids": list(document_ids)},
    )
    return {row.document_id: row.version for row in found}


def purge_tombstone(connection: Connection, document_id: UUID, version: int) -> bool:
    """Forgets a deleted document if its entry still is the tombstone of this version."""
    parameters = {"document_id": document_id, "version": version}
    return connection.execute(query("purge_tombstone", PACKAGE), parameters).rowcount == 1


_PARAMETERS = ("document_ids", "ns", "shelf_ids", "pages", "breaks", "lengths", "members", "bodies", "words")


def _shelf(entry: Entry) -> Shelf:
    return entry.collection_id, entry.media_type[:MEDIA_TYPE_CHARACTERS]


def _shelves(connection: Connection, wanted: set[Shelf]) -> dict[Shelf, int]:
    """The number of each shelf; new ones are added in order, so that two transactions never wait for each other."""
    shelves = select(SHELVES.c.collection_id, SHELVES.c.media_type, SHELVES.c.shelf_id)
    mine = shelves.where(tuple_(SHELVES.c.collection_id, SHELVES.c.media_type).in_(wanted))
    known = {(row.collection_id, row.media_type): row.shelf_id for row in connection.execute(mine)}
    if missing := sorted(wanted - known.keys()):
        rows = [{"collection_id": collection_id, "media_type": media_type} for collection_id, media_type in missing]
        connection.execute(insert(SHELVES).values(rows).on_conflict_do_nothing())
        known = {(row.collection_id, row.media_type): row.shelf_id for row in connection.execute(mine)}
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
        "words": [search_text(f"{entry.title[:TITLE_CHARACTERS]} {entry.key or ''}") for entry in entries],
    }
    rows = connection.execute(query("upsert_entries", PACKAGE), parameters)
    return {row.document_id: row.replaced for row in rows}


def _statements(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """The rows in portions that one statement may carry."""
    portion: list[Row] = []
    size = 0
    for row in rows:
        portion.append(row)
        size += len(row.body)
        if size >= STATEMENT_CHARACTERS:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion
