"""What all routes have in common: which methods a path has, and that no parameter is ignored."""

import asyncio
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from httpx import ASGITransport, AsyncClient, Client
from sqlalchemy import create_engine

from fencepost.http.app import create_app
from fencepost.http.parameters import query_parameters
from fencepost.local.postgres import LocalPostgres
from pipeline.settings import Settings
from tests.support import api, routes, servers

NAMES = {"document_id": "x", "job_id": "x", "row_id": "1", "verification_id": "1", "name": "x", "prefix": "x"}


@pytest.fixture(scope="module")
def client(postgres: LocalPostgres) -> Iterator[Client]:
    with servers.fresh_database(postgres) as database, api.serving(database) as client:
        yield client


def test_each_path_tells_all_of_its_methods(client: Client) -> None:
    for path in {route.path.format(**NAMES) for route in routes.ALL}:
        answer = client.patch(path)
        assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed"), path
        assert sorted(answer.headers["allow"].split(", ")) == sorted(methods_at(path)), path


def test_an_unknown_parameter_is_refused_by_every_route(client: Client) -> None:
    for route in routes.ALL:
        if route.path.startswith("/v1/"):
            answer = client.request(route.method, route.path.format(**NAMES), params={"colection": "x"})
            assert (answer.status_code, answer.json()["code"]) == (422, "invalid"), route.name
            assert [error["field"] for error in answer.json()["errors"]] == ["colection"], route.name


def test_the_nearest_parameter_is_named(client: Client) -> None:
    answer = client.get("/v1/documents", params={"colection": "x", "limit": 1})
    assert answer.json()["detail"] == "colection: is not known here; perhaps collection is meant."
    answer = client.post("/v1/documents", params={"kye": "x"}, content=b"x")
    assert answer.json()["detail"] == "kye: is not known here; perhaps key is meant."
    assert client.get("/v1/documents", params={"key": "x"}).json()["items"] == []


def test_where_none_is_near_all_are_named(client: Client) -> None:
    answer = client.get("/v1/outbox", params={"xyz": "x"})
    assert answer.json()["detail"] == "xyz: is not known here; known: collection, cursor, exhausted, limit."
    answer = client.get("/v1/overview", params={"xyz": "x"})
    assert answer.json()["detail"] == "xyz: is not known here; this route has no parameters."


def test_what_is_known_is_what_openapi_tells(client: Client) -> None:
    told = client.get("/v1/openapi.json").json()["paths"]
    for route in routes.SERVED:
        if route.include_in_schema:
            for method in route.methods:
                parameters = told[route.path][method.lower()].get("parameters", [])
                named = sorted(parameter["name"] for parameter in parameters if parameter["in"] == "query")
                assert query_parameters(route) == named, (method, route.path)


def test_a_request_builds_no_openapi_document() -> None:
    """That takes a second, in which a process that has just started serves nobody."""
    app = create_app(Settings(), engine=create_engine("postgresql+psycopg://nobody@localhost/nothing"))

    async def ask() -> str:
        async with AsyncClient(transport=ASGITransport(app), base_url="http://localhost") as client:
            return (await client.get("/v1/jobs", params={"colection": "x"})).json()["detail"]

    with ThreadPoolExecutor(1) as thread:  # a browser of another test may have left a loop in this one
        told = thread.submit(asyncio.run, ask()).result()
    assert told == "colection: is not known here; perhaps collection is meant."
    assert app.openapi_schema is None


def test_many_long_names_are_cut(client: Client) -> None:
    answer = client.get("/v1/documents", params={f"{n}{'x' * 500}": "" for n in range(50)})
    assert len(answer.json()["errors"]) == 5
    assert len(answer.text) < 2_000


@pytest.mark.parametrize("path", ["/documents", "/health/live", "/search"])
def test_pages_and_health_checks_take_what_others_append(client: Client, path: str) -> None:
    assert client.get(path, params={"utm_source": "mail"}).status_code == 200


def methods_at(path: str) -> set[str]:
    return {route.method for route in routes.ALL if re.fullmatch(re.sub(r"{\w+}", "[^/]+", route.path), path)}
