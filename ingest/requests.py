"""What the routes of the front door have in common: the intake, headers and answers."""

import re
from typing import Annotated

from fastapi import Depends, Header
from fastapi.responses import JSONResponse
from starlette.requests import Request

from ingest.intake import Answer, Intake
from ingest.outdated import Expected
from ingest.shapes import Accepted
from pipeline import encodings
from pipeline.errors import Invalid, Refusal
from pipeline.requests import TheCaller

AUTOMATIC = "auto"
ENCODING = "Read text in this encoding from now on (kept as the metadata `encoding`); `auto` forgets what was given."
ETAG = re.compile(r'"(\d{1,18})"')


def _intake(request: Request, caller: TheCaller) -> Intake:
    intake: Intake = request.app.state.intake
    return intake.of(caller)


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


def encoding_changes(encoding: str | None) -> dict[str, str | None]:
    """What another encoding changes of the metadata; raises Invalid for one that nobody knows."""
    if encoding is None:
        return {}
    if encoding == AUTOMATIC:
        return {"encoding": None}
    if not encodings.known(encoding):
        raise Invalid("unknown_encoding", f"There is no encoding {encoding[:40]!r}; write one such as cp1251, or auto.")
    return {"encoding": encoding.strip()}


def _expected(request: Request) -> Expected:
    expected: Expected = request.app.state.expected
    return expected


TheIntake = Annotated[Intake, Depends(_intake)]
TheExpected = Annotated[Expected, Depends(_expected)]
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
