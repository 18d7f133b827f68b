"""Who asks: found out once for every request, before any route is looked for and before any body is read."""

from sqlalchemy import Engine
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fencepost.http import mistakes
from fencepost.web import login, rendering
from pipeline import events, keys, problems, sessions
from pipeline.caller import ANYBODY, Caller
from pipeline.database import AWAY
from pipeline.errors import Unauthorized
from pipeline.settings import Settings


class Door:
    """Puts the caller into the request's state; without a usable key nobody comes further than to what is open."""

    def __init__(self, app: ASGIApp, *, engine: Engine, settings: Settings) -> None:
        self._app = app
        self._engine = engine
        self._asks = settings.asks_for_keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http" or is_open(scope["path"]):
            await self._app(scope, receive, send)
        elif self._asks:
            await self._ask(scope, receive, _never_stored(send))
        else:
            await self._pass(ANYBODY, scope, receive, send)

    async def _ask(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        try:
            caller = await run_in_threadpool(self._find, bearer_of(request.headers), login.secret_of(request))
        except AWAY as error:
            answer = mistakes.database_away(error) if mistakes.is_for_programs(request) else rendering.database_away()
            await answer(scope, receive, send)
            return
        if caller is None:
            await _refusal(request)(scope, receive, send)
            return
        with events.context(key=caller.key):
            await self._pass(caller, scope, receive, send)

    async def _pass(self, caller: Caller, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})["caller"] = caller
        await self._app(scope, receive, send)

    def _find(self, token: str | None, session: str | None) -> Caller | None:
        """A key that is sent is what counts, also beside a cookie."""
        if token is None and session is None:
            return None
        with self._engine.begin() as connection:
            if token is not None:
                return keys.find(connection, token)
            return sessions.find(connection, session or "")


def is_open(path: str) -> bool:
    """Whether nobody is asked for a key there: it says nothing about documents, or is the page that takes a key."""
    return path == login.PATH or path.startswith(("/health/", "/static/"))


def bearer_of(headers: Headers) -> str | None:
    """The token that a request brings; None without one."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def _refusal(request: Request) -> Response:
    token = bearer_of(request.headers)
    events.emit("key.refused", path=request.url.path, key=keys.prefix_of(token or ""))
    if mistakes.is_for_programs(request):
        answer: Response = mistakes.answer(problems.of_refusal(_NOT_VALID if token is not None else _NO_KEY))
    else:
        answer = login.instead_of(request)
    answer.headers["WWW-Authenticate"] = "Bearer" if token is None else 'Bearer error="invalid_token"'
    if request.method not in {"GET", "HEAD"}:
        answer.headers["Connection"] = "close"  # the body is not read
    return answer


_NO_KEY = Unauthorized(
    "key_required",
    "This server needs a key: send it as `Authorization: Bearer KEY`. `fencepost keys create` makes one.",
)
_NOT_VALID = Unauthorized("key_not_valid", "This key is not known here, was revoked, or has expired.")


def _never_stored(send: Send) -> Send:
    """What one caller is told is kept by no cache, so that no other one is told it, nor anybody after the logout."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).setdefault("cache-control", "no-store")
        await send(message)

    return sending
