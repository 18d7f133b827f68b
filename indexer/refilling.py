"""Refill: writes what is published of documents into the index of a build, beside the live work.

    lease ─▶ read the stored result, or the tombstone ─▶ publish to that index only ─▶ finish if still held

Threads of their own do it, never those that take deliveries, and each rests as long as it has worked while live
work is under way: live uploads overtake it. Nothing is extracted here, and no document gets a new version.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy import Connection, Engine, text

from indexer.extract import Passage
from indexer.extract.language import language_of
from indexer.results import unpack
from indexer.search.backend import Entry, SearchBackend
from indexer.search.languages import Languages, chosen
from pipeline import breaker, events, faults, refills
from pipeline.database import AWAY
from pipeline.faults import Fault
from pipeline.holding import Holding
from pipeline.outcomes import Outcome, Published, Rejected, RetryLater, Superseded, is_outage
from pipeline.refills import Batch, Refill
from pipeline.settings import Settings

IDLE_SECONDS = 3.0
"""Until it is asked again whether there is a build."""
WAIT_SECONDS = 1.0
"""Until it is asked again whether a build has more to do."""
TROUBLE_SECONDS = 5.0

_READ = text("""
    SELECT d.document_id, d.published_version, v.operation, d.collection_id, d.key, v.title, v.metadata, v.accepted_at,
           r.media_type, r.passages, r.facts ->> 'language' AS language
    FROM documents d
    JOIN versions v ON v.document_id = d.document_id AND v.input_version = d.published_version
    LEFT JOIN results r ON r.result_id = coalesce(
        v.result_id, (SELECT max(result_id) FROM results same WHERE v.result_id IS NULL AND same.sha256 = v.sha256))
    WHERE d.document_id = ANY(CAST(:documents AS uuid[]))
""")

NO_RESULT = Rejected("no_result", "Its text is not stored any more; `fencepost reindex` makes it again.")


@dataclass(frozen=True, slots=True)
class _Read:
    entries: list[Entry]
    textless: list[UUID]


class Refiller:
    """Works off the refills of a build, one batch after the other."""

    def __init__(
        self, engine: Engine, backend: SearchBackend, holding: Holding, *, worker_id: int, settings: Settings
    ) -> None:
        self._engine = engine
        self._backend = backend
        self._holding = holding
        self._languages = Languages(engine)
        self._worker_id = worker_id
        self._settings = settings

    def run_once(self) -> float:
        """Refills one batch; returns the seconds to rest."""
        started = time.monotonic()
        with self._engine.begin() as connection:
            batch = refills.lease(
                connection,
                backend=self._backend.kind,
                worker_id=self._worker_id,
                most=self._settings.refill.batch_documents,
                most_bytes=self._settings.refill.batch_bytes,
            )
        if batch is None:
            return IDLE_SECONDS
        if not batch.refills:
            return WAIT_SECONDS
        faults.reach(Fault.REFILL_AFTER_LEASE)
        is_well = self._refill(batch)
        faults.reach(Fault.REFILL_AFTER_FINISH)
        if not is_well:
            return TROUBLE_SECONDS
        return time.monotonic() - started if self._holding.all() else 0.0

    def _refill(self, batch: Batch) -> bool:
        """Brings each refill to its end; returns False when the index is in trouble."""
        try:
            outcomes = (self._in_one if self._backend.in_transaction else self._in_two)(batch)
        except AWAY:
            raise
        except Exception as error:  # noqa: BLE001 - a fault of one must not take the batch along
            if len(batch.refills) > 1:
                each = [self._refill(replace(batch, refills=[one])) for one in batch.refills]
                return all(each)
            events.emit(
                "refill.failed", document_id=str(batch.refills[0].document_id), error=repr(error), exc_info=error
            )
            later = RetryLater("handler_error", f"{type(error).__name__}: {error}"[:1000])
            with self._engine.begin() as connection:
                refills.finish_if_held(connection, batch.build_id, [(batch.refills[0], later)], self._settings)
            return True
        if trouble := next(filter(is_outage, outcomes), None):
            breaker.pause_publishing(self._engine, trouble.message)
        return trouble is None

    def _in_one(self, batch: Batch) -> list[Outcome]:
        """Publishes and finishes in one transaction. What became outdated since it was read, the index refuses."""
        read = self._read_and_note(batch)
        with self._engine.begin() as connection:
            held = refills.lock_held(connection, batch)
            theirs = {refill.document_id for refill in held}
            entries = [entry for entry in read.entries if entry.document_id in theirs]
            refused = self._backend.publish(connection, [batch.index], entries)
            faults.reach(Fault.REFILL_AFTER_PUBLISH)
            return self._finish(connection, batch, held, _judged(read, refused))

    def _in_two(self, batch: Batch) -> list[Outcome]:
        """Publishes while no transaction is open, and then finishes."""
        read = self._read_and_note(batch)
        refused = self._backend.publish(None, [batch.index], read.entries)
        faults.reach(Fault.REFILL_AFTER_PUBLISH)
        with self._engine.begin() as connection:
            return self._finish(connection, batch, batch.refills, _judged(read, refused))

    def _read_and_note(self, batch: Batch) -> _Read:
        """Reads what is published; its languages are known before it is found."""
        with self._engine.begin() as connection:
            read = _read(connection, batch.refills)
        self._languages.note(entry.language for entry in read.entries)
        return read

    def _finish(
        self, connection: Connection, batch: Batch, held: Sequence[Refill], judged: dict[UUID, Outcome]
    ) -> list[Outcome]:
        """Documents of which nothing was published, or nothing is left, are done."""
        endings = [(refill, judged.get(refill.document_id, Published())) for refill in held]
        refills.finish_if_held(connection, batch.build_id, endings, self._settings)
        return [outcome for _, outcome in endings]


def _judged(read: _Read, refused: dict[UUID, Outcome]) -> dict[UUID, Outcome]:
    """The outcomes of those that were not written. That the index has a newer version is as good."""
    outcomes = {one: Published() if isinstance(why, Superseded) else why for one, why in refused.items()}
    return {**outcomes, **dict.fromkeys(read.textless, NO_RESULT)}


def _read(connection: Connection, held: Sequence[Refill]) -> _Read:
    entries, textless = [], []
    for row in connection.execute(_READ, {"documents": [refill.document_id for refill in held]}):
        deletes = row.operation == "delete"
        if row.passages is None and not deletes:
            textless.append(row.document_id)
            continue
        passages = [] if deletes else unpack(row.passages)
        entries.append(
            Entry(
                document_id=row.document_id,
                version=row.published_version,
                tombstone=deletes,
                collection_id=row.collection_id,
                key=row.key,
                title=row.title,
                media_type=row.media_type or "",
                metadata=row.metadata,
                accepted_at=row.accepted_at,
                passages=passages,
                language=chosen(row.metadata, row.language or _told(passages)),
            )
        )
    return _Read(entries, textless)


def _told(passages: Sequence[Passage]) -> str | None:
    """The language of a text that was read by a release which did not tell it."""
    found = language_of(passages)
    return None if found is None else found.code
