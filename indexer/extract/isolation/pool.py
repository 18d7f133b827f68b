"""Extraction in killable child processes: what a document can do to its reader ends here.

    submit ─▶ short plain text: read at once, in this process
           └▶ thread ─▶ idle or new child (forked by `forkserver`) ─▶ answer | refusal | death | deadline
                 ▲                                                                                 │
                 └───────── again, without the member that was being read then, if it was one ◀────┘

Each child has a socket of its own, so a death or a deadline concerns one document; it is killed, never asked to stop.
Nothing here wakes up while there is nothing to do.
"""

import contextlib
import socket
import threading
import time
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from indexer.extract.extraction import extract
from indexer.extract.isolation import sandbox, wire
from indexer.extract.isolation.deaths import Crashed, ExhaustedError, StarvedError, cause
from indexer.extract.isolation.nursery import BarrenError, Child, Nursery
from indexer.extract.kinds import Kind
from indexer.extract.sniff import choose_kind
from indexer.extract.types import Extraction, Request
from pipeline import events
from pipeline.errors import Permanent, Transient
from pipeline.outcomes import FAILURES
from pipeline.sanitise import clean_text
from pipeline.settings import Extract

_MOST_LEFT_OUT = 3
_ANSWER_OVERHEAD = 64 * 1024 * 1024  # bytes of an answer beside its text


def in_process(request: Request, kind: Kind) -> bool:
    """Whether the document may be read in the worker: no native parser, and too short to hold up its neighbours."""
    content = request.content
    size = content.stat().st_size if isinstance(content, Path) else len(content)
    return size <= kind.in_process_bytes


