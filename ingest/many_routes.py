"""The routes that change many documents at once."""

from typing import Annotated, Literal, Self
from uuid import UUID

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.requests import Request

from ingest import campaign
from ingest.bulk_stream import DuplexResponse, answers
from ingest.campaign import Choice
from ingest.requests import IdempotencyKey, TheIntake
from ingest.shapes import Campaign
from pipeline.collections import collection_name
from pipeline.errors import Refusal
from pipeline.problems import documented
from pipeline.requests import EXAMPLE_ID, WRITES, TheCaller, TheEngine
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
    """Which documents to reindex: exactly one of the four."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"state": "failed"}})

    documents: list[UUID] | None = Field(None, min_length=1, max_length=10_000)
    collection: str | None = None
    state: State | Literal["failed"] | None = Field(
        None, description="A state of the newest version's job; `failed` means quarantined."
    )
    all: bool = False

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        chosen = [self.documents is not None, self.collection is not None, self.state is not None, self.all]
        if sum(chosen) != 1:
            msg = "say one of documents, collection, state and all"
            raise ValueError(msg)
        return self

    def choice(self) -> Choice:
        """The same, checked; raises Invalid."""
        state = State.QUARANTINED if self.state == "failed" else self.state
        collection = collection_name(self.collection) if self.collection is not None else None
        return Choice(self.documents, collection, state)


@router.post("/v1/reindex", summary="Process many documents again", status_code=202, responses=documented(400))
def reindex(wanted: Annotated[Wanted, Body()], engine: TheEngine, intake: TheIntake, caller: TheCaller) -> Campaign:
    """Makes new versions behind all live uploads. Skips deleted documents and those that wait anyway."""
    return campaign.reindex(engine, intake, wanted.choice(), caller.visible)
