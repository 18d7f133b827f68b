"""The shapes of the search index, its verifications and builds on the wire. Names are stable; more may follow."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

Phase = Literal[
    "creating", "draining", "filling", "verifying", "swapping", "stuck", "cancelling", "dropping", "done", "failed",
    "cancelled",
]  # fmt: skip
DriftName = Literal["missing", "stale", "ahead", "orphaned", "wrong_tombstone"]


class IndexShape(BaseModel):
    """One physical index."""

    name: str
    backend: str
    fingerprint: str
    state: Literal["creating", "filling", "live", "retired"]
    outdated: bool = Field(description="Made with another mapping than this release has: rebuild it.")


class VerificationShape(BaseModel):
    """A comparison of an index with the database; counts grow until it is finished."""

    verification_id: int
    index: str
    build_id: int | None
    repair: bool
    total: int = Field(description="Published documents when it began.")
    checked: int
    in_flight: int = Field(description="Entries whose documents were being published just then.")
    drifted: int = Field(description="How many differ, of all kinds.")
    drift: dict[DriftName, int]
    started_at: datetime
    finished_at: datetime | None
    error: str | None = Field(description="Why it ended early.")
    per_second: float | None
    eta_seconds: float | None


class DriftShape(BaseModel):
    """One entry that differs; a version of null means that this side does not know the document."""

    document_id: UUID
    kind: DriftName
    index_version: int | None
    published_version: int | None


class VerificationPage(VerificationShape):
    """A verification with one page of what differs; very many are counted, but not all of them kept."""

    items: list[DriftShape]
    next: str | None


class BuildShape(BaseModel):
    """A rebuild, or a repair of the live index."""

    build_id: int
    kind: Literal["rebuild", "repair"]
    index: str
    phase: Phase
    total: int
    done: int
    failed: int
    error: str | None
    started_at: datetime
    phase_at: datetime
    finished_at: datetime | None
    per_second: float | None
    eta_seconds: float | None


class IndexesShape(BaseModel):
    """The index that is searched, the others, and what is or was done with them last."""

    backend: str = Field(description="What the settings of this server say.")
    live: IndexShape | None
    others: list[IndexShape]
    verification: VerificationShape | None = Field(description="The last one of the live index that came to its end.")
    verifying: VerificationShape | None = Field(description="The one that is under way.")
    build: BuildShape | None = Field(description="The one that is under way, else the last one.")
    paused: str | None = Field(description="Why nothing is published or filled just now.")


class Verify(BaseModel):
    """What to do with what differs."""

    model_config = ConfigDict(extra="forbid")

    repair: bool = False


class Begun(BaseModel):
    """What was begun; both can be looked at in GET /v1/index."""

    verification_id: int | None
    build_id: int | None


class Dropped(BaseModel):
    """An index that is no more."""

    name: str


class IndexSummary(BaseModel):
    """The search index in a few numbers."""

    name: str | None
    backend: str
    outdated: bool
    verified_at: datetime | None
    drifted: int | None = Field(description="What the last verification found; null before the first.")
    verifying: VerificationShape | None
    build: BuildShape | None = Field(description="The one that is not finished.")
