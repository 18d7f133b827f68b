"""What is known about documents, read in a few statements whatever their number."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, RowMapping, text

from ingest.shapes import DocumentPage, DocumentShape, Failure, History, JobShape, VersionShape
from pipeline import cursors, jobs, waiting
from pipeline.database import MOST_BIGINT
from pipeline.errors import NotFound, no_document
from pipeline.outcomes import TextQuality
from pipeline.settings import Settings
from pipeline.states import FINAL, State
from pipeline.text_facts import TextFacts

FIND = """
    SELECT d.document_id, d.key, c.name AS collection, d.input_version, d.published_version, d.deleted, d.created_at,
           v.title, v.filename, v.media_type, v.metadata, v.sha256, v.accepted_at, v.operation, ct.size,
           newest_result.media_type AS read_media_type, published_result.text_quality, published_result.facts,
           j.job_id, coalesce(j.state, 'succeeded') AS state, j.attempt, j.generation, j.partition, j.priority,
           j.due_at, j.finished_at, q.code, q.message
    FROM documents d
    JOIN collections c USING (collection_id)
    JOIN versions v ON v.document_id = d.document_id AND v.input_version = d.input_version
    LEFT JOIN contents ct ON ct.sha256 = v.sha256
    LEFT JOIN results newest_result ON newest_result.result_id = v.result_id
    LEFT JOIN versions p ON p.document_id = d.document_id AND p.input_version = d.published_version
    LEFT JOIN results published_result ON published_result.result_id = p.result_id
    LEFT JOIN jobs j ON j.document_id = d.document_id AND j.input_version = d.input_version
    LEFT JOIN quarantine q ON q.job_id = j.job_id AND j.state = 'quarantined'
"""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which documents a list shows; None is no condition."""

    state: State | None = None
    collection: str | None = None
    key: str | None = None
    text_quality: TextQuality | None = None


def find(connection: Connection, document_id: UUID, settings: Settings) -> DocumentShape:
    """One document; raises NotFound."""
    rows = connection.execute(text(f"{FIND} WHERE d.document_id = :id"), {"id": document_id}).mappings().all()
    if not rows:
        raise unknown(document_id)
    return _shaped(connection, rows, settings)[0]


def page(
    connection: Connection,
    wanted: Filter,
    visible: list[int] | None,
    *,
    cursor: str | None,
    limit: int,
    settings: Settings,
) -> DocumentPage:
    """One page of the `visible` collections (None: all), the newest documents first; raises Invalid."""
    statement, values = listing(wanted, visible, cursor)
    rows = connection.execute(text(statement), {**values, "limit": limit + 1}).mappings().all()
    shown, following = cursors.page(rows, limit, "created_at", "document_id")
    return DocumentPage(items=_shaped(connection, shown, settings), next=following)


def listing(wanted: Filter, visible: list[int] | None, cursor: str | None) -> tuple[str, dict[str, object]]:
    """The statement of a page, which takes `limit` besides, and its values. Every condition has an index of its own."""
    values: dict[str, object] = {}
    where = ["true"]
    if (last := cursors.decode(cursor, (datetime, UUID))) is not None:
        values["created_at"], values["after"] = last
        where.append("(d.created_at, d.document_id) < (CAST(:created_at AS timestamptz), CAST(:after AS uuid))")
    if visible is not None:
        values["visible"] = visible
        where.append("d.collection_id = ANY(CAST(:visible AS integer[]))")
    if wanted.state is not None:
        where.append(_in_state(wanted.state))
    if wanted.collection is not None:
        values["collection"] = wanted.collection
        where.append("d.collection_id = (SELECT collection_id FROM collections WHERE name = :collection)")
    if wanted.key is not None:
        values["key"] = wanted.key
        where.append("d.key = :key AND d.collection_id IN (SELECT collection_id FROM collections)")
    if wanted.text_quality is not None:
        where.append(_of_quality(wanted.text_quality))
    return f"{FIND} WHERE {' AND '.join(where)} ORDER BY d.created_at DESC, d.document_id DESC LIMIT :limit", values


