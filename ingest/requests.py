"""What the routes of the front door have in common: their surroundings, headers and answers."""

import re
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Header, Path
from fastapi.responses import JSONResponse
from sqlalchemy import Engine
from starlette.requests import Request

from ingest.intake import Answer, Intake
from ingest.shapes import EXAMPLE_ID, Accepted
from pipeline.errors import NotFound, Refusal
from pipeline.settings import Settings

ETAG = re.compile(r'"(\d{1,18})"')


def the_engine(request: Request) -> Engine:
    """The engine of this API process."""
    engine: Engine = request.app.state.engine
    return engine


def the_intake(request: Request) -> Intake:
    """The intake of this API process."""
    intake: Intake = request.app.state.intake
    return intake


def the_settings(request: Request) -> Settings:
    """The settings of this API process."""
    settings: Settings = request.app.state.settings
    return settings


def _document_id(
    document_id: Annotated[str, Path(description="The document's id.", examples=[EXAMPLE_ID])],
) -> UUID:
    try:
        return UUID(document_id)
    except ValueError:
        raise NotFound("document_not_found", f"There is no document {document_id}.") from None


def _expected_version(
    if_match: Annotated[
        str | None, Header(description='Only if this is the newest version: its ETag, such as "3".', examples=['"3"'])
    ] = None,
) -> int | None:
    if if_match is None or if_match.strip() == "*":
        return None
    match = ETAG.fullmatch(if_match.strip())
    if match is None:
        raise Refusal("malformed_if_match", 'If-Match is the ETag of one version, such as "3", or *.')
    return int(match[1])


TheEngine = Annotated[Engine, Depends(the_engine)]
TheIntake = Annotated[Intake, Depends(the_intake)]
TheSettings = Annotated[Settings, Depends(the_settings)]
DocumentId = Annotated[UUID, Depends(_document_id)]
ExpectedVersion = Annotated[int | None, Depends(_expected_version)]
IdempotencyKey = Annotated[
    str | None,
    Header(description="A name of this request: repeated, it gets the first answer and changes nothing."),
]


def answered(answer: Answer, shape: Accepted | None = None) -> JSONResponse:
    """202 with Location for what was accepted, 200 for what was unchanged."""
    body = shape or Accepted.of(answer.acceptance)
    headers = {"ETag": f'"{body.input_version}"', "Location": body.links.self}
    if answer.replayed:
        headers["Idempotency-Replayed"] = "true"
    return JSONResponse(
        body.model_dump(mode="json", exclude_none=True), 200 if body.unchanged else 202, headers=headers
    )
