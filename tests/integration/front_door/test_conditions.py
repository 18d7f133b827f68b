"""If-Match and Idempotency-Key: a change happens once, and only to the version that was meant."""

from collections.abc import Callable

import pytest
from httpx import Client, Response
from sqlalchemy import text

from tests.support.servers import Database
from tests.support.world import World

CHANGES: dict[str, Callable[[Client, str, dict[str, str]], Response]] = {
    "put": lambda client, path, headers: client.put(f"{path}/content", content=b"new", headers=headers),
    "reindex": lambda client, path, headers: client.post(f"{path}/reindex", headers=headers),
    "delete": lambda client, path, headers: client.delete(path, headers=headers),
}


@pytest.fixture
def path(client: Client) -> str:
    """A document of two versions."""
    client.post("/v1/documents?key=a", content=b"one")
    answer = client.post("/v1/documents?key=a", content=b"two")
    location: str = answer.headers["Location"]
    return location


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_to_another_version_than_the_newest_is_412(client: Client, path: str, change: str) -> None:
    answer = CHANGES[change](client, path, {"If-Match": '"1"'})
    assert (answer.status_code, answer.json()["code"], answer.json()["input_version"]) == (412, "version_mismatch", 2)
    assert client.get(path).headers["ETag"] == '"2"'


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("etag", ['"2"', "*"])
def test_a_change_to_the_newest_version_is_accepted(client: Client, path: str, change: str, etag: str) -> None:
    answer = CHANGES[change](client, path, {"If-Match": etag})
    assert (answer.status_code, answer.headers["ETag"]) == (202, '"3"')


@pytest.mark.parametrize("change", CHANGES)
def test_a_repeated_request_gets_the_first_answer_and_changes_nothing(
    client: Client, world: World, path: str, change: str
) -> None:
    first = CHANGES[change](client, path, {"Idempotency-Key": "once"})
    again = CHANGES[change](client, path, {"Idempotency-Key": "once"})
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert again.headers["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first.headers
    assert world.row("SELECT input_version FROM documents")["input_version"] == 3


def test_a_repeated_upload_makes_one_document(client: Client, world: World) -> None:
    answers = [
        client.post("/v1/documents?title=T", content=b"one", headers={"Idempotency-Key": "once"}) for _ in range(3)
    ]
    assert len({answer.json()["document_id"] for answer in answers}) == 1
    assert [answer.status_code for answer in answers] == [202, 202, 202]
    assert world.row("SELECT count(*) FROM documents")["count"] == 1


@pytest.mark.parametrize("query", ["title=T&key=other", "title=U", 'title=T&metadata={"a": 1}', "title=T"])
def test_another_request_under_a_used_key_is_422(client: Client, world: World, query: str) -> None:
    client.post("/v1/documents?title=T", content=b"one", headers={"Idempotency-Key": "once"})
    body = b"one" if query != "title=T" else b"two"
    answer = client.post(f"/v1/documents?{query}", content=body, headers={"Idempotency-Key": "once"})
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
    assert world.row("SELECT count(*) FROM documents")["count"] == 1


def test_a_request_under_a_key_in_work_is_409(client: Client, database: Database, world: World) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended('idempotency once', 0))"))
        answer = client.post("/v1/documents", content=b"one", headers={"Idempotency-Key": "once"})
        assert (answer.status_code, answer.json()["code"]) == (409, "in_progress")
    assert client.post("/v1/documents", content=b"one", headers={"Idempotency-Key": "once"}).status_code == 202
    assert world.row("SELECT count(*) FROM documents")["count"] == 1


def test_a_refused_request_does_not_use_its_key_up(client: Client, path: str) -> None:
    headers = {"Idempotency-Key": "once"}
    assert client.delete(path, headers={**headers, "If-Match": '"1"'}).status_code == 412
    assert client.delete(path, headers={**headers, "If-Match": '"2"'}).status_code == 202


def test_a_key_is_forgotten_after_its_time(client: Client, world: World) -> None:
    client.post("/v1/documents", content=b"one", headers={"Idempotency-Key": "once"})
    world.execute("UPDATE idempotency_keys SET created_at = created_at - interval '25 hours'")
    answer = client.post("/v1/documents", content=b"two", headers={"Idempotency-Key": "once"})
    assert (answer.status_code, "Idempotency-Replayed" in answer.headers) == (202, False)
    again = client.post("/v1/documents", content=b"two", headers={"Idempotency-Key": "once"})
    assert again.json()["document_id"] == answer.json()["document_id"]
