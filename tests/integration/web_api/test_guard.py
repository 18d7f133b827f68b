"""What every request passes: names, origins, headers, and problems instead of internals."""

import pytest
from httpx import Client

from fencepost.http.app import create_app
from pipeline import breaker
from pipeline.settings import Settings
from tests.support.servers import Database

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "10.0.0.1", ""]
)
def test_another_name_for_this_server_is_refused(client: Client, host: str) -> None:
    answer = client.get("/v1/documents", headers={"Host": host})
    assert answer.status_code in {400, 403}  # the server itself refuses an empty one
    assert "items" not in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8000", "LOCALHOST", "[::1]:99"])
def test_the_names_of_this_machine_are_welcome(client: Client, host: str) -> None:
    assert client.get("/v1/documents", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_page_of_another_site_changes_nothing(client: Client, headers: dict[str, str]) -> None:
    answer = client.post("/v1/documents", content=b"x", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "cross_origin")
    assert client.get("/v1/documents", headers=headers).json()["items"] == []


def test_our_own_pages_may(client: Client) -> None:
    own = {"Origin": str(client.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    assert client.post("/v1/documents", content=b"x", headers=own).status_code == 202


def test_every_answer_has_security_headers_and_a_name(client: Client) -> None:
    answers = [client.get(path) for path in ("/v1/documents", "/nowhere", "/health/live")]
    for answer in answers:
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert "server" not in answer.headers
    assert len({answer.headers["x-request-id"] for answer in answers}) == 3


def test_a_browser_is_told_by_a_page_that_nothing_is_there(client: Client) -> None:
    answer = client.get("/no<b>where", headers=BROWSER)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is nothing at /no&lt;b&gt;where." in answer.text
    assert 'href="/documents"' in answer.text, "it has the pages' own navigation"


def test_a_browser_is_told_by_a_page_what_is_not_possible(client: Client) -> None:
    answer = client.patch("/documents", headers=BROWSER)
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")
    assert "<h1>That did not work</h1>" in answer.text


@pytest.mark.parametrize(
    ("path", "accept"),
    [("/nowhere", "*/*"), ("/nowhere", "application/json"), ("/v1/nowhere", BROWSER["Accept"])],
)
def test_programs_are_told_by_a_problem(client: Client, path: str, accept: str) -> None:
    answer = client.get(path, headers={"Accept": accept})
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


@pytest.mark.parametrize("accept", ["*/*", BROWSER["Accept"]])
def test_a_cache_is_told_what_a_mistakes_answer_depends_on(client: Client, accept: str) -> None:
    assert client.get("/nowhere", headers={"Accept": accept}).headers["vary"] == "Accept"
    assert client.patch("/documents", headers={"Accept": accept}).headers["vary"] == "Accept"
    assert "vary" not in client.get("/v1/nowhere", headers={"Accept": accept}).headers, "it is a problem for everybody"


def test_what_is_not_there_and_what_is_not_possible_are_problems(client: Client) -> None:
    nowhere, never = client.get("/nowhere"), client.patch("/v1/documents")
    assert (nowhere.status_code, nowhere.json()["code"]) == (404, "not_found")
    assert (never.status_code, never.json()["code"]) == (405, "method_not_allowed")
    assert {nowhere.headers["content-type"], never.headers["content-type"]} == {"application/problem+json"}


def test_the_unexpected_is_500_without_internals(client: Client, database: Database) -> None:
    with database.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE documents RENAME TO gone")
    answer = client.get("/v1/documents", headers={"Host": "localhost"})
    assert (answer.status_code, answer.json()["code"]) == (500, "unexpected")
    assert "SELECT" not in answer.text
    assert "gone" not in answer.text
    assert answer.headers["x-request-id"]
    assert answer.headers["content-type"] == "application/problem+json"
    shown = client.get("/documents", headers=BROWSER)
    assert (shown.status_code, shown.headers["content-type"]) == (500, "text/html; charset=utf-8")
    assert "X-Request-Id" in shown.text
    assert "gone" not in shown.text


def test_ready_tells_what_is_missing(client: Client, database: Database) -> None:
    assert client.get("/health/ready").json() == {"status": "ready"}
    with database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
    answer = client.get("/health/ready")
    assert answer.status_code == 503
    assert "fencepost migrate" in answer.json()["reasons"][0]


def test_what_is_paused_makes_nobody_less_ready(client: Client, database: Database) -> None:
    """A load balancer that took the servers away would turn an outage of the index into one of the front door."""
    with database.engine.begin() as connection:
        breaker.trip(connection, breaker.INDEX, reason="The index is read-only (disk).")
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json()["status"]) == (200, "ready")
    assert answer.json()["paused"] == [{"name": "index", "reason": "The index is read-only (disk)."}]
    assert client.post("/v1/documents", content=b"x").status_code == 202


def test_the_openapi_document_is_whole(client: Client) -> None:
    document = client.get("/v1/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], (method, path)
            assert path.startswith("/health") or "503" in operation["responses"], (method, path)


def test_the_application_needs_no_server_to_be_made(database: Database) -> None:
    assert create_app(Settings(), engine=database.engine).openapi()["paths"]
