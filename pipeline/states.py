"""The states of a job and the edges between them, as docs/states.md draws them."""

from enum import StrEnum


class State(StrEnum):
    """Where a job is. Every job is in exactly one state, and final states are never left."""

    QUEUED = "queued"
    """Waits for a worker; leaves by a lease or by a newer version."""
    LEASED = "leased"
    """One worker holds it until `lease_until`; leaves by the end of the attempt or by the sweeper."""
    RETRY_WAIT = "retry_wait"
    """Failed for a passing reason; the next lease may take it from `due_at` on."""
    QUARANTINED = "quarantined"
    """Needs a person: replay, dismiss, or upload a better version."""
    SUCCEEDED = "succeeded"
    """Its version is, or was, the published one."""
    SUPERSEDED = "superseded"
    """A newer version of the document made it pointless."""
    RESOLVED = "resolved"
    """Was quarantined and has been dealt with."""


FINAL = frozenset({State.SUCCEEDED, State.SUPERSEDED, State.RESOLVED})
SETTLED = FINAL | {State.QUARANTINED}
"""Nothing more happens by itself: whoever waits for a version has its answer."""

EDGES = frozenset(
    {
        (State.QUEUED, State.LEASED),
        (State.RETRY_WAIT, State.LEASED),
        (State.LEASED, State.SUCCEEDED),
        (State.LEASED, State.RETRY_WAIT),
        (State.LEASED, State.QUEUED),
        (State.LEASED, State.QUARANTINED),
        (State.LEASED, State.SUPERSEDED),
        (State.QUEUED, State.SUPERSEDED),
        (State.RETRY_WAIT, State.SUPERSEDED),
        (State.QUARANTINED, State.QUEUED),
        (State.QUARANTINED, State.RESOLVED),
    },
)


class Operation(StrEnum):
    """What a version asks for."""

    INDEX = "index"
    DELETE = "delete"


class Priority:
    """Smaller is more urgent."""

    DELETE = 0
    LIVE = 1
    CAMPAIGN = 2
