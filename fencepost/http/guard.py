"""What every request passes first: who may talk to this server, under which name, and with which headers it answers."""

import re
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fencepost.http.door import bearer_of
from pipeline import events, problems

LOOPBACK = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?", re.IGNORECASE)
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
SECURITY_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "content-security-policy": "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'",
}


class Guard:
    """Refuses other hosts' names (DNS rebinding) and other sites' changes; names each request in the log.

    Where keys are asked for, any name will do: under a foreign one a browser has neither key nor cookie. And a request
    that brings its key in a header may come from anywhere: no other site can make a browser send one.
    """

    def __init__(self, app: ASGIApp, *, asks_for_keys: bool) -> None:
        self._app = app
        self._asks = asks_for_keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = uuid4().hex

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["x-request-id"] = request_id
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = _refusal(scope["method"], Headers(scope=scope), asks_for_keys=self._asks)
        app = self._app if refusal is None else refusal
        with events.context(request_id=request_id):
            await app(scope, receive, send_guarded)


def _refusal(method: str, headers: Headers, *, asks_for_keys: bool) -> JSONResponse | None:
    host = headers.get("host", "")
    if not asks_for_keys and not LOOPBACK.fullmatch(host):
        return _forbidden(
            "host_not_allowed",
            "Without keys this server answers to 127.0.0.1, localhost and [::1] only: set FENCEPOST_REQUIRE_KEYS.",
        )
    if method in SAFE_METHODS or (asks_for_keys and bearer_of(headers) is not None):
        return None
    origin = headers.get("origin")
    site = headers.get("sec-fetch-site", "none")
    if (origin is not None and origin.partition("://")[2] != host) or site not in {"same-origin", "none"}:
        return _forbidden("cross_origin", "A page of another site may not change anything here.")
    return None


def _forbidden(code: str, detail: str) -> JSONResponse:
    return JSONResponse(problems.problem(403, code, detail), 403, media_type=problems.MEDIA_TYPE)
