"""Accepting new versions of documents: the statements behind P1, for one document or for many at once.

    collections ─▶ documents by key ─▶ lock ─▶ compare with the newest version ─▶ supersede ─▶ version + job + outbox

Everything happens in the caller's transaction. Locks are taken in one order (contents by hash, documents by key, then
by document_id), so that any two callers can meet without a deadlock.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID, uuid4

import orjson
from sqlalchemy import Connection, RowMapping, text

from pipeline.collections import collection_ids
from pipeline.database import query
from pipeline.errors import Conflict, PreconditionFailed, Refusal, no_document
from pipeline.states import Operation, Priority, State


@dataclass(frozen=True, slots=True)
class Submission:
    """One wanted change of one document.

    Without `document_id` the document is found, or made, by `collection` and `key`; without a key it is a new one.
    What is None is taken over from the newest version. `metadata_changes` are made to its metadata; None takes a name
    away. `always` makes a new version even if nothing changed.
    """

    operation: Operation = Operation.INDEX
    collection: str = "default"
    key: str | None = None
    document_id: UUID | None = None
    sha256: bytes | None = None
    size: int = 0
    title: str | None = None
    filename: str | None = None
    media_type: str | None = None
    metadata: dict[str, Any] | None = None
    metadata_changes: dict[str, Any] = field(default_factory=dict)
    if_match: int | None = None
    priority: int = Priority.LIVE
    always: bool = False


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What became of a submission. `job_id` is None for an unchanged version whose old job has been purged."""

    document_id: UUID
    input_version: int
    job_id: UUID | None
    state: str
    unchanged: bool


def partition_of(document_id: UUID, partitions: int) -> int:
    """The partition of a document: a stable hash, so that every process and release agrees."""
    return zlib.crc32(document_id.bytes) % partitions


def accept(connection: Connection, submissions: Sequence[Submission], *, partitions: int) -> list[Acceptance | Refusal]:
    """Accepts every submission that can be; answers in their order. One that is refused stops no other."""
    targets = _targets(connection, submissions)
    documents = _locked(connection, targets)
    answers: list[Acceptance | Refusal | None] = [
        None if target in documents else no_document(target) for target in targets
    ]
    while None in answers:  # a document that occurs twice gets its second version in a second round
        this_round: dict[UUID, int] = {}
        for place, target in enumerate(targets):
            if answers[place] is None:
                this_round.setdefault(target, place)
        accepted = _accept_round(
            connection, [(documents[target], submissions[place]) for target, place in this_round.items()], partitions
        )
        for place, answer in zip(this_round.values(), accepted, strict=True):
            answers[place] = answer
        if None in answers:
            documents = _locked(connection, targets)
    return [answer for answer in answers if answer is not None]


def accept_one(connection: Connection, submission: Submission, *, partitions: int) -> Acceptance:
    """Accepts one submission; raises the Refusal if it cannot be."""
    (answer,) = accept(connection, [submission], partitions=partitions)
    if isinstance(answer, Refusal):
        raise answer
    return answer


def _targets(connection: Connection, submissions: Sequence[Submission]) -> list[UUID]:
    """The document of each submission; documents that are new are made, with version 0."""
    collections = collection_ids(connection, {s.collection for s in submissions if s.document_id is None})
    fresh: dict[tuple[int, str], UUID] = {}
    targets: list[UUID | tuple[int, str]] = []
    rows: list[dict[str, Any]] = []
    for s in submissions:
        if s.document_id is not None:
            targets.append(s.document_id)
            continue
        collection_id = collections[s.collection]
        document_id = uuid4()
        if s.key is None:
            targets.append(document_id)
        else:
            targets.append((collection_id, s.key))
            if (collection_id, s.key) in fresh:
                continue
            fresh[collection_id, s.key] = document_id
        rows.append({"document_id": document_id, "collection_id": collection_id, "key": s.key})
    if rows:
        rows.sort(key=lambda row: (row["collection_id"], row["key"] or ""))
        connection.execute(
            text("""
                INSERT INTO documents (document_id, collection_id, key)
                SELECT document_id, collection_id, key
                FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (document_id uuid, collection_id integer, key text)
                ON CONFLICT (collection_id, key) DO NOTHING
            """),
            {"rows": orjson.dumps(rows).decode()},
        )
    by_key = _documents_by_key(connection, list(fresh))
    return [target if isinstance(target, UUID) else by_key[target] for target in targets]


def _documents_by_key(connection: Connection, keys: list[tuple[int, str]]) -> dict[tuple[int, str], UUID]:
    if not keys:
        return {}
    rows = connection.execute(
        text("""
            SELECT d.collection_id, d.key, d.document_id
            FROM unnest(CAST(:collections AS integer[]), CAST(:keys AS text[])) AS wanted (collection_id, key)
            JOIN documents d USING (collection_id, key)
        """),
        {"collections": [collection for collection, _ in keys], "keys": [key for _, key in keys]},
    )
    return {(row.collection_id, row.key): row.document_id for row in rows}


