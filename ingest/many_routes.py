"""The routes that change many documents at once."""

from typing import Annotated, Literal, Self
from uuid import UUID

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.requests import Request

from ingest import campaign
from ingest.bulk_stream import DuplexResponse, answers
from ingest.campaign import Choice
from ingest.outdated import Extent, reindex_outdated
from ingest.requests import ENCODING, IdempotencyKey, TheExpected, TheIntake, encoding_changes
from ingest.shapes import Campaign
from pipeline.collections import collection_name
from pipeline.errors import Refusal
from pipeline.problems import documented
from pipeline.requests import EXAMPLE_ID, WRITES, TheCaller, TheEngine, TheSettings
from pipeline.states import State

router = APIRouter(tags=["documents"], dependencies=[WRITES])

NDJSON = "application/x-ndjson"
LINE_EXAMPLE = (
    '{"key": "a.txt", "text": "some words"}\n{"key": "b.pdf", "base64": "JVBERi0…", "metadata": {"year": 2026}}\n'
)
ANSWER_EXAMPLE = (
    f'{{"line": 1, "document_id": "{EXAMPLE_ID}", "input_version": 1, "state": "queued", "unchanged": false, …}}\n'
    '{"line": 2, "error": {"status": 422, "code": "invalid", …}}\n'
)


@router.post(
    "/v1/documents/bulk",
    summary="Upload many small documents",
    response_class=DuplexResponse,
    responses=documented(400) | {200: {"content": {NDJSON: {"example": ANSWER_EXAMPLE}}}},
    openapi_extra={"requestBody": {"required": True, "content": {NDJSON: {"example": LINE_EXAMPLE}}}},
)
async def bulk(request: Request, intake: TheIntake, idempotency_key: IdempotencyKey = None) -> DuplexResponse:
    """Answers each line as soon as it is durable; a bad line never stops the others."""
    if idempotency_key is not None:
        raise Refusal("idempotency_not_supported", "Give each line a key instead: the same line again changes nothing.")
    return DuplexResponse(answers(request.stream(), intake), media_type=NDJSON)


class Wanted(BaseModel):
    """Which documents to reindex: exactly one of documents, collection, state, all and outdated.

    `outdated` may be narrowed to a `collection`.
    """

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"state": "failed"}})

    documents: list[UUID] | None = Field(None, min_length=1, max_length=10_000)
    collection: str | None = None
    state: State | Literal["failed"] | None = Field(
        None, description="A state of the newest version's job; `failed` means quarantined."
    )
    all: bool = False
    outdated: bool = Field(False, description="Those that other readers or settings have read than those of today.")
    dry_run: bool = Field(False, description="Only count them; for `outdated`.")
    encoding: str | None = Field(None, description=ENCODING)

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        within = self.collection is not None and not self.outdated
        chosen = [self.documents is not None, within, self.state is not None, self.all, self.outdated]
        if sum(chosen) != 1:
            msg = "say one of documents, collection, state, all and outdated"
            raise ValueError(msg)
        if self.dry_run and not self.outdated:
            msg = "dry_run is for outdated"
            raise ValueError(msg)
        if self.encoding is not None and self.outdated:
            msg = "another encoding is for documents that you choose"
            raise ValueError(msg)
        return self

    def choice(self) -> Choice:
        """The same, checked; raises Invalid."""
        state = State.QUARANTINED if self.state == "failed" else self.state
        collection = collection_name(self.collection) if self.collection is not None else None
        return Choice(self.documents, collection, state)


@router.post(
    "/v1/reindex",
    summary="Process many documents again",
    status_code=202,
    response_model_exclude_none=True,
    responses=documented(400),
)
def reindex(
    wanted: Annotated[Wanted, Body()],
    engine: TheEngine,
    intake: TheIntake,
    caller: TheCaller,
    expected: TheExpected,
    settings: TheSettings,
) -> Campaign:
    """Makes new versions behind all live uploads. Skips deleted documents and those that wait anyway."""
    choice = wanted.choice()
    if wanted.outdated:
        extent = Extent(choice.collection, caller.visible)
        return reindex_outdated(engine, intake, expected, extent, settings, dry_run=wanted.dry_run)
    return campaign.reindex(engine, intake, choice, caller.visible, encoding_changes(wanted.encoding))
