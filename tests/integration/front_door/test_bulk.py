"""POST /v1/documents/bulk: every line gets its answer, whatever the others are."""

import base64
import hashlib
import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPResponse
from typing import Any

import pytest
from httpx import Client

from ingest.bulk_stream import LineSplitter
from tests.support.world import World


def ndjson(*lines: dict[str, Any] | bytes) -> bytes:
    return b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines) + b"\n"


def bulk(client: Client, body: bytes | Iterator[bytes]) -> list[dict[str, Any]]:
    answer = client.post("/v1/documents/bulk", content=body)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in answer.text.splitlines()]


def test_lines_become_documents_in_one_transaction(client: Client, world: World) -> None:
    answers = bulk(
        client,
        ndjson(
            {"key": "a", "text": "one", "metadata": {"n": 1}},
            {"key": "b", "base64": base64.b64encode(b"two").decode(), "media_type": "text/plain", "filename": "b.txt"},
        ),
    )
    assert [(a["line"], a["input_version"], a["state"], a["unchanged"]) for a in answers] == [
        (1, 1, "queued", False),
        (2, 1, "queued", False),
    ]
    rows = world.rows(
        "SELECT d.key, v.* , v.xmin::text AS tx FROM versions v JOIN documents d USING (document_id) ORDER BY 1"
    )
    assert len({row["tx"] for row in rows}) == 1
    assert (rows[0]["metadata"], rows[1]["title"], rows[1]["media_type"]) == ({"n": 1}, "b.txt", "text/plain")
    assert rows[1]["sha256"] == hashlib.sha256(b"two").digest()
    world.check()


def test_a_bad_line_gets_a_problem_and_stops_no_other(client: Client, world: World) -> None:
    body = ndjson(
        {"key": "good 1", "text": "x"},
        b"{nonsense",
        b"",
        b"[]",
        {"key": "no content"},
        {"text": "x", "base64": "eA=="},
        {"base64": "not base64!"},
        {"text": 7},
        {"text": "x", "titel": "typo"},
        {"text": "x", "collection": "no spaces"},
        {"text": "x", "metadata": [1]},
        {"text": "x", "key": ""},
        {"text": "x" * 1_048_577},
        b'{"text": "' + b"x" * 4_300_000 + b'"}',
        b'{"text": "\\ud800"}',
        b"\xff\xfe",
        {"key": "good 2", "text": "x"},
    )
    answers = {answer["line"]: answer for answer in bulk(client, body)}
    assert sorted(answers) == [n for n in range(1, 18) if n != 3]  # a blank line has no answer
    codes = {n: answer["error"]["code"] for n, answer in answers.items() if "error" in answer}
    assert codes == {
        2: "malformed_json", 4: "malformed_line", 5: "invalid", 6: "invalid", 7: "invalid", 8: "invalid", 9: "invalid",
        10: "invalid", 11: "invalid", 12: "invalid", 13: "too_large", 14: "line_too_long", 15: "malformed_json",
        16: "malformed_json"}  # fmt: skip
    assert {row["key"] for row in world.rows("SELECT key FROM documents")} == {"good 1", "good 2"}
    world.check()


def test_one_key_several_times_becomes_several_versions(client: Client, world: World) -> None:
    answers = bulk(client, ndjson({"key": "a", "text": "1"}, {"key": "a", "text": "2"}, {"key": "a", "text": "2"}))
    assert [(a["input_version"], a["unchanged"]) for a in answers] == [(1, False), (2, False), (2, True)]
    assert [row["state"] for row in world.rows("SELECT state FROM jobs ORDER BY input_version")] == [
        "superseded",
        "queued",
    ]


def test_the_same_lines_again_change_nothing(client: Client, world: World) -> None:
    body = ndjson(*({"key": str(n), "text": f"text {n}"} for n in range(450)))
    assert [a["unchanged"] for a in bulk(client, body)] == [False] * 450
    again = bulk(client, body)
    assert [a["unchanged"] for a in again] == [True] * 450
    assert [a["line"] for a in again] == list(range(1, 451))
    assert world.row("SELECT sum(input_version) AS n FROM documents")["n"] == 450


def test_the_same_documents_in_opposite_order_at_once_do_not_deadlock(client: Client, world: World) -> None:
    for turn in range(5):
        lines = [{"key": str(n), "text": f"{turn} {n}"} for n in range(100)]
        with ThreadPoolExecutor(2) as pool:
            both = list(pool.map(lambda order: bulk(client, ndjson(*order)), [lines, lines[::-1]]))
        assert not [answer for answers in both for answer in answers if "error" in answer]
    world.check()


def test_each_line_is_answered_while_the_request_goes_on(client: Client) -> None:
    with socket.create_connection((client.base_url.host, client.base_url.port), timeout=20) as connection:
        connection.sendall(b"POST /v1/documents/bulk HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        told = connection.makefile("rb")
        for n in range(3):
            line = ndjson({"key": str(n), "text": "x"})
            connection.sendall(b"%x\r\n%s\r\n" % (len(line), line))
            while not (heard := told.readline()).startswith(b'{"line":'):
                assert heard, "the server hung up"
            assert json.loads(heard)["line"] == n + 1
        connection.sendall(b"0\r\n\r\n")


def test_a_client_that_leaves_keeps_what_was_answered(client: Client, world: World) -> None:
    with socket.create_connection((client.base_url.host, client.base_url.port), timeout=20) as connection:
        line = ndjson({"key": "kept", "text": "x"})
        connection.sendall(
            b"POST /v1/documents/bulk HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n" + line
        )
        told = connection.makefile("rb")
        while not told.readline().startswith(b'{"line":'):
            pass
        connection.sendall(b'{"key": "lost", "text": "half a li')
    assert client.get("/health/live").status_code == 200
    assert {row["key"] for row in world.rows("SELECT key FROM documents")} == {"kept"}


def test_a_client_that_reads_only_at_the_end_blocks_nobody(client: Client) -> None:
    body = ndjson({"titel": "k" * 900}) * 20_000  # far more than the buffers of the system hold, as are the answers
    head = b"POST /v1/documents/bulk HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(30)
        connection.connect((client.base_url.host, client.base_url.port))
        connection.sendall(head % len(body) + body)
        with HTTPResponse(connection) as told:
            told.begin()
            assert told.read().count(b'{"line":') == 20_000


def test_an_idempotency_key_is_refused_rather_than_ignored(client: Client) -> None:
    answer = client.post("/v1/documents/bulk", content=b"", headers={"Idempotency-Key": "once"})
    assert (answer.status_code, answer.json()["code"]) == (400, "idempotency_not_supported")


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_lines_are_cut_the_same_however_they_arrive(size: int) -> None:
    data = b'{"a":1}\n\n  \r\n{"b":2}\r\n' + b"x" * 40 + b"\nlast"
    splitter = LineSplitter(most=30)
    lines = [line for n in range(0, len(data), size) for line in splitter.feed(data[n : n + size])]
    assert [*lines, *splitter.end()] == [(1, b'{"a":1}'), (4, b'{"b":2}\r'), (5, None), (6, b"last")]
