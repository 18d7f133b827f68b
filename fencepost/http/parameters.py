"""Query parameters that a route does not have are refused: a misspelt filter must not be taken for none."""

from difflib import get_close_matches

from fastapi import Depends
from starlette.requests import Request

from pipeline.errors import Invalid

MOST_NAMED = 5
"""Of the unknown ones; also what is compared is bounded, since a stranger chooses it."""
MOST_CHARACTERS = 60


async def _known(request: Request) -> None:
    """Raises Invalid for a parameter of which OpenAPI does not tell at this route."""
    known = _parameters(request)
    unknown = [name for name in dict.fromkeys(request.query_params) if name not in known]
    if unknown:
        errors = [_mistake(name[:MOST_CHARACTERS], known) for name in unknown[:MOST_NAMED]]
        detail = "; ".join(f"{error['field']}: {error['message']}" for error in errors) + "."
        raise Invalid("invalid", detail, errors=errors)


ONLY_KNOWN = Depends(_known)


def _parameters(request: Request) -> list[str]:
    operations = request.app.openapi()["paths"].get(request.scope["route"].path, {})
    described = operations.get(request.method.lower(), {}).get("parameters", ())
    return sorted(parameter["name"] for parameter in described if parameter["in"] == "query")


def _mistake(name: str, known: list[str]) -> dict[str, str]:
    return {"field": name, "message": f"is not known here; {_instead(name, known)}"}


def _instead(name: str, known: list[str]) -> str:
    if near := get_close_matches(name.lower(), known, n=1):
        return f"perhaps {near[0]} is meant"
    return f"known: {', '.join(known)}" if known else "this route has no parameters"
