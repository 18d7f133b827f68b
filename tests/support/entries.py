"""Entries for an index, made of a few words."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from indexer.extract.types import Passage
from indexer.search.backend import Entry

BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
HARD_BODIES = [
    pytest.param(" ".join(f"unique{n}token" for n in range(200_000)), id="3 MB of different words"),
    pytest.param("a " * 500_000, id="words of one letter"),
    pytest.param("z" * 1_000_000, id="one word of a million letters"),
    pytest.param("東京都は日本の首都です" * 30_000, id="a script without spaces"),
    pytest.param("\ufdfa" * 20_000, id="a character that unfolds into many"),
    pytest.param("", id="no text"),
    pytest.param(" \n\t ", id="only spaces"),
    pytest.param("🙂" * 10_000, id="no words"),
]
"""Texts that an index may break on."""


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