class ExtractionPool:
    """Up to `processes` children, started when first needed. Thread-safe."""

    def __init__(self, settings: Extract) -> None:
        self._settings = settings
        self._most_answered = 4 * settings.characters + _ANSWER_OVERHEAD  # what takes more is no longer in a text
        self._threads = ThreadPoolExecutor(settings.processes, thread_name_prefix="extract")
        self._nursery = Nursery(settings)
        self._lock = threading.Lock()
        self._idle: list[Child] = []
        self._busy: set[Child] = set()
        self._closed = False
        if (found := sandbox.summary()) == sandbox.NONE:
            events.emit("extraction.unconfined", sandbox=found)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def submit(self, request: Request, kind: Kind | None = None, *, crashed_before: bool = False) -> Future[Extraction]:
        """Starts an extraction; one that may happen in this process has happened when this returns.

        Of a document that `crashed_before`, in a try of its own, a member that crashes is left out.

        The future raises Permanent (a refusal, `extractor_timeout`, `limit_exceeded` for memory), Crashed, Transient
        where no child can be started, or CancelledError after `close`.
        """
        try:
            kind = kind or choose_kind(request.content, request.filename, request.declared_media_type)
        except Permanent as refusal:
            return _failed(refusal)
        if not in_process(request, kind):
            return self._threads.submit(self._extract, request, kind, crashed_before=crashed_before)
        try:
            done: Future[Extraction] = Future()
            done.set_result(extract(request, kind))
        except Permanent as refusal:
            return _failed(refusal)
        except Exception as error:  # noqa: BLE001 - as in a child
            return _failed(_reader_failed(kind, f"{type(error).__name__}: {error}"[:500]))
        return done

    def close(self) -> None:
        """Ends all children at once and lets running extractions fail with CancelledError; may be called twice."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            for child in self._busy:
                with contextlib.suppress(OSError):
                    child.channel.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits for its answer
        for child in idle:
            self._nursery.end(child)
        self._threads.shutdown()  # what still waits for a child learns that there is none
        self._nursery.close()

    def _extract(self, request: Request, kind: Kind, *, crashed_before: bool) -> Extraction:
        """Reads a document; again and without it, if a member ends the reading: a few times, and not for ever."""
        seconds = self._seconds(request, kind)
        until = time.monotonic() + max(2 * seconds, (1 + _MOST_LEFT_OUT) * self._settings.seconds)
        readings_left = 1 + _MOST_LEFT_OUT
        left_out: dict[int, str] = {}
        while True:
            readings_left -= 1
            left = min(seconds, until - time.monotonic())
            try:
                found = self._extract_once(replace(request, seconds=left, left_out=left_out), kind)
            except (Crashed, ExhaustedError) as end:
                may_be_chance = isinstance(end, Crashed) and not crashed_before
                is_another = end.member and end.member not in left_out
                goes_on = readings_left and time.monotonic() < until
                if may_be_chance or not is_another or not goes_on:
                    if left_out:
                        end.message += f" Members that had ended earlier readings were left out: {len(left_out)}."
                    raise
                left_out = _those_before(end.member, left_out)
                left_out[end.member] = end.why
            else:
                return replace(found, facts=found.facts | {"left_out": len(left_out)}) if left_out else found

    def _extract_once(self, request: Request, kind: Kind) -> Extraction:
        child = self._take()
        alive = False
        try:
            answer = self._converse(child, request, kind)
            alive = not answer["last"]
            return self._result(answer, kind)
        except wire.TooLongError:
            most = f"{self._most_answered:,} bytes (it follows from FENCEPOST_EXTRACT__CHARACTERS)"
            said = f"{most} and {wire.MOST_VALUES:,} values"
            message = f"The text of the document, with its places, is too long to be handed over; the limit is {said}."
            raise Permanent("limit_exceeded", message) from None
        except (TimeoutError, wire.ClosedError, StarvedError, LookupError, TypeError, ValueError) as end:
            alive = False
            death = self._nursery.end(child)
            if self._closed:
                raise CancelledError from None
            raise cause(end, death, self._seconds(request, kind), self._settings) from None
        finally:
            self._give_back(child, alive=alive)

    def _converse(self, child: Child, request: Request, kind: Kind) -> dict[str, Any]:
        deadline = time.monotonic() + request.seconds
        wire.send_request(child.channel, request, kind.name, deadline)
        answer: dict[str, Any] = wire.loads(wire.receive(child.channel, self._most_answered, deadline))
        return answer

    def _seconds(self, request: Request, kind: Kind) -> float:
        return self._settings.seconds if kind.plain or request.ocr is None else self._settings.seconds_with_ocr

    def _result(self, answer: dict[str, Any], kind: Kind) -> Extraction:
        match answer:
            case {"extraction": extraction}:
                return wire.unpack_extraction(extraction, kind.media_type)
            case {"refusal": [str(code), str(message)]} if code in FAILURES:
                raise Permanent(code, clean_text(message))
            case {"memory": True}:
                raise StarvedError
            case {"failure": str(failure)}:
                raise _reader_failed(kind, clean_text(failure))
        raise ValueError

    def _take(self) -> Child:
        child = self._idle_child() or self._new_child()
        with self._lock:
            closed = self._closed
            if not closed:
                self._busy.add(child)
        if closed:
            self._nursery.end(child)
            raise CancelledError
        return child

    def _idle_child(self) -> Child | None:
        with self._lock:
            if self._closed:
                raise CancelledError
            child = self._idle.pop() if self._idle else None
        if child is None or child.is_waiting():
            return child
        self._nursery.end(child)
        return None

    def _new_child(self) -> Child:
        try:
            return self._nursery.fork()
        except BarrenError:
            message = "No process to read the document in could be started; the reason is in the worker's log."
            raise Transient("handler_error", message) from None  # so no fault of the document

    def _give_back(self, child: Child, *, alive: bool) -> None:
        with self._lock:
            self._busy.discard(child)
            if alive and not self._closed:
                self._idle.append(child)
                return
        self._nursery.end(child)


def _those_before(member: int, left_out: Mapping[int, str]) -> dict[int, str]:
    """Where a member with others inside is left out, those behind it have other numbers: they must be found anew."""
    return {number: why for number, why in left_out.items() if number < member}


def _reader_failed(kind: Kind, failure: str) -> Crashed:
    return Crashed(f"The reader of {kind.name} failed: {failure}.")


def _failed(error: Exception) -> Future[Extraction]:
    future: Future[Extraction] = Future()
    future.set_exception(error)
    return future
