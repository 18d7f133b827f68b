"""What all routes have in common: which methods a path has, and that no parameter is ignored."""

import re
from collections.abc import Iterator

import pytest
from httpx import Client

from fencepost.local.postgres import LocalPostgres
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


def test_many_long_names_are_cut(client: Client) -> None:
    answer = client.get("/v1/documents", params={f"{n}{'x' * 500}": "" for n in range(50)})
    assert len(answer.json()["errors"]) == 5
    assert len(answer.text) < 2_000


@pytest.mark.parametrize("path", ["/documents", "/health/live", "/search"])
def test_pages_and_health_checks_take_what_others_append(client: Client, path: str) -> None:
    assert client.get(path, params={"utm_source": "mail"}).status_code == 200


def methods_at(path: str) -> set[str]:
    return {route.method for route in routes.ALL if re.fullmatch(re.sub(r"{\w+}", "[^/]+", route.path), path)}
