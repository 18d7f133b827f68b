"""The shapes of documents on the wire. Names are stable; more fields may follow."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from pipeline.acceptance import Acceptance
from pipeline.outcomes import failure
from pipeline.requests import EXAMPLE_ID
from pipeline.text_facts import TextFacts


class Failure(BaseModel):
    """Why a version is quarantined, and what a person can do."""

    code: str
    message: str
    hint: str

    @classmethod
    def of(cls, code: str | None, message: str) -> "Failure | None":
        """The failure with its hint; None without a code."""
        return cls(**failure(code, message)) if code is not None else None


class Links(BaseModel):
    """Where to look next."""

    self: str
    history: str
    content: str
    text: str


class Accepted(BaseModel):
    """What became of a request that changes a document. The change is durable."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "document_id": EXAMPLE_ID,
                "input_version": 3,
                "job_id": "019ad0c2-6f1e-7c51-b6a4-5d2f7a3c9b10",
                "state": "queued",
                "unchanged": False,
                "links": {
                    "self": f"/v1/documents/{EXAMPLE_ID}",
                    "history": f"/v1/documents/{EXAMPLE_ID}/history",
                    "content": f"/v1/documents/{EXAMPLE_ID}/content",
                    "text": f"/v1/documents/{EXAMPLE_ID}/text",
                },
            }
        }
    )

    document_id: UUID
    input_version: int
    job_id: UUID | None = Field(description="None when the version is unchanged and its old job has been purged.")
    state: str
    unchanged: bool
    links: Links
    failure: Failure | None = Field(None, description="Told after waiting, when the version is quarantined.")

    @classmethod
    def of(cls, accepted: Acceptance, *, state: str | None = None, failure: Failure | None = None) -> "Accepted":
        """The shape of an acceptance; `state` is a later one."""
        where = f"/v1/documents/{accepted.document_id}"
        return cls(
            document_id=accepted.document_id,
            input_version=accepted.input_version,
            job_id=accepted.job_id,
            state=state or accepted.state,
            unchanged=accepted.unchanged,
            links=Links(self=where, history=f"{where}/history", content=f"{where}/content", text=f"{where}/text"),
            failure=failure,
        )


class JobShape(BaseModel):
    """The job of a document's newest version."""

    id: UUID
    state: str
    operation: str
    attempt: int
    generation: int
    partition: int
    priority: int
    accepted_at: datetime
    due_at: datetime
    finished_at: datetime | None


class DocumentShape(BaseModel):
    """A document as its newest version says, and what of it is published."""

    id: UUID
    key: str | None
    collection: str
    title: str
    filename: str
    media_type: str = Field(description="As the content says once it was read, before that as declared.")
    size: int | None
    sha256: str | None
    metadata: dict[str, Any]
    input_version: int
    published_version: int = Field(description="0: nothing is published.")
    deleted: bool
    state: str = Field(description="Of the newest version's job.")
    text_quality: str | None = Field(description="Of the published version.")
    text: TextFacts | None = Field(description="What is known of the published version's text beside its words.")
    waiting: str | None = Field(description="Why the newest version is not published yet, in one sentence.")
    failure: Failure | None
    created_at: datetime
    accepted_at: datetime
    job: JobShape | None = Field(description="None once an old job has been purged.")


class DocumentPage(BaseModel):
    """One page of documents, the newest first."""

    items: list[DocumentShape]
    next: str | None = Field(description="The cursor of the next page.")


class Stages(BaseModel):
    """Milliseconds that an attempt spent in each stage."""

    load_ms: int | None
    extract_ms: int | None
    store_ms: int | None
    publish_ms: int | None


class AttemptShape(BaseModel):
    """One attempt: from a lease to its end."""

    generation: int
    worker_id: int
    started_at: datetime
    ended_at: datetime | None
    outcome: str | None
    code: str | None
    message: str | None
    stages: Stages


class VersionShape(BaseModel):
    """One version of a document with all attempts at it."""

    input_version: int
    operation: str
    state: str | None = Field(description="None once its old job has been purged.")
    accepted_at: datetime
    attempts: list[AttemptShape]


class History(BaseModel):
    """The versions of a document, the newest first."""

    versions: list[VersionShape]
    next: str | None = Field(description="The cursor of the next page.")


class OutdatedShape(BaseModel):
    """Documents of one kind that would be read anew, without those that wait anyway."""

    media_type: str
    stored: str = Field(description="The version of the reader whose text is published.")
    now: str | None = Field(None, description="The version that would read it now; absent: nothing does any more.")
    why: Literal["reader", "inside", "settings"] = Field(
        description="What has changed; `inside`: the readers of files inside; `settings`: limits, OCR or an encoding."
    )
    documents: int


class Campaign(BaseModel):
    """How many documents were accepted for reindexing, and how many had nothing to do."""

    accepted: int
    skipped: int
    outdated: list[OutdatedShape] | None = Field(None, description="Told of `outdated` ones.")
    quarantined: dict[str, int] | None = Field(
        None, description="Told of `outdated` ones: how many in quarantine may work now, by code (at most 10,000)."
    )
    dry_run: bool | None = Field(None, description="Told of `outdated` ones: whether they were only counted.")
    warnings: list[str] | None = Field(
        None, description="Told of `outdated` ones: live workers that read with other settings than this server."
    )
