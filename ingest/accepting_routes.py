"""The routes that change one document. Each answers after its change is durable."""

from dataclasses import asdict, replace
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from ingest.description import FIELDS, titled
from ingest.idempotency import identify
from ingest.requests import ENCODING, ExpectedVersion, IdempotencyKey, TheIntake, answered, encoding_changes
from ingest.settled import settled
from ingest.shapes import Accepted
from ingest.upload import received
from pipeline.acceptance import Submission
from pipeline.problems import documented
from pipeline.requests import WRITES, DocumentId, TheEngine, TheSettings
from pipeline.states import Operation

router = APIRouter(tags=["documents"], dependencies=[WRITES])

ACCEPTS: dict[int | str, dict[str, Any]] = {
    200: {"model": Accepted, "description": "Nothing to do: the newest version is the same."},
    202: {"model": Accepted, "description": "Accepted and durable. Location names the document."},
}
FORM = {
    "type": "object",
    "required": ["file"],
    "properties": {
        "file": {"type": "string", "format": "binary"},
        **{name: {"type": "string"} for name in FIELDS},
    },
}
BODIES = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {"schema": FORM},
            "*/*": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}
WAIT = "Answer when the version is final or quarantined, at the latest after so many seconds."


Wait = Annotated[float, Query(ge=0, le=60, description=WAIT)]


class Replacement(BaseModel):
    """Query parameters that come with new content of a document."""

    title: str | None = None
    filename: str | None = None
    metadata: str | None = Field(None, description="A JSON object.", examples=['{"year": 2026}'])
    wait: float = Field(0, ge=0, le=60, description=WAIT)

    def names(self) -> dict[str, str | None]:
        """All but `wait`."""
        return self.model_dump(exclude={"wait"})


class Names(Replacement):
    """Query parameters that come with an upload."""

    collection: str | None = Field(None, description="`default` unless named; made when it is new.")
    key: str | None = Field(
        None, description="The caller's own name of the document, unique in its collection: known, it gets a version."
    )


@router.post(
    "/v1/documents",
    summary="Upload a document, or a new version of the one with this key",
    status_code=202,
    responses=ACCEPTS | documented(400, 409, 412, 413),
    openapi_extra=BODIES,
)
async def upload(
    request: Request,
    names: Annotated[Names, Query()],
    engine: TheEngine,
    intake: TheIntake,
    settings: TheSettings,
    if_match: ExpectedVersion,
    idempotency_key: IdempotencyKey = None,
) -> JSONResponse:
    """Takes a form with a `file`, or the bytes as the body with the names as query parameters."""
    async with received(request, names.names(), settings.upload) as (described, spool):
        description = titled(described)
        known = identify(idempotency_key, "upload", asdict(description), spool.sha256, if_match)
        submission = description.submission(if_match=if_match)
        answer = await run_in_threadpool(intake.accept, submission, spool=spool, request=known)
    return answered(answer, await settled(engine, answer.acceptance, names.wait))


@router.put(
    "/v1/documents/{document_id}/content",
    summary="Replace the content of a document",
    status_code=202,
    responses=ACCEPTS | documented(400, 404, 409, 412, 413),
    openapi_extra=BODIES,
)
async def replace_content(
    request: Request,
    document_id: DocumentId,
    names: Annotated[Replacement, Query()],
    engine: TheEngine,
    intake: TheIntake,
    settings: TheSettings,
    if_match: ExpectedVersion,
    idempotency_key: IdempotencyKey = None,
) -> JSONResponse:
    """Makes a new version; title, filename and metadata stay as they are unless given."""
    async with received(request, names.names(), settings.upload) as (description, spool):
        known = identify(idempotency_key, "replace", document_id, asdict(description), spool.sha256, if_match)
        submission = replace(description.submission(if_match=if_match), document_id=document_id)
        answer = await run_in_threadpool(intake.accept, submission, spool=spool, request=known)
    return answered(answer, await settled(engine, answer.acceptance, names.wait))


@router.post(
    "/v1/documents/{document_id}/reindex",
    summary="Process the newest content of a document again",
    status_code=202,
    responses=ACCEPTS | documented(400, 404, 409, 412),
)
async def reindex(
    document_id: DocumentId,
    engine: TheEngine,
    intake: TheIntake,
    if_match: ExpectedVersion,
    encoding: Annotated[str | None, Query(description=ENCODING, examples=["cp1251"])] = None,
    idempotency_key: IdempotencyKey = None,
    wait: Wait = 0,
) -> JSONResponse:
    """Makes a new version of the same content, if wanted in another encoding."""
    changes = encoding_changes(encoding)
    known = identify(idempotency_key, "reindex", document_id, if_match, *filter(None, [encoding]))
    submission = Submission(document_id=document_id, if_match=if_match, metadata_changes=changes, always=True)
    answer = await run_in_threadpool(intake.accept, submission, request=known)
    return answered(answer, await settled(engine, answer.acceptance, wait))


@router.delete(
    "/v1/documents/{document_id}",
    summary="Delete a document from the index",
    status_code=202,
    responses=ACCEPTS | documented(400, 404, 409, 412),
)
async def delete(
    document_id: DocumentId,
    engine: TheEngine,
    intake: TheIntake,
    if_match: ExpectedVersion,
    idempotency_key: IdempotencyKey = None,
    wait: Wait = 0,
) -> JSONResponse:
    """Makes a version that says: gone. A later upload under the same key brings the document back."""
    known = identify(idempotency_key, "delete", document_id, if_match)
    submission = Submission(operation=Operation.DELETE, document_id=document_id, if_match=if_match)
    answer = await run_in_threadpool(intake.accept, submission, request=known)
    return answered(answer, await settled(engine, answer.acceptance, wait))