def _in_state(state: State) -> str:
    """The condition on the newest job, written so that the partial indexes of jobs serve it."""
    if state is State.QUARANTINED:
        return "j.job_id IN (SELECT job_id FROM quarantine WHERE resolved_at IS NULL)"
    if state is State.SUCCEEDED:  # a purged job of a newest version had succeeded
        return "(j.state = 'succeeded' OR j.state IS NULL)"
    return f"j.state = '{state}'" + (" AND j.finished_at IS NOT NULL" if state in FINAL else "")


def _of_quality(quality: TextQuality) -> str:
    """The condition on the published text, written so that the partial index of flawed texts serves it."""
    if quality is TextQuality.OK:  # most are
        return "(d.text_flaw IS NULL AND published_result.text_quality = 'ok')"
    return f"d.text_flaw = '{quality}'"


def history(connection: Connection, document_id: UUID, *, cursor: str | None, limit: int) -> History:
    """The versions of a document with their attempts, the newest first; raises NotFound."""
    (before,) = cursors.decode(cursor, (int,)) or (MOST_BIGINT,)
    rows = (
        connection.execute(
            text("""
                SELECT v.input_version, v.operation, v.accepted_at, j.job_id, j.state
                FROM versions v LEFT JOIN jobs j USING (document_id, input_version)
                WHERE v.document_id = :id AND v.input_version < :before
                ORDER BY v.input_version DESC LIMIT :limit
            """),
            {"id": document_id, "before": before, "limit": limit + 1},
        )
        .mappings()
        .all()
    )
    if not rows:
        raise unknown(document_id)
    shown, following = cursors.page(rows, limit, "input_version")
    attempts = jobs.attempts(connection, [row["job_id"] for row in shown if row["job_id"]])
    versions = [VersionShape(**row, attempts=attempts.get(row["job_id"], [])[::-1]) for row in shown]
    return History(versions=versions, next=following)


def content(connection: Connection, document_id: UUID, version: int | None) -> RowMapping:
    """{sha256, size, filename, media_type} of a version, the newest unless named; raises NotFound."""
    row = (
        connection.execute(
            text("""
                SELECT v.sha256, c.size, v.filename, coalesce(r.media_type, v.media_type) AS media_type
                FROM documents d
                JOIN versions v USING (document_id)
                LEFT JOIN contents c USING (sha256)
                LEFT JOIN results r ON r.result_id = v.result_id
                WHERE d.document_id = :id AND v.input_version = coalesce(:version, d.input_version)
            """),
            {"id": document_id, "version": version},
        )
        .mappings()
        .one_or_none()
    )
    if row is None:
        raise unknown(document_id, version)
    if row["sha256"] is None:
        raise NotFound("no_content", f"This version of document {document_id} is a delete.")
    return row


def unknown(document_id: UUID, version: int | None = None) -> NotFound:
    """The refusal of a document, or version of one, that is not there."""
    if version is not None:
        return NotFound("version_not_found", f"Document {document_id} has no version {version}.")
    return no_document(document_id)


def _shaped(connection: Connection, rows: Sequence[RowMapping], settings: Settings) -> list[DocumentShape]:
    unfinished = [row["job_id"] for row in rows if row["job_id"] and row["state"] not in FINAL]
    sentences = waiting.explain(connection, unfinished, settings) if unfinished else {}
    return [_shape(row, sentences.get(row["job_id"])) for row in rows]


def _shape(row: RowMapping, sentence: str | None) -> DocumentShape:
    fields: dict[str, Any] = dict(row)
    fields.update(
        id=row["document_id"],
        media_type=row["read_media_type"] or row["media_type"],
        sha256=row["sha256"].hex() if row["sha256"] else None,
        waiting=sentence,
        failure=Failure.of(row["code"], row["message"]),
        text=TextFacts.of(row["text_quality"], row["facts"]),
        job=JobShape(id=row["job_id"], **{name: row[name] for name in JobShape.model_fields if name != "id"})
        if row["job_id"]
        else None,
    )
    return DocumentShape(**fields)
