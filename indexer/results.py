"""Extraction results: stored once under their key, read back before every publish (P6).

The key is (SHA-256 of the bytes, version of the extractor, fingerprint of all else that decides the text). Whoever
comes second finds the row of the first; failures are never stored. Passages are kept as compressed JSON.

What is inside a document is known when it has been read. So a result is stored under the version of its reader and of
all that read what was inside (`zip-4.1+pdf-2+text-1`), and found by the first as long as all the others are of today.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import orjson
import zstandard
from sqlalchemy import Connection, text

from indexer.extract import Extraction, Passage
from indexer.extract.expected import LEFT_OUT
from indexer.extract.extraction import digest
from indexer.extract.sniff import versions_inside

LEVEL = 1


class Key(NamedTuple):
    """Names a result, by the version of the document's own reader."""

    sha256: bytes
    extractor: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Result:
    """A stored extraction."""

    result_id: int
    media_type: str
    text_quality: str
    passages: list[Passage]
    language: str | None
    incomplete_since: datetime | None = None

    def serves(self, accepted_at: datetime) -> bool:
        """Whether a version that was accepted then takes this text: one in which members were left out may be chance.

        So it serves whoever waited then, and is not what somebody gets who asks once more.
        """
        return self.incomplete_since is None or accepted_at <= self.incomplete_since


def find(connection: Connection, keys: Collection[Key]) -> dict[Key, Result]:
    """The stored results among these keys; where two texts were stored at once, all take the first.

    One in which members were left out stands behind one in which none was, and behind those that were read later.
    """
    if not keys:
        return {}
    rows = connection.execute(
        text("""
            SELECT DISTINCT ON (k.sha256, k.extractor, k.fingerprint)
                   r.result_id, k.sha256, k.extractor, k.fingerprint, r.media_type, r.text_quality, r.passages,
                   r.facts ->> 'language' AS language,
                   CASE WHEN r.facts ? 'left_out' THEN r.created_at END AS incomplete_since
            FROM unnest(CAST(:hashes AS bytea[]), CAST(:extractors AS text[]), CAST(:fingerprints AS text[]))
                 AS k (sha256, extractor, fingerprint)
            JOIN results r ON r.sha256 = k.sha256 AND r.fingerprint = k.fingerprint
                 AND split_part(r.extractor, '+', 1) = k.extractor
                 AND (string_to_array(split_part(r.extractor, '+left-', 1), '+'))[2:] <@ CAST(:inside AS text[])
            ORDER BY k.sha256, k.extractor, k.fingerprint, r.facts ? 'left_out', incomplete_since DESC, r.result_id
        """),
        {
            "hashes": [key.sha256 for key in keys],
            "extractors": [key.extractor for key in keys],
            "fingerprints": [key.fingerprint for key in keys],
            "inside": list(versions_inside().values()),
        },
    )
    return {
        Key(row.sha256, row.extractor, row.fingerprint): Result(
            row.result_id, row.media_type, row.text_quality, unpack(row.passages), row.language, row.incomplete_since
        )
        for row in rows
    }


def store(connection: Connection, extractions: Mapping[Key, Extraction]) -> None:
    """Stores results; what somebody else stored in the meantime stays as it is. In key order, against deadlocks.

    Where members are left out as before, the text that is there is as good as a new one.
    """
    rows = sorted((_with_inside(key, extraction), extraction) for key, extraction in extractions.items())
    connection.execute(
        text("""
            INSERT INTO results (sha256, extractor, fingerprint, media_type, text_quality, facts, passages)
            SELECT sha256, extractor, fingerprint, media_type, text_quality, CAST(facts AS jsonb), passages
            FROM unnest(
                CAST(:hashes AS bytea[]), CAST(:extractors AS text[]), CAST(:fingerprints AS text[]),
                CAST(:media_types AS text[]), CAST(:qualities AS text[]), CAST(:facts AS text[]),
                CAST(:passages AS bytea[])
            ) AS r (sha256, extractor, fingerprint, media_type, text_quality, facts, passages)
            ON CONFLICT ON CONSTRAINT extracted_once
                DO UPDATE SET created_at = now() WHERE results.facts ? 'left_out'
        """),
        {
            "hashes": [key.sha256 for key, _ in rows],
            "extractors": [key.extractor for key, _ in rows],
            "fingerprints": [key.fingerprint for key, _ in rows],
            "media_types": [extraction.media_type for _, extraction in rows],
            "qualities": [extraction.text_quality for _, extraction in rows],
            "facts": [orjson.dumps(extraction.facts).decode() for _, extraction in rows],
            "passages": [pack(extraction.passages) for _, extraction in rows],
        },
    )


def _with_inside(key: Key, extraction: Extraction) -> Key:
    """The key with the versions of what was inside; a child of ours is believed only what there is.

    A text in which members were left out has a key of its own, so that one without other members stands beside it.
    """
    contains = extraction.facts.get("contains")
    inside = [version for version in versions_inside().values() if isinstance(contains, list) and version in contains]
    incomplete = [f"{LEFT_OUT}-{digest(repr(extraction.facts))}"] if "left_out" in extraction.facts else []
    return key._replace(extractor="+".join([key.extractor, *sorted(inside), *incomplete]))


def read(connection: Connection, result_id: int) -> list[Passage]:
    """The passages of one result."""
    found = connection.execute(text("SELECT passages FROM results WHERE result_id = :id"), {"id": result_id})
    return unpack(found.scalar_one())


def pack(passages: Iterable[Passage]) -> bytes:
    """Passages as compressed JSON."""
    rows = [(p.text, p.page, p.member, p.heading, p.breaks) for p in passages]
    return zstandard.ZstdCompressor(level=LEVEL).compress(orjson.dumps(rows))


def unpack(packed: bytes) -> list[Passage]:
    """The passages that `pack` took."""
    rows = orjson.loads(zstandard.ZstdDecompressor().decompress(packed))
    return [
        Passage(words, page, member, heading, tuple((offset, next_page) for offset, next_page in breaks))
        for words, page, member, heading, breaks in rows
    ]
