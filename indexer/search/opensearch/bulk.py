"""Publishing in bulk: conditional on the version, in batches by bytes and count, each item with an answer of its own.

    entries ─▶ items (an entry for a target) ─▶ batches ─▶ _bulk ─▶ verdict of each item ─▶ outcome of each document

What has no room now is sent again within the call, with fewer calls at a time. When the engine is away or refuses a
whole call, the rest is not tried. A call too large is halved. An item larger than a whole batch travels alone, and
trouble that it alone has is its own: a giant that the engine cannot swallow must not look like an outage. Nor must an
outage look like a giant's fault for long: when the engine does not take a small entry after it either, all wait until
it does, so that each outage costs the giant one attempt at most.
"""

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException, TransportError

from indexer.search.backend import Entry, EntryState
from indexer.search.opensearch.entries import PROBE, source_of
from indexer.search.opensearch.indices import is_of_older_release, write_alias
from indexer.search.opensearch.limiter import Limiter
from indexer.search.opensearch.reading import states_of
from indexer.search.opensearch.reasons import failure_of, is_unreached, reason_of, room_in
from indexer.search.opensearch.verdicts import (
    ANSWERED,
    STALE,
    TOO_LARGE,
    WRITTEN,
    Kind,
    Verdict,
    never_fits,
    outcome_of,
    verdict_on,
)
from pipeline.errors import IndexUnavailable
from pipeline.loop import backoff
from pipeline.outcomes import Outcome, outage
from pipeline.settings import OpenSearch as OpenSearchSettings

TRIES = 4
FIRST_PAUSE = 0.2
MOST_PAUSE = 2.0
OVERLOADED = frozenset({429, 503})
TELLING = "errors,items.*.status,items.*.error.type,items.*.error.reason"
"""What we want to know of an answer."""

NOWHERE = outage("There is no index yet; run `fencepost index rebuild`.")

Place = tuple[UUID, str]
"""A document, and the index for which its entry is meant."""
Verdicts = dict[Place, Verdict]


@dataclass(frozen=True, slots=True)
class Item:
    """One entry for one index."""

    document_id: UUID
    version: int
    target: str
    source: bytes

    @property
    def place(self) -> Place:
        """Where it belongs."""
        return self.document_id, self.target

    @property
    def action(self) -> bytes:
        """The line that goes before the entry."""
        return (
            f'{{"index":{{"_index":"{write_alias(self.target)}","_id":"{self.document_id}",'
            f'"version":{self.version},"version_type":"external_gte"}}}}'
        ).encode()


class _CallFailed(Exception):
    """A whole call has no answers; the message is the reason."""


