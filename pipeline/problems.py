"""How a refusal looks on the wire: a problem of RFC 9457 with a stable code."""

from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, ConfigDict

from pipeline.errors import Refusal
from pipeline.logs import hide_secrets

MEDIA_TYPE = "application/problem+json"


class Problem(BaseModel):
    """Why a request was not granted. Clients rely on `code`; `detail` is a sentence for people."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "example": {
                "type": "urn:fencepost:problem:version_mismatch",
                "title": "Precondition Failed",
                "status": 412,
                "code": "version_mismatch",
                "detail": "The newest version is 4, not 3. Read it again and decide anew.",
                "input_version": 4,
            }
        },
    )

    type: str
    title: str
    status: int
    code: str
    detail: str


def problem(status: int, code: str, detail: str, **extra: object) -> dict[str, Any]:
    """The body of a problem."""
    title = HTTPStatus(status).phrase
    return {
        "type": f"urn:fencepost:problem:{code}",
        "title": title,
        "status": status,
        "code": code,
        "detail": hide_secrets(detail),
    } | extra


def of_refusal(refusal: Refusal) -> dict[str, Any]:
    """The body that tells a refusal."""
    return problem(refusal.status, refusal.code, refusal.detail, **refusal.extra)


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What a route says in OpenAPI about its problems, besides 401, 403, 422 and 503, which every one may answer."""
    return {
        status: {"model": Problem, "description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {}}}
        for status in sorted({*statuses, 401, 403, 422, 503})
    }