def _locked(connection: Connection, targets: list[UUID]) -> dict[UUID, RowMapping]:
    rows = connection.execute(query("lock_documents"), {"documents": list(dict.fromkeys(targets))}).mappings()
    return {row["document_id"]: row for row in rows}


def _accept_round(
    connection: Connection, wanted: list[tuple[RowMapping, Submission]], partitions: int
) -> list[Acceptance | Refusal]:
    """At most one submission a document, all of them locked."""
    ids = [document["document_id"] for document, _ in wanted]
    newest = {
        row["document_id"]: row for row in connection.execute(query("newest_versions"), {"documents": ids}).mappings()
    }
    answers: dict[UUID, Acceptance | Refusal] = {}
    rows: list[dict[str, Any]] = []
    superseded: list[UUID] = []
    for document, submission in wanted:
        before = newest.get(document["document_id"])
        answer = _refused(document, submission, before) or _unchanged(document, submission, before)
        if answer is not None:
            answers[document["document_id"]] = answer
            continue
        rows.append(_row(document, submission, before, partitions))
        superseded += _overtaken(submission, before)
    if superseded:
        connection.execute(query("supersede"), {"jobs": superseded})
    if rows:
        jobs = connection.execute(query("accept"), {"rows": orjson.dumps(rows).decode()})
        job_ids = {job.document_id: job.job_id for job in jobs}
        for row in rows:
            answers[row["document_id"]] = Acceptance(
                row["document_id"], row["input_version"], job_ids[row["document_id"]], State.QUEUED, unchanged=False
            )
    return [answers[document_id] for document_id in ids]


def _refused(document: RowMapping, submission: Submission, before: RowMapping | None) -> Refusal | None:
    if submission.if_match is not None and submission.if_match != document["input_version"]:
        return PreconditionFailed(
            "version_mismatch",
            f"The newest version of document {document['document_id']} is {document['input_version']}, "
            f"not {submission.if_match}. Read it again and decide anew.",
            input_version=document["input_version"],
        )
    inherits = submission.operation is Operation.INDEX and submission.sha256 is None
    if inherits and (before is None or before["sha256"] is None):
        return Conflict("deleted", f"Document {document['document_id']} is deleted. Upload it again to index it.")
    return None


def _unchanged(document: RowMapping, submission: Submission, before: RowMapping | None) -> Acceptance | None:
    """The newest version, if it is the same and neither failed nor (for an upload) a delete."""
    if before is None or submission.always:
        return None
    if submission.operation is Operation.DELETE:
        same = before["operation"] == Operation.DELETE and before["state"] != State.QUARANTINED
    else:
        same = (
            before["operation"] == Operation.INDEX
            and before["state"] not in {State.QUARANTINED, State.RESOLVED}
            and all(
                wanted is None or wanted == before[name]
                for name, wanted in (
                    ("sha256", submission.sha256),
                    ("title", submission.title),
                    ("filename", submission.filename),
                    ("media_type", submission.media_type),
                    ("metadata", submission.metadata),
                )
            )
        )
    if not same:
        return None
    return Acceptance(
        document["document_id"], document["input_version"], before["job_id"], before["state"], unchanged=True
    )


def _row(document: RowMapping, submission: Submission, before: RowMapping | None, partitions: int) -> dict[str, Any]:
    deletes = submission.operation is Operation.DELETE
    inherited: dict[str, Any] = dict(before) if before is not None else {}
    kept = replace(
        submission,
        sha256=None if deletes else (submission.sha256 or inherited.get("sha256")),
        size=0 if deletes else (submission.size if submission.sha256 else inherited.get("size") or 0),
        title=_first(submission.title, inherited.get("title"), ""),
        filename=_first(submission.filename, inherited.get("filename"), ""),
        media_type=_first(submission.media_type, inherited.get("media_type"), ""),
        metadata=_changed(_first(submission.metadata, inherited.get("metadata"), {}), submission.metadata_changes),
    )
    priority = Priority.DELETE if deletes else submission.priority
    if inherited.get("waiting_priority") is not None:
        priority = min(priority, inherited["waiting_priority"])
    return {
        "document_id": document["document_id"],
        "collection_id": document["collection_id"],
        "input_version": document["input_version"] + 1,
        "operation": kept.operation,
        "sha256": kept.sha256.hex() if kept.sha256 else None,
        "size": kept.size,
        "title": kept.title,
        "filename": kept.filename,
        "media_type": kept.media_type,
        "metadata": kept.metadata,
        "partition": partition_of(document["document_id"], partitions),
        "priority": priority,
        "alone": document["suspect"],
    }


def _overtaken(submission: Submission, before: RowMapping | None) -> list[UUID]:
    """The waiting job; and the leased one, but only by a delete: a leased version is otherwise left to finish."""
    if before is None:
        return []
    names = ["waiting_id", "leased_id"] if submission.operation is Operation.DELETE else ["waiting_id"]
    return [before[name] for name in names if before[name] is not None]


def _changed(metadata: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in (metadata | changes).items() if name not in changes or value is not None}


def _first(*values: Any) -> Any:  # noqa: ANN401 - any field's value
    return next(value for value in values if value is not None)
