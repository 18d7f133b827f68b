"""How a page comes to be: templates with escaping always on, and the words that they share."""

import json
import mimetypes
import re
from collections.abc import Callable, Coroutine
from datetime import datetime
from importlib.resources import files
from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from fencepost.web.narrowing import kind_name
from pipeline import events
from pipeline.caller import Caller, Scope
from pipeline.clock import SystemClock
from pipeline.database import AWAY
from pipeline.errors import IndexUnavailable, NotFound, Refusal
from pipeline.languages import language_name
from pipeline.logs import hide_secrets
from pipeline.outcomes import QUALITY_SENTENCES, TextQuality
from pipeline.overview import CAP
from pipeline.text_facts import NAMED
from pipeline.wording import counted, duration

STATE_WORDS = {
    "queued": "queued",
    "leased": "in work",
    "retry_wait": "retrying",
    "quarantined": "needs a person",
    "succeeded": "published",
    "superseded": "superseded",
    "resolved": "resolved",
}
QUALITY_WORDS = {
    "ok": "read",
    "no_text": "no text",
    "truncated": "cut",
    "partial": "read in part",
    "text_unreliable": "unreliable",
}
QUALITY_NOTES = {
    "ok": "all of it is found",
    "no_text": "found by title and metadata",
    "truncated": "what comes after is not found",
    "partial": "some parts are not found",
    "text_unreliable": "much of it means nothing",
}
_FOREIGN_TAG = re.compile(r"<(?!/?mark>)")
_clock = SystemClock()


def page(name: str, caller: Caller | None, *, status: int = 200, **values: object) -> HTMLResponse:
    """One rendered page with what the caller may do on it; `name` is that of its template."""
    return HTMLResponse(_templates.get_template(f"{name}.html").render(page=name, who=caller, **values), status)


def database_away(caller: Caller | None = None) -> HTMLResponse:
    """The page while PostgreSQL does not answer."""
    sentence = "PostgreSQL does not answer just now. Nothing is lost; this page comes back by itself."
    return page("mistake", caller, status=503, sentence=sentence)


def static(name: str) -> Response:
    """A file of the folder `static`. Raises NotFound."""
    if name not in STATIC:
        raise NotFound("not_found", f"There is no file {name}.")
    media_type = mimetypes.guess_type(name)[0]
    return Response(STATIC[name], media_type=media_type, headers={"Cache-Control": "no-cache"})


class PageRoute(APIRoute):
    """A route whose mistakes are pages, too."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler with its mistakes caught."""
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            caller = getattr(request.state, "caller", None)
            try:
                return await handle(request)
            except Refusal as error:
                return page("mistake", caller, status=error.status, sentence=hide_secrets(error.detail))
            except RequestValidationError:
                sentence = "The address has a part that this page does not understand."
                return page("mistake", caller, status=422, sentence=sentence)
            except IndexUnavailable as error:
                events.emit("index.unavailable", reason=error.message)
                sentence = f"The search index does not answer just now: {hide_secrets(error.message)} Try again later."
                return page("mistake", caller, status=503, sentence=sentence)
            except AWAY:
                return database_away(caller)

        return handler


def _ago(at: datetime | None) -> str:
    return "never" if at is None else f"{duration((_clock.now() - at).total_seconds())} ago"


def _size(octets: int | None) -> str:
    if octets is None:
        return "?"
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if octets >= unit:
            return f"{octets / unit:.1f} {name}"
    return f"{octets} bytes"


def _rate(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.2f}".rstrip("0").rstrip(".")


def _marked(html: str) -> Markup:
    """Text that a search backend has escaped; any tag but <mark> is shown as text, not obeyed."""
    return Markup(_FOREIGN_TAG.sub("&lt;", html))  # noqa: S704 - every other tag has just been disarmed


_templates = Environment(
    loader=PackageLoader("fencepost.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.filters |= {
    "ago": _ago,
    "duration": duration,
    "size": _size,
    "rate": _rate,
    "marked": _marked,
    "kind_name": kind_name,
    "language_name": language_name,
    "said": lambda value: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False),
    "capped": lambda n: counted(n, CAP),
    "state_word": STATE_WORDS.__getitem__,
    "quality_word": QUALITY_WORDS.__getitem__,
    "quality_note": QUALITY_NOTES.__getitem__,
    "quality_sentence": lambda name: QUALITY_SENTENCES[TextQuality(name)],
}
_templates.globals |= {"states": STATE_WORDS, "qualities": QUALITY_WORDS, "scopes": Scope, "most_named": NAMED}
STATIC = {file.name: file.read_bytes() for file in (files("fencepost.web") / "static").iterdir()}
