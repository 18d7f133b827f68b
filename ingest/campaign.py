"""Reindexes many documents, in short transactions and behind all live uploads.

A crash in the middle leaves what was accepted accepted. The same request again goes on: whose newest version still
waits has nothing to do and is skipped.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Engine, text

from ingest.intake import Intake
from ingest.shapes import Campaign
from pipeline.acceptance import Acceptance, Submission
from pipeline.states import Priority, State

BATCH = 200
FIRST = UUID(int=0)
Changes = dict[str, str | None]


@dataclass(frozen=True, slots=True)
class Choice:
    """Which documents: the named ones, those of a collection, those in a state, or all."""

    documents: Sequence[UUID] | None = None
    collection: str | None = None
    state: State | None = None


def reindex(
    engine: Engine, intake: Intake, choice: Choice, visible: list[int] | None, changes: Changes | None = None
) -> Campaign:
    """Accepts a new version of each chosen document that is not deleted and does not wait anyway.

    With changes of the metadata one that waits has something to do as well. Documents outside the `visible` collections
    (None: all) are as if they were not there.
    """
    accepted = skipped = 0
    for waiting, others in _batches(engine, choice, visible):
        chosen = others + waiting if changes else others
        taken = accepted_of(intake, chosen, changes)
        accepted += taken
        skipped += len(waiting) + len(others) - taken
    if choice.documents is not None:  # unknown ones are skipped too
        skipped = len(set(choice.documents)) - accepted
    return Campaign(accepted=accepted, skipped=skipped)


def accepted_of(intake: Intake, documents: Sequence[UUID], changes: Changes | None = None) -> int:
    """Accepts a new version of each, behind all live uploads; how many were not refused."""
    submissions = [
        Submission(document_id=document, metadata_changes=changes or {}, priority=Priority.CAMPAIGN, always=True)
        for document in documents
    ]
    parts = (submissions[at : at + BATCH] for at in range(0, len(submissions), BATCH))
    answers = (intake.accept_many(part) for part in parts)
    return sum(isinstance(answer, Acceptance) for part in answers for answer in part)


def _batches(engine: Engine, choice: Choice, visible: list[int] | None) -> Iterator[tuple[list[UUID], list[UUID]]]:
    """For each batch: the documents that wait anyway, and the others."""
    after = FIRST
    while True:
        with engine.connect() as connection:
            rows = connection.execute(
                text("""
                    SELECT d.document_id, coalesce(j.state IN ('queued', 'retry_wait'), false) AS is_waiting
                    FROM documents d
                    LEFT JOIN jobs j ON j.document_id = d.document_id AND j.input_version = d.input_version
                    WHERE d.document_id > :after AND d.input_version > 0
                      AND (CAST(:documents AS uuid[]) IS NULL OR d.document_id = ANY(CAST(:documents AS uuid[])))
                      AND (CAST(:collection AS text) IS NULL
                           OR d.collection_id = (SELECT collection_id FROM collections WHERE name = :collection))
                      AND (CAST(:visible AS integer[]) IS NULL
                           OR d.collection_id = ANY(CAST(:visible AS integer[])))
                      AND (CAST(:state AS text) IS NULL OR coalesce(j.state, 'succeeded') = :state)
                    ORDER BY d.document_id LIMIT :batch
                """),
                {
                    "after": after,
                    "documents": list(choice.documents) if choice.documents is not None else None,
                    "collection": choice.collection,
                    "visible": visible,
                    "state": choice.state,
                    "batch": BATCH,
                },
            ).all()
        if not rows:
            return
        after = rows[-1].document_id
        yield (
            [row.document_id for row in rows if row.is_waiting],
            [row.document_id for row in rows if not row.is_waiting],
        )
