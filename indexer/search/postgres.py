"""The search backend that needs nothing but PostgreSQL: published in the transaction that finishes the job.

publish ─▶ entries (one row a document, with its version) ─▶ passages (one row a piece of text, with its words)
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import Connection, text

from indexer.search.backend import Entry
from indexer.search.text import search_text
from pipeline.database import query

PACKAGE = "indexer.search"
BODY_CHARACTERS = 8000
"""A row's text; even 8,000 words of one letter stay below the 16,383 positions and the 1 MiB of a tsvector."""
STATEMENT_CHARACTERS = 2_000_000
TITLE_CHARACTERS = 4000


class _Row(NamedTuple):
    """A row of `passages`, in the order of insert_passages.sql."""

    document_id: UUID
    n: int
    collection_id: int
    page: int | None
    length: int
    member: str | None
    body: str
    words: str


def publish(connection: Connection, entries: Sequence[Entry]) -> set[UUID]:
    """Writes each entry unless the index has a newer version; returns the documents that it refused.

    Entries of one document may repeat; the newest counts. Nothing is committed here.
    """
    newest = {entry.document_id: entry for entry in sorted(entries, key=lambda entry: entry.version)}
    if not newest:
        return set()
    written = _upsert(connection, list(newest.values()))
    if replaced := [document_id for document_id, was_there in written.items() if was_there]:
        connection.execute(query("delete_passages", PACKAGE), {"document_ids": replaced})
    for rows in _statements(row for entry in newest.values() if entry.document_id in written for row in _rows(entry)):
        columns = dict(zip(_PARAMETERS, map(list, zip(*rows, strict=True)), strict=True))
        connection.execute(query("insert_passages", PACKAGE), columns)
    return newest.keys() - written.keys()


def version_of(connection: Connection, document_ids: Sequence[UUID]) -> dict[UUID, int]:
    """The version that the index has of each document that it knows, tombstones included."""
    found = connection.execute(
        text("SELECT document_id, version FROM entries WHERE document_id = ANY(:document_ids)"),
        {"document_ids": list(document_ids)},
    )
    return dict(found.tuples().all())


def purge_tombstone(connection: Connection, document_id: UUID, version: int) -> bool:
    """Forgets a deleted document if its entry still is the tombstone of this version."""
    parameters = {"document_id": document_id, "version": version}
    return connection.execute(query("purge_tombstone", PACKAGE), parameters).rowcount == 1


_PARAMETERS = ("document_ids", "ns", "collection_ids", "pages", "lengths", "members", "bodies", "words")


def _upsert(connection: Connection, entries: list[Entry]) -> dict[UUID, bool]:
    """The documents whose entry was written, each with whether it replaced another."""
    parameters = {
        "document_ids": [entry.document_id for entry in entries],
        "versions": [entry.version for entry in entries],
        "tombstones": [entry.tombstone for entry in entries],
        "collection_ids": [entry.collection_id for entry in entries],
        "keys": [entry.key for entry in entries],
        "titles": [entry.title for entry in entries],
        "media_types": [entry.media_type for entry in entries],
        "metadata": [orjson.dumps(entry.metadata).decode() for entry in entries],
        "accepted_at": [entry.accepted_at for entry in entries],
        "words": [search_text(f"{entry.title[:TITLE_CHARACTERS]} {entry.key or ''}") for entry in entries],
    }
    return dict(connection.execute(query("upsert_entries", PACKAGE), parameters).tuples().all())


def _rows(entry: Entry) -> Iterator[_Row]:
    """The rows of an entry, numbered from 1."""
    if entry.tombstone:
        return
    pieces = chain.from_iterable(((passage, body) for body in _cut(passage.text)) for passage in entry.passages)
    for n, (passage, body) in enumerate(pieces, start=1):
        words = search_text(body)
        length = words.count(" ") + 1
        yield _Row(entry.document_id, n, entry.collection_id, passage.page, length, passage.member, body, words)


def _cut(body: str) -> Iterator[str]:
    """Pieces that fit into a row, cut between words where there is a gap."""
    while len(body) > BODY_CHARACTERS:
        gap = body.rfind(" ", BODY_CHARACTERS // 2, BODY_CHARACTERS)
        end = gap if gap > 0 else BODY_CHARACTERS
        yield body[:end]
        body = body[end:]
    yield body


def _statements(rows: Iterator[_Row]) -> Iterator[list[_Row]]:
    """The rows in portions that one statement may carry."""
    portion: list[_Row] = []
    size = 0
    for row in rows:
        portion.append(row)
        size += len(row.body)
        if size >= STATEMENT_CHARACTERS:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion
