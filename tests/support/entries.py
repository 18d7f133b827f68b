"""Entries for an index, made of a few words."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from indexer.extract.types import Passage
from indexer.search.backend import Entry

BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


def entry(body: str | Sequence[Passage] = "lighthouse", version: int = 1, **fields: Any) -> Entry:
    """A document of a plain text."""
    document_id: UUID = fields.pop("document_id", None) or uuid4()
    plain = {
        "tombstone": False,
        "collection_id": 1,
        "key": None,
        "title": "",
        "media_type": "text/plain",
        "metadata": {},
        "accepted_at": BEGINNING,
        "passages": [Passage(body)] if isinstance(body, str) else body,
    }
    return Entry(document_id, version, **plain | fields)


def tombstone(document_id: UUID, version: int) -> Entry:
    """The entry of a deleted document."""
    return entry((), version, document_id=document_id, tombstone=True)
