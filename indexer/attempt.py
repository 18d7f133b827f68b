"""The life of an attempt, for all jobs of one delivery together.

    lease ─▶ load ─▶ extract ─▶ store the result ─▶ publish if newer ─▶ finish if the lease is still held

Members are processed as a batch but end one by one: each keeps its own outcome, and what is not extracted after
`PATIENCE_SECONDS` leaves the batch and ends alone, so that nobody waits for the slowest.
"""

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from indexer import results
from indexer.extract import Extraction, Kind, Request, choose_kind, fingerprint
from indexer.extract.pool import Crashed, ExtractionPool, limits
from indexer.results import Key, Result
from indexer.search.backend import Entry, SearchBackend
from pipeline import contents, events, faults, leases
from pipeline.errors import Permanent, Transient
from pipeline.faults import Fault
from pipeline.holding import Holding
from pipeline.leases import Ending, Lease, Stages
from pipeline.outcomes import LeaseLost, Outcome, Published, Rejected, RetryLater, Superseded
from pipeline.settings import Settings
from pipeline.states import Operation, State

PATIENCE_SECONDS = 1.0
FINISH_TRIES = 8
STOPPED = RetryLater("shutdown", "The worker was stopped.", refund=True)


@dataclass(slots=True)
class Attempt:
    """One job under way. `outcome` is set as soon as it is known; until then the attempt goes on."""

    lease: Lease
    stages: Stages = field(default_factory=Stages)
    request: Request | None = None
    kind: Kind | None = None
    key: Key | None = None
    result: Result | None = None
    outcome: Outcome | None = None

    @property
    def deletes(self) -> bool:
        """Whether the job publishes a tombstone."""
        return self.lease.operation == Operation.DELETE


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
        self._backend = backend
        self._pool = pool
        self._holding = holding
        self._worker_id = worker_id
        self._settings = settings
        self._limits = limits(settings.extract)

    def deliver(self, jobs: Sequence[UUID]) -> None:
        """Does all that can be done now for these jobs; returns when every outcome is committed or given up."""
        attempts = self._lease(jobs)
        with self._loaded(attempts):
            for ready in self._extracted(attempts):
                self._store(ready)
                self._end(ready)

    def hand_back(self, leases_held: Iterable[tuple[UUID, int]]) -> None:
        """Gives leases back at shutdown: no attempt is burnt, and a thread that still works on one ends nothing."""
        held = [Ending(job, generation, STOPPED) for job, generation in leases_held]
        if held:
            with self._engine.begin() as connection:
                documents = (
                    connection.execute(
                        text("SELECT document_id FROM jobs WHERE job_id = ANY(CAST(:jobs AS uuid[]))"),
                        {"jobs": [ending.job_id for ending in held]},
                    )
                    .scalars()
                    .all()
                )
                leases.lock_documents(connection, documents)
                leases.finish_if_held(connection, held, self._settings)

    # -- lease ---------------------------------------------------------------------------------------------------

    def _lease(self, jobs: Sequence[UUID]) -> list[Attempt]:
        seconds = self._settings.lease.seconds
        if not self._holding.may_take(margin=self._settings.lease.beat_seconds):
            return []
        asked_at = self._holding.now()
        with self._engine.begin() as connection:
            taken = leases.lease(connection, jobs, worker_id=self._worker_id, seconds=seconds)
        self._holding.add(taken, asked_at=asked_at, seconds=seconds)
        faults.reach(Fault.AFTER_LEASE)
        events.emit("lease.taken" if taken else "delivery.empty", jobs=len(taken), offered=len(jobs))
        return [Attempt(lease) for lease in taken]

    # -- load ----------------------------------------------------------------------------------------------------

    @contextmanager
    def _loaded(self, attempts: list[Attempt]) -> Iterator[None]:
        """Reads the bytes: small ones into memory, all at once; large ones piece by piece into a scratch file."""
        started = time.monotonic()
        indexing = [attempt for attempt in attempts if not attempt.deletes]
        with TemporaryDirectory(prefix="fencepost-") as scratch:
            with self._engine.connect() as connection:
                is_small = [
                    a.lease.sha256 for a in indexing if a.lease.sha256 and (a.lease.size or 0) <= contents.PIECE
                ]
                small = contents.small(connection, is_small)
                for n, attempt in enumerate(indexing):
                    attempt.request = self._request(connection, attempt.lease, small, Path(scratch) / str(n))
                    self._identify(attempt)
                    attempt.stages.load_ms = _since(started)
                found = results.find(connection, {a.key for a in indexing if a.key is not None})
            for attempt in indexing:
                attempt.result = found.get(attempt.key) if attempt.key is not None else None
            yield

    def _request(self, connection: Connection, lease: Lease, small: dict[bytes, bytes], scratch: Path) -> Request:
        assert lease.sha256 is not None  # noqa: S101 - the table's CHECK
        content: bytes | Path = small.get(lease.sha256, scratch)
        if isinstance(content, Path):
            with content.open("wb") as file:
                file.writelines(contents.pieces(connection, lease.sha256))
        encoding = lease.metadata.get("encoding", "")
        return Request(
            content=content,
            filename=lease.filename,
            declared_media_type=lease.media_type,
            encoding=encoding if isinstance(encoding, str) else "",
            limits=self._limits,
        )

    def _identify(self, attempt: Attempt) -> None:
        """Decides the kind of document, and with it the key under which its result is stored."""
        request, sha256 = attempt.request, attempt.lease.sha256
        assert request is not None  # noqa: S101 - set one line before
        assert sha256 is not None  # noqa: S101 - the table's CHECK
        try:
            attempt.kind = choose_kind(request.content, request.filename, request.declared_media_type)
        except Permanent as error:
            attempt.outcome = Rejected(error.code, error.message)
        else:
            attempt.key = Key(sha256, fingerprint(attempt.kind, request.encoding, request.limits))

    # -- extract -------------------------------------------------------------------------------------------------

    def _extracted(self, attempts: list[Attempt]) -> Iterator[list[tuple[Attempt, Extraction | None]]]:
        """Yields attempts as they are ready to be stored and ended: first the quick ones together, then each slow one.

        Equal bytes in one batch are extracted once.
        """
        ready: list[tuple[Attempt, Extraction | None]] = [
            (a, None) for a in attempts if a.deletes or a.result is not None or a.outcome is not None
        ]
        under_way: dict[Future[Extraction], list[Attempt]] = {}
        by_key: dict[Key, Future[Extraction]] = {}
        started = time.monotonic()
        for attempt in attempts:
            if attempt.key is None or attempt.result is not None:
                continue
            if attempt.key not in by_key:
                assert attempt.request is not None  # noqa: S101 - there is a key
                assert attempt.kind is not None  # noqa: S101 - there is a key
                by_key[attempt.key] = self._pool.submit(attempt.request, attempt.kind)
            under_way.setdefault(by_key[attempt.key], []).append(attempt)
        done, _ = wait(under_way, timeout=PATIENCE_SECONDS)
        while True:
            for future in done:
                ready += [(a, self._outcome(a, future, started)) for a in under_way.pop(future)]
            if ready:
                faults.reach(Fault.AFTER_EXTRACTION)
                yield ready
            if not under_way:
                return
            ready = []
            done, _ = wait(under_way, return_when=FIRST_COMPLETED)

    def _outcome(self, attempt: Attempt, future: Future[Extraction], started: float) -> Extraction | None:
        """The extraction, or None with the attempt's outcome set."""
        attempt.stages.extract_ms = _since(started)
        try:
            return future.result()
        except Crashed as error:
            events.emit("extraction.crashed", job_id=str(attempt.lease.job_id), error=str(error))
            again = attempt.lease.last_code == "extractor_crashed"
            attempt.outcome = (Rejected if again else RetryLater)("extractor_crashed", str(error))
        except Permanent as error:
            attempt.outcome = Rejected(error.code, error.message)
        except Transient as error:
            attempt.outcome = RetryLater(error.code, error.message)
        except CancelledError:
            attempt.outcome = STOPPED
        except Exception as error:  # noqa: BLE001 - a fault of ours must not take the batch along
            events.emit("attempt.failed", job_id=str(attempt.lease.job_id), error=repr(error), exc_info=error)
            attempt.outcome = RetryLater("handler_error", f"{type(error).__name__}: {error}")
        return None

    # -- store ---------------------------------------------------------------------------------------------------

    def _store(self, ready: list[tuple[Attempt, Extraction | None]]) -> None:
        """Stores what was extracted, and reads it back: only a stored result is ever published."""
        new = {a.key: extraction for a, extraction in ready if extraction is not None and a.key is not None}
        if not new:
            return
        started = time.monotonic()
        with self._engine.begin() as connection:
            results.store(connection, new)
            stored = results.find(connection, new.keys())
        for attempt, extraction in ready:
            if extraction is not None and attempt.key is not None:
                attempt.result = stored[attempt.key]
                attempt.stages.store_ms = _since(started)
        faults.reach(Fault.AFTER_RESULT_STORED)

    # -- publish and finish --------------------------------------------------------------------------------------

    def _end(self, ready: list[tuple[Attempt, Extraction | None]]) -> None:
        """Publishes and finishes; a database blip is waited out, what cannot be finished is left to the sweeper."""
        attempts = [attempt for attempt, _ in ready]
        try:
            self._publish_and_finish(attempts)
        finally:
            self._holding.drop(attempt.lease for attempt in attempts)
        faults.reach(Fault.AFTER_FINISH_BEFORE_ACKNOWLEDGE)

    def _publish_and_finish(self, attempts: list[Attempt]) -> None:
        pause = threading.Event()
        for n in range(FINISH_TRIES):
            attempts = [attempt for attempt in attempts if self._still(attempt)]
            if not attempts:
                return
            try:
                self._say(attempts, self._publish_and_finish_once(attempts))
            except (OperationalError, InterfaceError) as error:
                events.emit("database.unavailable", loop="finish", error=str(error.orig).strip())
                pause.wait(min(0.1 * 2**n, 5))
            except DBAPIError as error:
                self._isolate(attempts, error)
                return
            else:
                return
        events.emit("finish.given_up", jobs=[str(attempt.lease.job_id) for attempt in attempts])

    def _publish_and_finish_once(self, attempts: list[Attempt]) -> dict[UUID, State]:
        with self._engine.begin() as connection:
            connection.execute(text(f"SET LOCAL statement_timeout = {round(self._settings.lease.seconds / 3 * 1000)}"))
            held = leases.lock_held(connection, [attempt.lease for attempt in attempts])
            mine = [attempt for attempt in attempts if attempt.lease.job_id in held]
            started = time.monotonic()
            publishing = [attempt for attempt in mine if attempt.outcome is None]
            refused = self._backend.publish(connection, [_entry(attempt) for attempt in publishing])
            for attempt in publishing:
                attempt.stages.publish_ms = _since(started)
            faults.reach(Fault.AFTER_PUBLISH_BEFORE_FINISH)
            return leases.finish_if_held(connection, [_ending(attempt, refused) for attempt in mine], self._settings)

    def _isolate(self, attempts: list[Attempt], error: DBAPIError) -> None:
        """One of them cannot be published: each tries alone, and the one that fails again says so."""
        if len(attempts) > 1:
            for attempt in attempts:
                self._publish_and_finish([attempt])
            return
        (attempt,) = attempts
        events.emit("attempt.failed", job_id=str(attempt.lease.job_id), error=str(error.orig), exc_info=error)
        if attempt.outcome is None:
            attempt.outcome = RetryLater("handler_error", f"Publishing failed: {error.orig}")
            self._publish_and_finish([attempt])

    def _still(self, attempt: Attempt) -> bool:
        """Whether we may still end this attempt, by our own clock."""
        if self._holding.still(attempt.lease):
            return True
        events.emit("lease.lost", job_id=str(attempt.lease.job_id), generation=attempt.lease.generation)
        attempt.outcome = LeaseLost()
        return False

    def _say(self, attempts: list[Attempt], states: dict[UUID, State]) -> None:
        for attempt in attempts:
            lease = attempt.lease
            state = states.get(lease.job_id)
            if state is None and not self._ended_already(attempt):
                events.emit("lease.lost", job_id=str(lease.job_id), generation=lease.generation)
                continue
            name = "job.quarantined" if state is State.QUARANTINED else "attempt.ended"
            events.emit(
                name, job_id=str(lease.job_id), document_id=str(lease.document_id), input_version=lease.input_version,
                generation=lease.generation, state=state, code=getattr(attempt.outcome, "code", None),
            )  # fmt: skip

    def _ended_already(self, attempt: Attempt) -> bool:
        with self._engine.connect() as connection:
            return leases.ended_already(connection, _ending(attempt, set()))


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
    )


def _ending(attempt: Attempt, refused: set[UUID]) -> Ending:
    outcome = attempt.outcome
    if outcome is None and attempt.lease.document_id in refused:
        outcome = Superseded()
    if outcome is None:
        outcome = Published(attempt.result.result_id if attempt.result is not None else None)
    return Ending(attempt.lease.job_id, attempt.lease.generation, outcome, attempt.stages)


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
