"""The shapes of jobs, quarantine, outbox, workers and overview on the wire. Names are stable; more may follow."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from fencepost.http.index_shapes import IndexSummary
from ingest.shapes import AttemptShape, Failure
from pipeline.quarantine import Filter
from pipeline.sanitise import clean_text


def _words(text: str) -> str:
    cleaned = clean_text(text).strip()
    if not cleaned:
        msg = "must not be empty"
        raise ValueError(msg)
    return cleaned


Words = Annotated[str, Field(max_length=2_000), AfterValidator(_words)]
Clean = Annotated[str, AfterValidator(clean_text)]


class JobItem(BaseModel):
    """One job: the work on one version of one document."""

    job_id: UUID
    document_id: UUID
    input_version: int
    operation: str
    collection: str
    title: str
    filename: str
    state: str
    partition: int
    priority: int
    attempt: int
    generation: int
    worker_id: int | None
    lease_until: datetime | None
    due_at: datetime
    accepted_at: datetime
    finished_at: datetime | None
    waiting: str | None = Field(description="Why it is not finished yet, in one sentence.")
    failure: Failure | None


class JobDetail(JobItem):
    """One job with its attempts, the newest first."""

    attempts: list[AttemptShape]


class JobPage(BaseModel):
    """One page of jobs, the newest first."""

    items: list[JobItem]
    next: str | None


class QuarantineItem(BaseModel):
    """A job that needs, or needed, a person."""

    job_id: UUID
    document_id: UUID
    input_version: int
    operation: str
    collection: str
    key: str | None
    title: str
    filename: str
    code: str
    message: str
    hint: str
    attempt: int
    generation: int
    last_attempt: datetime | None
    owner: str
    quarantined_at: datetime
    published_version: int
    is_newest: bool = Field(description="Only the newest version of a document can be replayed.")
    state: str
    resolved_at: datetime | None
    note: str | None


class QuarantinePage(BaseModel):
    """One page of what needs a person, the newest first."""

    items: list[QuarantineItem]
    next: str | None


class Moved(BaseModel):
    """Where a job is now; after a replay as a new version, the new job."""

    document_id: UUID
    input_version: int
    job_id: UUID | None
    state: str


class RefusedMove(BaseModel):
    """Why a job was not moved."""

    job_id: UUID
    status: int
    code: str
    detail: str


class MovedMany(BaseModel):
    """What became of each job that matched."""

    moved: list[Moved]
    refused: list[RefusedMove]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class Replay(_Body):
    """How to run a job again."""

    how: Literal["same", "new_version"] = Field("same", alias="as")


class Dismiss(_Body):
    """Why nothing more will be done."""

    note: Words


class Assign(_Body):
    """Who looks after it."""

    owner: Words


class Which(_Body):
    """A condition on quarantined jobs; an empty one matches all."""

    code: Clean | None = None
    collection: Clean | None = None
    owner: Clean | None = None


class Many(_Body):
    """Which quarantined jobs."""

    which: Which = Field(alias="filter")

    def filter(self) -> Filter:
        """The condition."""
        return Filter(code=self.which.code, collection=self.which.collection, owner=self.which.owner)


class ReplayMany(Replay, Many):
    """Which jobs to run again, and how."""


class DismissMany(Dismiss, Many):
    """Which jobs to close, and why."""


class AssignMany(Assign, Many):
    """Which jobs get an owner, and whom."""


class OutboxItem(BaseModel):
    """What waits to be sent to the broker."""

    id: int
    job_id: UUID
    document_id: UUID
    collection: str
    partition: int
    priority: int
    tries: int
    last_error: str | None
    due_at: datetime
    created_at: datetime
    exhausted: bool = Field(description="The broker refused it too often; it waits for a person to release it.")


class OutboxPage(BaseModel):
    """One page of the outbox, the oldest first."""

    items: list[OutboxItem]
    next: str | None


class Released(BaseModel):
    """How many outbox rows may travel again."""

    released: int


class ProcessItem(BaseModel):
    """One process of the system."""

    id: int
    kind: str
    host: str
    pid: int
    started_at: datetime
    heartbeat_at: datetime
    alive: bool
    slots: int
    partitions: list[int]
    holding: list[UUID] = Field(description="The jobs that it has leased.")


class ProcessPage(BaseModel):
    """Every process that lives, or was there within the last hour."""

    items: list[ProcessItem]
    next: str | None = None
    warnings: list[str] = Field(description="Live workers that read documents with other settings than this server.")


class OldestQueued(BaseModel):
    """The queued job that was accepted first."""

    job_id: UUID
    document_id: UUID
    age_seconds: float


class ExpiredLease(BaseModel):
    """A lease that ran out and was not taken back yet."""

    job_id: UUID
    document_id: UUID
    worker_id: int
    expired_seconds: float


class OutboxState(BaseModel):
    """What waits to be sent; counts stop at 10,001."""

    waiting: int
    oldest_age_seconds: float | None
    exhausted: int


class PartitionState(BaseModel):
    """One partition; counts stop at 1,001."""

    partition: int
    queued: int
    sent: int
    leased: int
    workers: int


class Breaker(BaseModel):
    """Why something pauses, since when, and when it is tried again."""

    name: str
    reason: str
    failures: int
    opened_at: datetime
    probe_at: datetime
    age_seconds: float


class Capacity(BaseModel):
    """Little's law: needed = arrivals per second times seconds per job."""

    minutes: int
    arrivals_per_minute: float
    seconds_per_job: float | None
    needed: float | None
    slots: int
    short_by: float | None


class Throughput(BaseModel):
    """Documents published per second, in the last minute and in the last quarter of an hour."""

    per_second_now: float
    per_second: float


class AlarmShape(BaseModel):
    """One thing that is wrong, and the page that shows the rows behind it."""

    code: str
    sentence: str
    rows: str
    bad: bool


class ErrorCount(BaseModel):
    """How often an attempt failed so."""

    stage: str
    code: str
    count: int


class KindCount(BaseModel):
    """How often an attempt at such a file failed."""

    kind: str
    count: int


class Errors(BaseModel):
    """What went wrong lately."""

    minutes: int
    by_code: list[ErrorCount]
    by_kind: list[KindCount]


class OverviewShape(BaseModel):
    """Where every accepted version is (a snapshot of `as_of`), and what happens right now."""

    as_of: datetime
    accepted: int
    succeeded: int
    superseded: int
    quarantined: int
    resolved: int
    queued: int
    leased: int
    retry_wait: int
    purged: int
    difference: int = Field(description="Accepted minus all the others: anything but 0 is a lost version.")
    unfinished: int
    text_quality: dict[str, int] = Field(description="How many published texts are of each quality; of `as_of`, too.")
    oldest_queued: OldestQueued | None
    expired_leases: list[ExpiredLease]
    outbox: OutboxState
    partitions: list[PartitionState]
    breaker: Breaker | None = Field(description="The first of `breakers`.")
    breakers: list[Breaker] = Field(description="broker: nothing is sent; index: nothing is published, nor sent.")
    capacity: Capacity
    throughput: Throughput
    eta_seconds: float | None = Field(description="How long the backlog takes at the present pace.")
    processes: dict[str, int]
    errors: Errors
    index: IndexSummary
    alarms: list[AlarmShape]
