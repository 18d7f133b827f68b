"""Everything that an upload can be refused for, and that nothing of it stays."""

import json
import socket
from collections.abc import Iterator

import pytest
from httpx import Client

from fencepost.local.postgres import LocalPostgres
from pipeline.settings import Settings, Upload
from tests.support import api, servers
from tests.support.forms import FORM_HEADERS, form
from tests.support.servers import Database
from tests.support.waiting import until
from tests.support.world import World

LIMIT = 100_000
NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.fixture(scope="module")
def database(postgres: LocalPostgres) -> Iterator[Database]:
    """One database for all: each test finds it empty and leaves it so."""
    with servers.fresh_database(postgres) as fresh:
        yield fresh


@pytest.fixture(scope="module")
def client(database: Database) -> Iterator[Client]:
    """An application with a small size limit."""
    with api.serving(database, Settings(upload=Upload(most_bytes=LIMIT))) as client:
        yield client


@pytest.fixture(autouse=True)
def _nothing_stays(world: World) -> Iterator[None]:
    yield
    counts = world.row("SELECT (SELECT count(*) FROM documents) AS d, (SELECT count(*) FROM contents) AS c")
    assert dict(counts) == {"d": 0, "c": 0}


def chunks(size: int) -> Iterator[bytes]:
    for _ in range(0, size, 10_000):
        yield b"x" * 10_000


@pytest.mark.parametrize("content", [b"x" * (LIMIT + 1), chunks(LIMIT + 10_000)], ids=["with length", "without"])
def test_too_large_is_413_and_names_the_limit(client: Client, content: bytes) -> None:
    answer = client.post("/v1/documents", content=content)
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["limit_bytes"]) == (413, "too_large", LIMIT)
    assert str(LIMIT) in problem["detail"]


@pytest.mark.parametrize("size", [LIMIT + 1, LIMIT + 3_000_000])
def test_a_file_in_a_form_is_as_limited(client: Client, size: int) -> None:
    answer = client.post("/v1/documents", files={"file": ("big.bin", b"x" * size)})
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (form(("file", "a", b"x"), closed=False), FORM_HEADERS),
        (b"", FORM_HEADERS),
        (b"no boundary at all", FORM_HEADERS),
        (form(("file", "a", b"x")), {"Content-Type": "multipart/form-data"}),
        (form(*[("title", None, b"t")] * 20, ("file", "a", b"x")), FORM_HEADERS),
        (form(("file", "a", b"x"), ("metadata", None, b"{")), FORM_HEADERS),
    ],
    ids=["cut off", "empty", "garbage", "no boundary named", "too many parts", "metadata is not JSON"],
)
def test_a_malformed_form_is_400(client: Client, body: bytes, headers: dict[str, str]) -> None:
    answer = client.post("/v1/documents", content=body, headers=headers)
    assert answer.status_code == 400, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] in {"malformed_multipart", "malformed_json"}


