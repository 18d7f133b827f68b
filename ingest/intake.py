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
from pipeline.caller import ANYBODY, Caller
from pipeline.errors import Forbidden, Refusal
from pipeline.faults import Fault
from pipeline.settings import Settings


@dataclass(frozen=True, slots=True)
class Answer:
    """What the caller is told: the acceptance, and whether it is the stored answer of an earlier request."""

    acceptance: Acceptance
    replayed: bool = False


class Intake:
    """Accepts documents of one caller, at first of anybody. One per API process; safe to share among threads.

    A collection that the caller may not see is refused by its name. Who names a document by its id has seen it.
    """

    def __init__(self, engine: Engine, notifier: Notifier, settings: Settings, caller: Caller = ANYBODY) -> None:
        self._engine = engine
        self._notifier = notifier
        self._settings = settings
        self._caller = caller

    def of(self, caller: Caller) -> "Intake":
        """The same for this caller."""
        return Intake(self._engine, self._notifier, self._settings, caller)

    def accept(
        self, submission: Submission, *, spool: Spool | None = None, request: IdempotentRequest | None = None
    ) -> Answer:
        """Accepts one submission, with the bytes in the spool if it brings any; raises a Refusal."""
        self._check(submission)
        request = request and request.of(self._caller)
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
        refused = self._refused(submissions)
        allowed = [submission for place, submission in enumerate(submissions) if place not in refused]
        with self._engine.begin() as connection:
            if small_contents:
                wanted = {submission.sha256 for submission in allowed}
                contents.store_small(connection, {s: data for s, data in small_contents.items() if s in wanted})
            accepted = iter(acceptance.accept(connection, allowed, partitions=self._settings.partitions))
            faults.reach(Fault.BEFORE_ACCEPT_COMMIT)
        self._committed()
        return [refused.get(place) or next(accepted) for place in range(len(submissions))]

    def _refused(self, submissions: Sequence[Submission]) -> dict[int, Refusal]:
        refused: dict[int, Refusal] = {}
        for place, submission in enumerate(submissions):
            try:
                self._check(submission)
            except Forbidden as refusal:
                refused[place] = refusal
        return refused

    def _check(self, submission: Submission) -> None:
        if submission.document_id is None:
            self._caller.must_see(submission.collection)

    def _committed(self) -> None:
        faults.reach(Fault.AFTER_ACCEPT_COMMIT)
        self._notifier.wake()


def _stored(accepted: Acceptance) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, UUID) else value for name, value in asdict(accepted).items()}


def _revived(stored: Mapping[str, Any]) -> Acceptance:
    ids = {name: UUID(stored[name]) if stored[name] else None for name in ("document_id", "job_id")}
    return Acceptance(**{**stored, **ids})
