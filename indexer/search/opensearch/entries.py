"""An entry as the engine gets it: one JSON object with all of its passages."""

from datetime import UTC, datetime
from typing import Any

import orjson

from indexer.search.backend import Entry
from indexer.search.opensearch import reading
from indexer.search.opensearch.metadata import indexed
from indexer.search.rows import MEDIA_TYPE_CHARACTERS, Row, name_words, rows_of

ORDER_CHARACTERS = 200
PROBE = Entry(
    document_id=reading.PROBE,
    version=1,
    tombstone=True,
    collection_id=0,
    key=None,
    title="",
    media_type="",
    metadata={},
    accepted_at=datetime(1970, 1, 1, tzinfo=UTC),
)
"""Tries whether the engine takes a write; no search and no verification sees it."""


def source_of(entry: Entry, *, is_older: bool = False) -> bytes:
    """The entry as JSON. A tombstone keeps nothing of the document but its name and version.

    An index of an older release, which is still searched while a new one is filled, refuses a field that it does not
    know.
    """
    source: dict[str, Any] = {
        "document_id": str(entry.document_id),
        "version": entry.version,
        "tombstone": entry.tombstone,
        "collection_id": entry.collection_id,
    }
    if not entry.tombstone:
        source |= {
            "key": entry.key,
            "title": entry.title,
            "title_order": entry.title[:ORDER_CHARACTERS].lower(),
            "media_type": entry.media_type[:MEDIA_TYPE_CHARACTERS],
            "accepted_at": entry.accepted_at,
            "metadata": indexed(entry.metadata),
            "words": name_words(entry),
            "passages": [_passage(row, is_older=is_older) for row in rows_of(entry)],
        }
        if entry.language is not None and not is_older:
            source["language"] = entry.language
    return orjson.dumps(source)


def _passage(row: Row, *, is_older: bool) -> dict[str, Any]:
    passage = {
        "n": row.n,
        "page": row.page,
        "breaks": row.breaks,
        "member": row.member,
        "headings": orjson.dumps(row.headings).decode() if row.headings and not is_older else None,
        "text": row.body,
        "words": row.words,
    }
    return {name: value for name, value in passage.items() if value not in (None, ())}
