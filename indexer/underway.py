"""An attempt under way, and what is known of it so far."""

from dataclasses import dataclass, field

from indexer.extract import Extraction, Kind, Request
from indexer.results import Key, Result
from pipeline import events
from pipeline.leases import Lease, Stages
from pipeline.outcomes import Outcome, RetryLater
from pipeline.states import Operation


@dataclass(slots=True, eq=False)
class Attempt:
    """One job under way. `outcome` is set as soon as it is known; until then the attempt goes on."""

    lease: Lease
    stages: Stages = field(default_factory=Stages)
    request: Request | None = None
    kind: Kind | None = None
    key: Key | None = None
    extraction: Extraction | None = None
    result: Result | None = None
    outcome: Outcome | None = None

    @property
    def deletes(self) -> bool:
        """Whether the job publishes a tombstone."""
        return self.lease.operation == Operation.DELETE


def failed(attempt: Attempt, error: Exception) -> RetryLater:
    """The outcome of a fault that nobody foresaw; it is said in the log with its traceback."""
    events.emit(
        "attempt.failed",
        job_id=str(attempt.lease.job_id),
        generation=attempt.lease.generation,
        error=repr(error),
        exc_info=error,
    )
    return RetryLater("handler_error", f"{type(error).__name__}: {error}"[:1000])
