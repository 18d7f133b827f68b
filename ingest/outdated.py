"""Reindexes documents whose published text comes from earlier readers or other settings than those of today.

This room knows nothing of readers: whoever assembles the application says under which key a result is `expected`.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from sqlalchemy import Connection, Engine, RowMapping, text

from ingest.campaign import accepted_of
from ingest.intake import Intake
from ingest.shapes import Campaign, OutdatedShape
from pipeline.agreement import disagreements
from pipeline.settings import Settings

BATCH = 1000
FIRST = UUID(int=0)
MAY_WORK_NOW = ("unsupported_format", "limit_exceeded", "extractor_crashed", "extractor_timeout")
"""Why documents are in quarantine whom other readers or settings may help; they are replayed from there."""
COUNTED = 10_000

Expected = Callable[[str, str], tuple[str, str] | None]
"""From the extractor of a stored result and the encoding in the document's metadata to today's (extractor, fingerprint)
of its reader; None where there is none any more. An extractor lists the versions of the document's own reader and, each
behind a `+`, of those that read what is inside."""

Change = tuple[str, str | None, Literal["reader", "inside", "settings"]]
"""The versions then and now, and what has changed."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Where to look: in one collection or all, of those that are `visible` (None: all)."""

    collection: str | None
    visible: list[int] | None

    def values(self) -> dict[str, object]:
        """What its condition in SQL needs."""
        return {"collection": self.collection, "visible": self.visible}


def reindex_outdated(
    engine: Engine, intake: Intake, expected: Expected, extent: Extent, settings: Settings, *, dry_run: bool
) -> Campaign:
    """Accepts a new version of each such document, in short transactions; `dry_run` only counts them.

    One whose newest version waits or is in work is skipped, as that will be read anyway; one whose newest version
    failed is none of these: it is in quarantine.
    """
    found: Counter[tuple[str, *Change]] = Counter()
    accepted = skipped = 0
    for batch in _batches(engine, extent):
        outdated = [row for row in batch if _now(row, expected) != (row["extractor"], row["fingerprint"])]
        others = [row for row in outdated if not row["is_waiting"]]
        taken = 0 if dry_run else accepted_of(intake, [row["document_id"] for row in others])
        accepted += taken
        skipped += len(outdated) - (len(others) if dry_run else taken)
        for row in others:
            found[row["media_type"], *_change(row["extractor"], _now(row, expected))] += 1
    with engine.connect() as connection:
        quarantined = _quarantined(connection, extent)
        warnings = disagreements(connection, settings)
    shapes = [
        OutdatedShape(media_type=media_type, stored=stored, now=now, why=why, documents=n)
        for (media_type, stored, now, why), n in sorted(found.items(), key=str)
    ]
    return Campaign(
        accepted=accepted,
        skipped=skipped,
        outdated=shapes,
        quarantined=quarantined,
        dry_run=dry_run,
        warnings=warnings or None,
    )


def _now(row: RowMapping, expected: Expected) -> tuple[str, str] | None:
    return expected(row["extractor"], row["encoding"])


def _change(stored: str, expected: tuple[str, str] | None) -> Change:
    """What differs, and nothing else: archives are counted together although each has other files inside."""
    own, *inside = stored.split("+")
    if expected is None:
        return own, None, "reader"
    own_now, *inside_now = expected[0].split("+")
    if own != own_now:
        return own, own_now, "reader"
    if inside == inside_now:
        return own, own, "settings"
    changed = [pair for pair in zip(inside, inside_now, strict=True) if pair[0] != pair[1]]
    return "+".join(old for old, _ in changed), "+".join(new for _, new in changed), "inside"


def _batches(engine: Engine, extent: Extent) -> Iterator[list[RowMapping]]:
    """The published results of the documents, with what decides whether they are of today."""
    after = FIRST
    while True:
        with engine.connect() as connection:
            rows = connection.execute(text(PUBLISHED), {**extent.values(), "after": after, "batch": BATCH})
            batch = list(rows.mappings())
        if not batch:
            return
        after = batch[-1]["document_id"]
        yield [row for row in batch if row["counts"]]


def _within(table: str) -> str:
    return f"""
        (CAST(:collection AS text) IS NULL
         OR {table}.collection_id = (SELECT collection_id FROM collections WHERE name = :collection))
        AND (CAST(:visible AS integer[]) IS NULL OR {table}.collection_id = ANY(CAST(:visible AS integer[])))
    """


PUBLISHED = f"""
    WITH batch AS MATERIALIZED (  -- so that the rest is looked up for these and no others
        SELECT document_id, input_version, published_version, deleted
        FROM documents d
        WHERE document_id > :after AND {_within("d")}
        ORDER BY document_id LIMIT :batch
    )
    SELECT b.document_id, r.media_type, r.extractor, r.fingerprint, b.input_version > b.published_version AS is_waiting,
           CASE jsonb_typeof(v.metadata -> 'encoding') WHEN 'string' THEN v.metadata ->> 'encoding' ELSE '' END
               AS encoding,
           NOT b.deleted AND r.result_id IS NOT NULL
               AND (b.input_version = b.published_version OR j.state IN ('queued', 'retry_wait', 'leased')) AS counts
    FROM batch b
    LEFT JOIN versions v ON v.document_id = b.document_id AND v.input_version = b.published_version
    LEFT JOIN results r ON r.result_id = v.result_id
    LEFT JOIN jobs j ON j.document_id = b.document_id AND j.input_version = b.input_version
    ORDER BY b.document_id
"""


def _quarantined(connection: Connection, extent: Extent) -> dict[str, int]:
    """How many are in quarantine that may work now, by code; counted up to COUNTED in all."""
    rows = connection.execute(
        text(f"""
            SELECT code, count(*) AS documents FROM (
                SELECT q.code FROM quarantine q JOIN jobs j USING (job_id)
                WHERE q.resolved_at IS NULL AND q.code = ANY(CAST(:codes AS text[])) AND {_within("j")}
                LIMIT :most
            ) counted
            GROUP BY code ORDER BY code
        """),
        {**extent.values(), "codes": list(MAY_WORK_NOW), "most": COUNTED},
    )
    return {row.code: row.documents for row in rows}
