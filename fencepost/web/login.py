"""How people show a key to a page: a form that takes it, a cookie that stands for it, and the way out."""

import re
from typing import Annotated
from urllib.parse import parse_qs

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy import Engine
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from fencepost.web.rendering import PageRoute, page
from pipeline import sessions
from pipeline.errors import TooLarge
from pipeline.requests import Reader, TheEngine, TheSettings
from pipeline.settings import Settings

PATH = "/login"
COOKIES = {True: "__Host-fencepost", False: "fencepost"}
"""The cookie's name. Browsers keep one that begins with __Host- only if it came by HTTPS, and for this host alone."""
MOST_BYTES = 4096
INSIDE = re.compile(r"/(?![/\\])[^\x00-\x20\\]*")

router = APIRouter(route_class=PageRoute, include_in_schema=False)


def secret_of(request: Request) -> str | None:
    """What the browser keeps of a session; None without one."""
    return next(iter(_secrets_of(request)), None)


def instead_of(request: Request) -> HTMLResponse:
    """The form, at the address that somebody without a session has asked for."""
    query = f"?{request.url.query}" if request.url.query else ""
    wanted = request.url.path + query if request.method == "GET" else "/"
    # A link on another site brings no cookie along; the same page, asked for by itself, does.
    came_by_link = request.headers.get("sec-fetch-site") in {"cross-site", "same-site"}
    return page("login", None, status=401, wanted=wanted, again=came_by_link, mistake="")


@router.get(PATH)
def show_login(settings: TheSettings, wanted: Annotated[str, Query(alias="next", max_length=2000)] = "/") -> Response:
    """Asks for a key, where one is needed."""
    if not settings.asks_for_keys:
        return RedirectResponse("/", 303)
    return page("login", None, wanted=wanted, again=False, mistake="")


@router.post(PATH)
async def log_in(request: Request, engine: TheEngine, settings: TheSettings) -> Response:
    """Begins a session and goes on to the page that was asked for."""
    fields = parse_qs((await _small_body(request)).decode("utf-8", "replace"))
    token, wanted = (fields.get(name, [""])[0].strip() for name in ("key", "next"))
    wanted = wanted if INSIDE.fullmatch(wanted) else "/"
    secret = await run_in_threadpool(_begin, engine, settings, token)
    if secret is None:
        mistake = "This key is not known here, was revoked, or has expired."
        return page("login", None, status=401, wanted=wanted, again=False, mistake=mistake)
    answer = RedirectResponse(wanted, 303)
    is_https = request.url.scheme == "https" or request.headers.get("origin", "").startswith("https://")
    answer.set_cookie(
        COOKIES[is_https],
        secret,
        max_age=round(settings.session_hours * 3600),
        secure=is_https,
        httponly=True,
        samesite="strict",
    )
    return answer


@router.post("/logout")
def log_out(request: Request, engine: TheEngine, _caller: Reader) -> Response:
    """Ends the session, here and in the browser; both, if it came by HTTPS and without."""
    answer = RedirectResponse(PATH, 303)
    with engine.begin() as connection:
        for secret in _secrets_of(request):
            sessions.end(connection, secret)
    for is_https, name in COOKIES.items():
        answer.delete_cookie(name, secure=is_https, httponly=True, samesite="strict")
    return answer


def _secrets_of(request: Request) -> list[str]:
    return [request.cookies[name] for name in COOKIES.values() if name in request.cookies]


def _begin(engine: Engine, settings: Settings, token: str) -> str | None:
    with engine.begin() as connection:
        return sessions.begin(connection, token, hours=settings.session_hours)


async def _small_body(request: Request) -> bytes:
    """The body, which nobody has to be known for to send; raises TooLarge."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise TooLarge("too_large", f"A form may have {MOST_BYTES:,} bytes.", limit_bytes=MOST_BYTES)
    return body