@pytest.mark.parametrize(
    ("parts", "field"),
    [
        ([("key", None, b"k")], "file"),
        ([("file", "a", b"x"), ("file", "b", b"y")], "file"),
        ([("file", "a", b"x"), ("metdata", None, b"{}")], "metdata"),
        ([("file", "a", b"x"), ("metadata", None, b"[]")], "metadata"),
        ([("file", "a", b"x"), ("metadata", None, b'"text"')], "metadata"),
        ([("file", "a", b"x"), ("metadata", None, b"{" + b" " * 70_000 + b"}")], "metadata"),
        ([("file", "a", b"x"), ("metadata", None, b'{"a":' * 17 + b"1" + b"}" * 17)], "metadata"),
        ([("file", "a", b"x"), ("title", None, b"t" * 1001)], "title"),
        ([("file", "a", b"x"), ("key", None, b"k" * 1025)], "key"),
        ([("file", "a", b"x"), ("collection", None, b"no spaces")], "collection"),
        ([("file", "a", b"x"), ("collection", None, b"-first")], "collection"),
        ([("file", "a", b"x"), ("collection", None, b"c" * 101)], "collection"),
    ],
)
def test_a_field_that_cannot_be_is_422_and_named(
    client: Client, parts: list[tuple[str, str | None, bytes]], field: str
) -> None:
    answer = client.post("/v1/documents", content=form(*parts), headers=FORM_HEADERS)
    assert answer.status_code == 422, answer.text
    assert answer.json()["code"] == "invalid"
    assert answer.json()["errors"][0]["field"] == field


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("metadata=nonsense", 400),
        ("key=", 422),
        ("key=%00", 422),
        ("wait=61", 422),
        ("wait=soon", 422),
        ("titel=typo", 422),
        (f"title={'t' * 1001}", 422),
    ],
)
def test_a_query_that_cannot_be_is_refused_before_the_body_counts(client: Client, query: str, status: int) -> None:
    answer = client.post(f"/v1/documents?{query}", content=b"x")
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("document", [NOBODY, "nonsense", "%00"])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("DELETE", ""),
        ("GET", "/history"),
        ("GET", "/content"),
        ("GET", "/text"),
        ("POST", "/reindex"),
        ("PUT", "/content"),
    ],
)
def test_an_unknown_document_is_404(client: Client, document: str, method: str, path: str) -> None:
    answer = client.request(method, f"/v1/documents/{document}{path}", content=b"x" if method == "PUT" else None)
    assert (answer.status_code, answer.json()["code"]) == (404, "document_not_found")


@pytest.mark.parametrize("etag", ["3", 'W/"3"', '"three"', '""', '"1", "2"'])
def test_a_malformed_if_match_is_400(client: Client, etag: str) -> None:
    answer = client.delete(f"/v1/documents/{NOBODY}", headers={"If-Match": etag})
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed_if_match")


def test_if_match_of_a_version_that_is_not_there_leaves_no_document(client: Client) -> None:
    answer = client.post("/v1/documents?key=new", content=b"x", headers={"If-Match": '"1"'})
    assert (answer.status_code, answer.json()["code"], answer.json()["input_version"]) == (412, "version_mismatch", 0)


@pytest.mark.parametrize("key", ["", "k" * 256, "tab\tbed"])
def test_an_idempotency_key_that_cannot_be_is_400(client: Client, key: str) -> None:
    answer = client.post("/v1/documents", content=b"x", headers={"Idempotency-Key": key})
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed_idempotency_key")


def test_a_client_that_leaves_in_the_middle_leaves_nothing(client: Client) -> None:
    head = b"POST /v1/documents HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 90000\r\n\r\n"
    with socket.create_connection((client.base_url.host, client.base_url.port)) as connection:
        connection.sendall(head + b"x" * 50_000)
        assert client.get("/health/live").status_code == 200
    until(lambda: client.get("/v1/documents").json() == {"items": [], "next": None})


@pytest.mark.parametrize("body", ["{", "nonsense"])
def test_a_body_that_is_not_json_is_400(client: Client, body: str) -> None:
    answer = client.post("/v1/reindex", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed_json")


def test_a_mistake_is_told_in_our_words(client: Client) -> None:
    assert client.post("/v1/reindex").json()["detail"] == "body: is missing."
    misspelt = client.post("/v1/documents?titel=x", content=b"x").json()["detail"]
    assert misspelt == "titel: is not known here; perhaps title is meant."
    unknown = client.post("/v1/reindex", json={"all": True, "titel": "x"}).json()["detail"]
    assert unknown == "titel: is not known here."
    unclear = client.post("/v1/reindex", json={}).json()["detail"]
    assert unclear == "body: say one of documents, collection, state, all and outdated."


@pytest.mark.parametrize(
    "wanted", [{}, {"all": True, "state": "failed"}, {"state": "nonsense"}, {"documents": ["x"]}, {"collection": "a b"}]
)
def test_a_wish_to_reindex_that_is_not_clear_is_422(client: Client, wanted: dict[str, object]) -> None:
    answer = client.post("/v1/reindex", content=json.dumps(wanted), headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid"), answer.text
