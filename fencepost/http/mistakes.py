"""Turns whatever goes wrong in a route into a problem that tells the client what to do, and no internals.

Somebody who goes astray among the pages with a browser is told by a page.
"""

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fencepost.web.rendering import page
from pipeline import events, problems
from pipeline.database import AWAY
from pipeline.errors import IndexUnavailable, Refusal

RETRY_SECONDS = 2
WORDS = {"missing": "is missing", "extra_forbidden": "is not known here"}
"""Our words for mistakes that the validator tells in its own."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
UNEXPECTED = "Something unexpected happened; the server's log has it under the X-Request-Id of this answer."


def install(app: FastAPI) -> None:
    """Registers a handler for each kind of mistake."""
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _no_such_route)
    app.add_exception_handler(IndexUnavailable, _index)
    for error in AWAY:
        app.add_exception_handler(error, _database)
    app.add_exception_handler(ClientDisconnect, _gone)


def answer(body: dict[str, object], headers: dict[str, str] | None = None) -> JSONResponse:
    """The response that tells a problem."""
    return JSONResponse(body, int(str(body["status"])), headers=headers, media_type=problems.MEDIA_TYPE)


def is_for_programs(request: Request) -> bool:
    """Whether this is an address of the API, whatever looks at it."""
    return request.url.path.startswith("/v1/")


def _told(request: Request, body: dict[str, object], headers: dict[str, str] | None = None) -> Response:
    """A page for a browser among the pages, a problem for everything else."""
    if is_for_programs(request):
        return answer(body, headers)
    headers = {**(headers or {}), "Vary": "Accept"}
    if "text/html" not in request.headers.get("accept", ""):
        return answer(body, headers)
    caller = getattr(request.state, "caller", None)
    shown = page("mistake", caller, status=int(str(body["status"])), sentence=body["detail"])
    shown.headers.update(headers)
    return shown


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)  # noqa: S101 - registered for this class
    headers = {"Connection": "close"} if error.status == 413 else None  # the rest of the body is not read
    return answer(problems.of_refusal(error), headers)


async def _not_valid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for this class
    mistakes = error.errors()
    if any(mistake["type"] == "json_invalid" for mistake in mistakes):
        return answer(problems.problem(400, "malformed_json", "The body is not JSON."))
    errors = [
        {
            "field": ".".join(str(part) for part in mistake["loc"][1:]) or "body",
            "message": WORDS.get(mistake["type"]) or mistake["msg"].removeprefix("Value error, "),
        }
        for mistake in mistakes
    ]
    detail = "; ".join(f"{mistake['field']}: {mistake['message']}" for mistake in errors) + "."
    return answer(problems.problem(422, "invalid", detail, errors=errors))


async def _no_such_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class
    code, detail = {
        404: ("not_found", f"There is nothing at {request.url.path}."),
        405: ("method_not_allowed", f"{request.method} is not possible at {request.url.path}."),
    }.get(error.status_code, ("refused", str(error.detail)))
    headers = {"Allow": ", ".join(_allowed(request))} if error.status_code == 405 else dict(error.headers or {})
    return _told(request, problems.problem(error.status_code, code, detail), headers)


def _allowed(request: Request) -> list[str]:
    """The methods of this path, of which each may have a route of its own."""
    served = request.app.routes
    return [
        method
        for method in METHODS
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in served)
    ]


def database_away(error: Exception) -> Response:
    """The answer while PostgreSQL does not answer, which the log is told about."""
    events.emit("database.unavailable", loop="api", error=str(getattr(error, "orig", error)).strip())
    body = problems.problem(
        503, "database_unavailable", "PostgreSQL does not answer just now. Nothing was changed; ask again in a moment."
    )
    return answer(body, {"Retry-After": str(RETRY_SECONDS)})


async def _database(_request: Request, error: Exception) -> Response:
    return database_away(error)


async def _index(_request: Request, error: Exception) -> Response:
    assert isinstance(error, IndexUnavailable)  # noqa: S101 - registered for this class
    events.emit("index.unavailable", reason=error.message)
    body = problems.problem(503, error.code, f"The search index does not answer just now: {error.message}")
    return answer(body, {"Retry-After": str(RETRY_SECONDS)})


async def _gone(_request: Request, _error: Exception) -> Response:
    return Response(status_code=400)  # the client has left and will not read it


class LastResort:
    """Answers what no handler expected with a problem, and tells it to the log under the request's id."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        has_started = False

        async def noting(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except Exception as error:
            events.emit(
                "request.failed", method=scope.get("method"), path=scope.get("path"), error=repr(error), exc_info=error
            )
            if has_started or scope["type"] != "http":
                raise
            await _told(Request(scope), problems.problem(500, "unexpected", UNEXPECTED))(scope, receive, send)
