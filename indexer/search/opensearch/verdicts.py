"""What the engine's answer to one item of a bulk call means, and what becomes of a document with such answers."""

from collections.abc import Iterable
from enum import IntEnum
from typing import Any, NamedTuple

from indexer.search.opensearch.reasons import NO_WRITE_INDEX, failure_in, reason_for, room_in
from pipeline.outcomes import OUTAGE, Outcome, Rejected, RetryLater, Superseded, outage


class Kind(IntEnum):
    """From the best to the worst: of a document's answers from several indexes, the worst counts."""

    WRITTEN = 0
    STALE = 1  # the index has a newer version
    FAILED = 2  # this item's own trouble, which may pass
    BUSY = 3  # no room for it now
    UNAVAILABLE = 4  # the index takes nothing
    STRUCK = 5  # the index takes nothing any more since it was sent this item, which may be why
    REFUSED = 6  # it will never be taken as it is
    TOO_LARGE = 7


class Verdict(NamedTuple):
    """An answer."""

    kind: Kind
    message: str = ""


ANSWERED = frozenset({Kind.WRITTEN, Kind.STALE, Kind.REFUSED})
"""What an engine says that works."""
WRITTEN = Verdict(Kind.WRITTEN)
STALE = Verdict(Kind.STALE)
TOO_LARGE = Verdict(Kind.TOO_LARGE, "The engine takes no request as large as this document's entry.")


def never_fits(size: int, room: int) -> Verdict:
    """The verdict of an entry for which the engine has no room even when it does nothing else."""
    return Verdict(
        Kind.TOO_LARGE,
        f"OpenSearch has room for {room / 1e6:.1f} MB at a time; this document's entry has {size / 1e6:.1f} MB.",
    )


def verdict_on(item: dict[str, Any], size: int) -> Verdict:
    """The verdict of one item of an answer, such as {"index": {"status": 201}}, to an entry of so many bytes."""
    answer = next(iter(item.values()))
    status = int(answer["status"])
    if status < 300:
        return WRITTEN
    kind, reason = failure_in(answer.get("error"))
    if kind == "version_conflict_engine_exception":
        return STALE
    if status == 413:
        return TOO_LARGE
    if (room := room_in(reason)) is not None and size > room:
        return never_fits(size, room)
    return Verdict(_kind(status, kind, reason), reason_for(status, kind, reason))


_OF_THE_INDEX = frozenset(
    {
        "cluster_block_exception",
        "index_closed_exception",
        "index_not_found_exception",
        "strict_dynamic_mapping_exception",
    }
)


def _kind(status: int, kind: str, reason: str) -> Kind:
    if kind in _OF_THE_INDEX or status in {401, 403} or NO_WRITE_INDEX in reason:
        return Kind.UNAVAILABLE
    if status in {429, 502, 503, 504} or kind == "circuit_breaking_exception":
        return Kind.BUSY
    if status == 400:
        return Kind.REFUSED
    return Kind.FAILED


def outcome_of(verdicts: Iterable[Verdict], *, engine_works: bool) -> Outcome | None:
    """The outcome of a document by its answers; None when it was written everywhere."""
    worst, message = max(verdicts)
    if worst is Kind.BUSY and engine_works:
        return RetryLater("index_overloaded", message)
    return {
        Kind.WRITTEN: None,
        Kind.STALE: Superseded(),
        Kind.FAILED: RetryLater("index_refused", message),
        Kind.BUSY: outage(message),
        Kind.UNAVAILABLE: outage(message),
        Kind.STRUCK: RetryLater(OUTAGE, message),
        Kind.REFUSED: Rejected("index_refused", message),
        Kind.TOO_LARGE: Rejected("index_payload_too_large", message),
    }[worst]
