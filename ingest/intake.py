"""The one transaction of intake (P1): content, version, job and outbox row are committed together, or not at all.

    spool (no transaction open) ─▶ [ idempotency key ─▶ content ─▶ accept ] one commit ─▶ tell the relays

When `accept` has returned, nothing that comes after can lose the document.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any
from uuid import UUID

from sqlalchemy import Engine

from ingest.idempotency import IdempotentRequest, recall, remember
from ingest.notifier import Notifier
from ingest.spool import Spool
from pipeline import acceptance, contents, faults
from pipeline.acceptance import Acceptance, Submission
from pipeline.errors import Refusal
from pipeline.faults import Fault
from pipeline.settings import Settings


@dataclass(frozen=True, slots=True)
class Answer:
    """What the caller is told: the acceptance, and whether it is the stored answer of an earlier request."""

    acceptance: Acceptance
    replayed: bool = False


class Intake:
    """Accepts documents. One per API process; safe to share among threads."""

    def __init__(self, engine: Engine, notifier: Notifier, settings: Settings) -> None:
        self._engine = engine
        self._notifier = notifier
        self._settings = settings

    def accept(
        self, submission: Submission, *, spool: Spool | None = None, request: IdempotentRequest | None = None
    ) -> Answer:
        """Accepts one submission, with the bytes in the spool if it brings any; raises a Refusal."""
        with self._engine.begin() as connection:
            if request is not None:
                stored = recall(connection, request, hours=self._settings.retention.idempotency_hours)
                if stored is not None:
                    return Answer(_revived(stored), replayed=True)
            if spool is not None:
                submission = replace(submission, sha256=spool.sha256, size=spool.size)
                contents.store(connection, spool.sha256, spool.size, spool.file)
            accepted = acceptance.accept_one(connection, submission, partitions=self._settings.partitions)
            if request is not None:
                remember(connection, request, answer=_stored(accepted))
            faults.reach(Fault.BEFORE_ACCEPT_COMMIT)
        self._committed()
        return Answer(accepted)

    def accept_many(
        self, submissions: Sequence[Submission], small_contents: Mapping[bytes, bytes] | None = None
    ) -> list[Acceptance | Refusal]:
        """Accepts many in one transaction; `small_contents` are bytes by SHA-256, at most one piece each."""
        with self._engine.begin() as connection:
            if small_contents:
                contents.store_small(connection, small_contents)
            answers = acceptance.accept(connection, submissions, partitions=self._settings.partitions)
            faults.reach(Fault.BEFORE_ACCEPT_COMMIT)
        self._committed()
        return answers

    def _committed(self) -> None:
        faults.reach(Fault.AFTER_ACCEPT_COMMIT)
        self._notifier.wake()


def _stored(accepted: Acceptance) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, UUID) else value for name, value in asdict(accepted).items()}


def _revived(stored: Mapping[str, Any]) -> Acceptance:
    ids = {name: UUID(stored[name]) if stored[name] else None for name in ("document_id", "job_id")}
    return Acceptance(**{**stored, **ids})
