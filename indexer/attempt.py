"""The life of an attempt, for all jobs of one delivery together.

    lease ─▶ load ─▶ extract ─▶ store the result ─▶ publish if newer ─▶ finish if the lease is still held

Members are processed as a batch but end one by one: each keeps its own outcome, and what is not extracted after
`PATIENCE_SECONDS` leaves the batch and ends alone, so that nobody waits for the slowest.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from typing import TYPE_CHECKING
from uuid import UUID

from sqlalchemy import Engine

from indexer.extract import Extraction
from indexer.extract.allowance import limits, ocr_as_set
from indexer.extract.isolation.deaths import CRASHED, Crashed
from indexer.extract.isolation.pool import ExtractionPool
from indexer.loading import loaded
from indexer.search.backend import SearchBackend
from indexer.settling import Settler
from indexer.underway import Attempt, failed
from pipeline import events, faults, leases
from pipeline.errors import Permanent, Transient
from pipeline.faults import Fault
from pipeline.holding import Holding
from pipeline.leases import Ending
from pipeline.loop import patiently
from pipeline.outcomes import Rejected, RetryLater
from pipeline.settings import Settings

if TYPE_CHECKING:
    from indexer.results import Key

PATIENCE_SECONDS = 1.0
STOPPED = RetryLater("shutdown", "The worker was stopped.", refund=True)


class Indexer:
    """Works off deliveries. Thread-safe: every thread of a worker process calls `deliver`."""

    def __init__(
        self,
        *,
        engine: Engine,
        backend: SearchBackend,
        pool: ExtractionPool,
        holding: Holding,
        worker_id: int,
        settings: Settings,
    ) -> None:
        self._engine = engine
        self._pool = pool
        self._holding = holding
        self._worker_id = worker_id
        self._settings = settings
        self._limits = limits(settings.extract)
        self._ocr = ocr_as_set(settings.extract)
        self._backend_kind = backend.kind
        self._settler = Settler(engine, backend, holding, settings)

    def deliver(self, jobs: Sequence[UUID]) -> None:
        """Does all that can be done now for these jobs; returns when every outcome is committed or given up."""
        attempts = patiently(lambda: self._lease(jobs))
        try:
            with loaded(self._engine, attempts, self._limits, self._ocr):
                for ready in self._extracted(attempts):
                    self._settler.settle(ready)
        finally:
            self._holding.drop(attempt.lease for attempt in attempts)  # what was not ended shall lapse
        faults.reach(Fault.AFTER_FINISH_BEFORE_ACKNOWLEDGE)

    def hand_back(self, held: Iterable[tuple[UUID, int]]) -> None:
        """Gives leases back at shutdown: no attempt is burnt, and a thread that still works on one ends nothing."""
        endings = [Ending(job, generation, STOPPED) for job, generation in held]
        if not endings:
            return
        with self._engine.begin() as connection:
            leases.lock_documents_of(connection, [ending.job_id for ending in endings])
            leases.finish_if_held(connection, endings, self._settings)

    def _lease(self, jobs: Sequence[UUID]) -> list[Attempt]:
        seconds = self._settings.lease.seconds
        if not self._holding.may_take(margin=self._settings.lease.beat_seconds):
            return []
        asked_at = self._holding.now()
        with self._engine.begin() as connection:
            taken = leases.lease(
                connection, jobs, worker_id=self._worker_id, seconds=seconds, backend=self._backend_kind
            )
        self._holding.add(taken, asked_at=asked_at, seconds=seconds)
        faults.reach(Fault.AFTER_LEASE)
        events.emit("lease.taken" if taken else "delivery.empty", jobs=len(taken), offered=len(jobs))
        return [Attempt(lease) for lease in taken]

    def _extracted(self, attempts: list[Attempt]) -> Iterator[list[Attempt]]:
        """Yields attempts as they are ready to be settled: first the quick ones together, then each slow one."""
        started = time.monotonic()
        under_way = self._submitted(attempts)
        extracting = {attempt for members in under_way.values() for attempt in members}
        ready = [attempt for attempt in attempts if attempt not in extracting]
        done, _ = wait(under_way, timeout=PATIENCE_SECONDS)
        while True:
            for future in done:
                for attempt in under_way.pop(future):
                    self._receive(attempt, future, started)
                    ready.append(attempt)
            if ready:
                faults.reach(Fault.AFTER_EXTRACTION)
                yield ready
            if not under_way:
                return
            ready = []
            done, _ = wait(under_way, return_when=FIRST_COMPLETED)

    def _submitted(self, attempts: list[Attempt]) -> dict[Future[Extraction], list[Attempt]]:
        """Starts what must be extracted; equal bytes in one batch are extracted once."""
        by_key: dict[Key, Future[Extraction]] = {}
        under_way: dict[Future[Extraction], list[Attempt]] = {}
        for attempt in attempts:
            if attempt.request is None or attempt.key is None or attempt.result is not None:
                continue
            if attempt.key not in by_key:
                by_key[attempt.key] = self._pool.submit(
                    attempt.request, attempt.kind, crashed_before=_crashed_before(attempt)
                )
            under_way.setdefault(by_key[attempt.key], []).append(attempt)
        return under_way

    def _receive(self, attempt: Attempt, future: Future[Extraction], started: float) -> None:
        """Takes the extraction, or the outcome that there is instead."""
        attempt.stages.extract_ms = round((time.monotonic() - started) * 1000)
        try:
            attempt.extraction = future.result()
        except Crashed as error:
            lease = attempt.lease
            events.emit("extraction.crashed", job_id=str(lease.job_id), generation=lease.generation, error=str(error))
            attempt.outcome = (Rejected if _crashed_before(attempt) else RetryLater)(error.code, error.message)
        except Permanent as error:
            attempt.outcome = Rejected(error.code, error.message)
        except Transient as error:
            attempt.outcome = RetryLater(error.code, error.message)
        except CancelledError:
            attempt.outcome = STOPPED
        except Exception as error:  # noqa: BLE001 - a fault of ours must not take the batch along
            attempt.outcome = failed(attempt, error)


def _crashed_before(attempt: Attempt) -> bool:
    return attempt.lease.last_code == CRASHED
