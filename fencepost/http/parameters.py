"""Query parameters that a route does not have are refused: a misspelt filter must not be taken for none."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from fastapi import Depends
from fastapi.dependencies.models import Dependant
from fastapi.dependencies.utils import get_flat_params
from fastapi.routing import APIRoute
from starlette.requests import Request

from pipeline.errors import Invalid

MOST_NAMED = 5
"""Of the unknown ones; also what is compared is bounded, since a stranger chooses it."""
MOST_CHARACTERS = 60


class _OnlyKnown:
    """Raises Invalid for a parameter that the route of a request does not have."""

    def __init__(self) -> None:
        self._known: dict[object, list[str]] = {}

    async def __call__(self, request: Request) -> None:
        if not request.query_params:
            return
        known = self._at(request.scope["route"])
        unknown = [name for name in dict.fromkeys(request.query_params) if name not in known]
        if unknown:
            errors = [_mistake(name[:MOST_CHARACTERS], known) for name in unknown[:MOST_NAMED]]
            detail = "; ".join(f"{error['field']}: {error['message']}" for error in errors) + "."
            raise Invalid("invalid", detail, errors=errors)

    def _at(self, route: APIRoute) -> list[str]:
        """Found once for each route: it takes as long as a small request."""
        if route.endpoint not in self._known:
            self._known[route.endpoint] = query_parameters(route)
        return self._known[route.endpoint]


ONLY_KNOWN = Depends(_OnlyKnown())


def query_parameters(route: APIRoute) -> list[str]:
    """The names of what a route takes from the query, also as fields of a model and by what it depends on."""
    alone = Dependant(query_params=list(_taken(route.dependant)))
    return sorted({field.alias for field in get_flat_params(alone)})


def _taken(dependant: Dependant) -> Iterator[Any]:
    yield from dependant.query_params
    for inner in dependant.dependencies:
        yield from _taken(inner)


def _mistake(name: str, known: list[str]) -> dict[str, str]:
    return {"field": name, "message": f"is not known here; {_instead(name, known)}"}


def _instead(name: str, known: list[str]) -> str:
    if near := get_close_matches(name.lower(), known, n=1):
        return f"perhaps {near[0]} is meant"
    return f"known: {', '.join(known)}" if known else "this route has no parameters"
