"""Nobody adds a route that forgets to say who may use it."""

import re
from pathlib import Path

import pytest
from fastapi import APIRouter, FastAPI

from fencepost.http.door import is_open
from pipeline.caller import Scope
from pipeline.requests import READS, Needs
from tests.support import routes

DOCS = Path(__file__).parents[2] / "docs" / "keys.md"
OPEN = {"GET /health/live", "GET /health/ready", "GET /login", "POST /login", "GET /static/{name}"}
"""All that anybody may ask without a key. Think twice before you add to it."""


def test_every_route_but_the_open_ones_declares_a_scope() -> None:
    silent = {route.name for route in routes.ALL if route.needs is None}
    assert silent == OPEN


def test_the_door_lets_nobody_without_a_key_to_more_than_that() -> None:
    assert {route.name for route in routes.ALL if is_open(route.path)} == OPEN
    for path in ("/v1/documents", "/", "/loginx", "/login/", "/staticx", "/healthx", "/v1/../health/live", "//health/"):
        assert not is_open(path)


@pytest.mark.parametrize("route", routes.ALL, ids=lambda route: route.name)
def test_what_changes_needs_more_than_reading(route: routes.Declared) -> None:
    if route.needs is not None and route.method not in {"GET", "HEAD"} and route.path != "/logout":
        assert route.needs.scope.covers(Scope.WRITE)


def test_a_route_without_a_scope_would_be_noticed() -> None:
    app, inner, declared = FastAPI(openapi_url=None), APIRouter(), APIRouter(dependencies=[READS])
    inner.get("/silent")(lambda: None)
    declared.get("/declared")(lambda: None)
    for router in (inner, declared):
        app.include_router(router)

    assert routes.of(app) == [("GET", "/declared", Needs(Scope.READ)), ("GET", "/silent", None)]


def test_the_table_in_the_documents_is_that_of_the_code() -> None:
    rows = re.findall(r"^\| `([A-Z]+ /\S*)` \| (.+?) \|$", DOCS.read_text(), re.MULTILINE)

    assert dict(rows) == {route.name: written(route.needs) for route in routes.ALL}
    assert len(rows) == len(dict(rows)), "each once"


def written(needs: Needs | None) -> str:
    if needs is None:
        return "none"
    return f"{needs.scope}, for all collections" if needs.everywhere else str(needs.scope)