class Publisher:
    """Writes entries. Thread-safe; the limit of calls under way is shared by all threads."""

    def __init__(self, client: OpenSearch, settings: OpenSearchSettings) -> None:
        self.limiter = Limiter(settings.concurrency)
        self._client = client
        self._settings = settings

    def publish(self, targets: Sequence[str], entries: Sequence[Entry]) -> dict[UUID, Outcome]:
        """Writes each entry to all targets; returns the outcome of each document that was not written everywhere."""
        newest = {entry.document_id: entry for entry in sorted(entries, key=lambda entry: entry.version)}
        if not targets:
            return dict.fromkeys(newest, NOWHERE)
        verdicts: Verdicts = {}
        try:
            for batch in self._batches(_items(targets, newest.values())):
                self._send(batch, verdicts)
        except _CallFailed as error:
            open_ended = Verdict(Kind.UNAVAILABLE, str(error))
            for place in ((document_id, target) for document_id in newest for target in targets):
                if place not in verdicts or verdicts[place].kind is Kind.BUSY:
                    verdicts[place] = open_ended
        for target in targets:
            self._look_again(target, newest, verdicts)
        return _outcomes(verdicts)

    def _batches(self, items: Iterable[Item]) -> Iterator[list[Item]]:
        """Items in portions that one call may carry."""
        batch: list[Item] = []
        size = 0
        for item in items:
            if batch and (
                size + len(item.source) > self._settings.bulk_bytes or len(batch) >= self._settings.bulk_entries
            ):
                yield batch
                batch, size = [], 0
            batch.append(item)
            size += len(item.source)
        if batch:
            yield batch

    def _send(self, batch: Sequence[Item], verdicts: Verdicts) -> None:
        """Sends items until each has its verdict; those for which there is no room are sent again a few times."""
        most = self._settings.entry_bytes
        verdicts.update({item.place: TOO_LARGE for item in batch if len(item.source) > most})
        pending = [item for item in batch if len(item.source) <= most]
        if self._is_giant(pending) and self._has_it_already(pending[0]):
            verdicts[pending[0].place] = WRITTEN
            return
        failures = 0
        while pending:
            verdicts.update(zip([item.place for item in pending], self._call(pending), strict=True))
            if struck := [verdict for item in pending if (verdict := verdicts[item.place]).kind is Kind.STRUCK]:
                raise _CallFailed(struck[0].message)
            pending = [item for item in pending if verdicts[item.place].kind is Kind.BUSY]
            if not pending:
                self.limiter.went_well()
                return
            failures += 1
            self.limiter.overloaded()
            if failures == TRIES:
                self._give_up(batch, pending, verdicts)
                return
            threading.Event().wait(backoff(failures, first=FIRST_PAUSE, most=MOST_PAUSE))

    def _give_up(self, batch: Sequence[Item], busy: Sequence[Item], verdicts: Verdicts) -> None:
        """There is no room for some: that is their own trouble if others fare better, else that of the engine."""
        message = verdicts[busy[0].place].message
        if self._is_giant(batch):
            verdicts[busy[0].place] = Verdict(Kind.FAILED, message)
        elif len(busy) == len(batch):
            raise _CallFailed(message)

    def _call(self, items: Sequence[Item]) -> list[Verdict]:
        """One call, or several when it is too large; the verdict of each item."""
        body = b"".join(part for item in items for part in (item.action, b"\n", item.source, b"\n"))
        try:
            with self.limiter.slot():
                answer = self._client.bulk(body=body, require_alias=True, filter_path=TELLING)
            answers = zip(items, answer["items"], strict=True)
            verdicts = [verdict_on(answer, len(item.source)) for item, answer in answers]
        except OpenSearchException as error:
            return self._troubled(items, error)
        except (AttributeError, KeyError, StopIteration, TypeError, ValueError):
            verdicts = []
        if len(verdicts) != len(items):
            raise _CallFailed(reason_of(OpenSearchException()))
        return verdicts

    def _troubled(self, items: Sequence[Item], error: OpenSearchException) -> list[Verdict]:
        status = error.status_code if isinstance(error, TransportError) else None
        size = sum(len(item.source) for item in items)
        room = room_in(failure_of(error)[1]) if isinstance(error, TransportError) else None
        if status == 413 or (room is not None and size > room):
            middle = len(items) // 2
            if middle:
                return self._call(items[:middle]) + self._call(items[middle:])
            return [TOO_LARGE if room is None else never_fits(size, room)]
        if status in OVERLOADED:
            self.limiter.overloaded()
        if self._is_giant(items) and _arrived(error):
            kind = Kind.FAILED if self._takes_small_ones(items[0].target) else Kind.STRUCK
            return [Verdict(kind, f"{reason_of(error)} The entry has {len(items[0].source) / 1e6:.0f} MB.")]
        raise _CallFailed(reason_of(error))

    def _takes_small_ones(self, target: str) -> bool:
        """Whether the engine works, only not with that giant."""
        with suppress(_CallFailed):
            (verdict,) = self._call([Item(PROBE.document_id, PROBE.version, target, source_of(PROBE))])
            return verdict.kind in ANSWERED
        return False

    def _has_it_already(self, giant: Item) -> bool:
        """Whether an earlier try was written after all, but took longer than anybody waited for the answer."""
        with suppress(IndexUnavailable):
            found = states_of(self._client, giant.target, [giant.document_id])
            return found == [EntryState(giant.document_id, giant.version, tombstone=False)]
        return False

    def _is_giant(self, items: Sequence[Item]) -> bool:
        return len(items) == 1 and len(items[0].source) > self._settings.bulk_bytes

    def _look_again(self, target: str, newest: dict[UUID, Entry], verdicts: Verdicts) -> None:
        """Asks whether the index really has a newer version: for a while it also remembers what was removed."""
        refused = [document for (document, where), verdict in verdicts.items() if where == target and verdict == STALE]
        if not refused:
            return
        try:
            found = {state.document_id: state.version for state in states_of(self._client, target, refused)}
        except IndexUnavailable as error:
            verdicts.update({(document, target): Verdict(Kind.UNAVAILABLE, error.message) for document in refused})
            return
        for document in refused:
            if found.get(document, 0) <= newest[document].version:
                verdicts[document, target] = Verdict(Kind.FAILED, "Its entry was removed from the index just now.")


def _items(targets: Sequence[str], entries: Iterable[Entry]) -> Iterator[Item]:
    for entry in entries:
        sources = {is_older: source_of(entry, is_older=is_older) for is_older in set(map(is_of_older_release, targets))}
        for target in targets:
            yield Item(entry.document_id, entry.version, target, sources[is_of_older_release(target)])


def _outcomes(verdicts: Verdicts) -> dict[UUID, Outcome]:
    engine_works = any(verdict.kind in ANSWERED for verdict in verdicts.values())
    of_document: dict[UUID, list[Verdict]] = defaultdict(list)
    for (document_id, _), verdict in verdicts.items():
        of_document[document_id].append(verdict)
    outcomes = {document_id: outcome_of(its, engine_works=engine_works) for document_id, its in of_document.items()}
    return {document_id: outcome for document_id, outcome in outcomes.items() if outcome is not None}


def _arrived(error: OpenSearchException) -> bool:
    """Whether the engine had the request in its hands when the trouble came."""
    if not isinstance(error, TransportError):
        return False
    if isinstance(error.status_code, int):
        return error.status_code == 429 or error.status_code >= 500
    return not is_unreached(error)
