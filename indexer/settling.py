"""Settle: store the result ─▶ publish if newer ─▶ finish if the lease is still held.

Storing commits first, so that an extraction is never paid for twice. Publishing and finishing share one transaction
where the index is in PostgreSQL; elsewhere the index itself refuses what is older. All three may be repeated without
harm, which is how a database that blinks is waited out.
"""

import time
from uuid import UUID

from sqlalchemy import Connection, Engine, text

from indexer import results
from indexer.search.backend import Entry, SearchBackend
from indexer.search.languages import Languages, chosen
from indexer.underway import Attempt, failed
from pipeline import breaker, events, faults, leases
from pipeline.breaker import INDEX
from pipeline.database import AWAY
from pipeline.faults import Fault
from pipeline.holding import Holding
from pipeline.leases import Ending
from pipeline.loop import patiently
from pipeline.outcomes import LeaseLost, Outcome, Published, is_outage, outage
from pipeline.settings import Settings
from pipeline.states import State


class Settler:
    """Brings attempts to their end."""

    def __init__(self, engine: Engine, backend: SearchBackend, holding: Holding, settings: Settings) -> None:
        self._engine = engine
        self._backend = backend
        self._holding = holding
        self._languages = Languages(engine)
        self._settings = settings

    def settle(self, attempts: list[Attempt]) -> None:
        """Commits the outcome of each; what cannot be committed is left to lapse, and said."""
        try:
            states = patiently(lambda: self._store_and_finish(attempts))
        except AWAY as error:
            jobs = [str(attempt.lease.job_id) for attempt in attempts]
            events.emit("finish.given_up", jobs=jobs, error=str(error).partition("\n")[0])
        except Exception as error:  # noqa: BLE001 - a fault of one must not take the batch along
            self._isolate(attempts, error)
        else:
            for attempt in attempts:
                self._say(attempt, states.get(attempt.lease.job_id))
        finally:
            self._holding.drop(attempt.lease for attempt in attempts)

    def _store_and_finish(self, attempts: list[Attempt]) -> dict[UUID, State]:
        mine = [attempt for attempt in attempts if self._holding.still(attempt.lease)]
        self._store(mine)
        self._languages.note(map(_language, mine))
        return self._publish_and_finish(mine) if mine else {}

    def _store(self, attempts: list[Attempt]) -> None:
        """Stores what was extracted, and reads it back: only a stored result is ever published."""
        extracted = [a for a in attempts if a.extraction is not None and a.key is not None and a.result is None]
        new = {a.key: a.extraction for a in extracted if a.key is not None and a.extraction is not None}
        if not new:
            return
        started = time.monotonic()
        with self._engine.begin() as connection:
            results.store(connection, new)
            stored = results.find(connection, new.keys())
        for attempt in extracted:
            attempt.result = stored[attempt.key] if attempt.key is not None else None
            attempt.stages.store_ms = round((time.monotonic() - started) * 1000)
        faults.reach(Fault.AFTER_RESULT_STORED)

    def _publish_and_finish(self, attempts: list[Attempt]) -> dict[UUID, State]:
        """Publishes first where that is a matter of another engine: no transaction waits for it."""
        if self._backend.in_transaction:
            return self._finish_with_publishing(attempts)
        self._publish_elsewhere([attempt for attempt in attempts if attempt.outcome is None])
        faults.reach(Fault.AFTER_PUBLISH_BEFORE_FINISH)
        with self._engine.begin() as connection:
            held = leases.lock_held(connection, [attempt.lease for attempt in attempts])
            return self._finish(connection, [a for a in attempts if a.lease.job_id in held], {})

    def _publish_elsewhere(self, attempts: list[Attempt]) -> None:
        """Gives each its outcome, which a repeated finish finds again.

        Nothing is tried while the breaker is open: what was under way when it opened is handed back as well. It opens
        before the finish, so that what is handed back is not sent at once.
        """
        with self._engine.connect() as connection:
            paused = breaker.why_open(connection, INDEX)
        outcomes: dict[UUID, Outcome]
        if paused is None:
            outcomes = self._publish(None, attempts)
            if trouble := next(filter(is_outage, outcomes.values()), None):
                breaker.pause_publishing(self._engine, trouble.message)
        else:
            outcomes = {attempt.lease.document_id: outage(paused) for attempt in attempts}
        for attempt in attempts:
            attempt.outcome = outcomes[attempt.lease.document_id]

    def _finish_with_publishing(self, attempts: list[Attempt]) -> dict[UUID, State]:
        """Learns which leases are still held, publishes only those, and finishes them, in one transaction."""
        most = round(self._settings.lease.seconds / 3 * 1000)
        with self._engine.begin() as connection:
            connection.execute(text(f"SET LOCAL statement_timeout = {most}"))
            held = leases.lock_held(connection, [attempt.lease for attempt in attempts])
            mine = [attempt for attempt in attempts if attempt.lease.job_id in held]
            outcomes = self._publish(connection, mine)
            faults.reach(Fault.AFTER_PUBLISH_BEFORE_FINISH)
            return self._finish(connection, mine, outcomes)

    def _publish(self, connection: Connection | None, attempts: list[Attempt]) -> dict[UUID, Outcome]:
        """The outcomes by document. All of a delivery were leased together, and so have the same targets."""
        publishing = [attempt for attempt in attempts if attempt.outcome is None]
        if not publishing:
            return {}
        started = time.monotonic()
        outcomes = {attempt.lease.document_id: _published(attempt) for attempt in publishing}
        entries = [_entry(attempt) for attempt in publishing]
        outcomes |= self._backend.publish(connection, publishing[0].lease.targets, entries)
        for attempt in publishing:
            attempt.stages.publish_ms = round((time.monotonic() - started) * 1000)
        return outcomes

    def _finish(
        self, connection: Connection, attempts: list[Attempt], outcomes: dict[UUID, Outcome]
    ) -> dict[UUID, State]:
        endings = [_ending(a, a.outcome or outcomes[a.lease.document_id]) for a in attempts]
        return leases.finish_if_held(connection, endings, self._settings)

    def _isolate(self, attempts: list[Attempt], error: Exception) -> None:
        """One of them cannot be stored or published: each tries alone, and the one that fails again says so."""
        if len(attempts) == 1 and attempts[0].outcome is not None:
            events.emit("finish.given_up", jobs=[str(attempts[0].lease.job_id)], error=repr(error))
            return
        for attempt in attempts:
            if len(attempts) == 1:
                attempt.extraction, attempt.outcome = None, failed(attempt, error)
            self.settle([attempt])

    def _say(self, attempt: Attempt, state: State | None) -> None:
        lease = attempt.lease
        if state is None and not self._ended_already(attempt):
            events.emit("lease.lost", job_id=str(lease.job_id), generation=lease.generation)
            attempt.outcome = LeaseLost()
            return
        events.emit(
            "job.quarantined" if state is State.QUARANTINED else "attempt.ended",
            job_id=str(lease.job_id),
            document_id=str(lease.document_id),
            input_version=lease.input_version,
            generation=lease.generation,
            state=state,
            code=getattr(attempt.outcome, "code", None),
        )

    def _ended_already(self, attempt: Attempt) -> bool:
        """Whether an earlier try of the finish committed although its answer got lost."""
        with self._engine.connect() as connection:
            return leases.ended_already(connection, _ending(attempt, attempt.outcome or _published(attempt)))


def _entry(attempt: Attempt) -> Entry:
    lease, result = attempt.lease, attempt.result
    return Entry(
        document_id=lease.document_id,
        version=lease.input_version,
        tombstone=attempt.deletes,
        collection_id=lease.collection_id,
        key=lease.key,
        title=lease.title,
        media_type=result.media_type if result is not None else "",
        metadata=lease.metadata,
        accepted_at=lease.accepted_at,
        passages=result.passages if result is not None else (),
        language=_language(attempt),
    )


def _language(attempt: Attempt) -> str | None:
    """What the metadata of this version says, else what was told by its text."""
    return None if attempt.result is None else chosen(attempt.lease.metadata, attempt.result.language)


def _published(attempt: Attempt) -> Outcome:
    return Published(attempt.result.result_id if attempt.result is not None else None)


def _ending(attempt: Attempt, outcome: Outcome) -> Ending:
    return Ending(attempt.lease.job_id, attempt.lease.generation, outcome, attempt.stages)
