"""POST /v1/documents and PUT content: what is accepted, and what is told."""

from concurrent.futures import ThreadPoolExecutor

from httpx import Client

from pipeline.outcomes import Rejected
from tests.support.api import DEADLINE
from tests.support.forms import FORM_HEADERS, form
from tests.support.waiting import until
from tests.support.world import World


def test_a_raw_body_is_accepted_with_location_and_etag(client: Client, world: World) -> None:
    answer = client.post(
        "/v1/documents?key=a.txt&title=First", content=b"hello", headers={"Content-Type": "text/plain"}
    )
    body = answer.json()
    assert answer.status_code == 202
    assert answer.headers["Location"] == f"/v1/documents/{body['document_id']}" == body["links"]["self"]
    assert answer.headers["ETag"] == '"1"'
    assert (body["input_version"], body["state"], body["unchanged"]) == (1, "queued", False)
    version = world.row("SELECT * FROM versions")
    assert (version["title"], version["media_type"]) == ("First", "text/plain")
    assert world.row("SELECT bytes FROM content_pieces")["bytes"] == b"hello"
    assert str(world.row("SELECT job_id FROM outbox")["job_id"]) == body["job_id"]
    world.check()


def test_a_form_brings_file_names_and_metadata(client: Client, world: World) -> None:
    answer = client.post(
        "/v1/documents",
        files={"file": ("report.md", b"# Report", "text/markdown")},
        data={"collection": "reports", "key": "2026/report.md", "metadata": '{"year": 2026}'},
    )
    assert answer.status_code == 202
    row = world.row("SELECT d.key, c.name, v.* FROM versions v JOIN documents d USING (document_id) "
                    "JOIN collections c USING (collection_id)")  # fmt: skip
    assert (row["name"], row["key"], row["title"], row["filename"]) == (
        "reports", "2026/report.md", "report.md", "report.md")  # fmt: skip
    assert (row["media_type"], row["metadata"]) == ("text/markdown", {"year": 2026})


def test_the_same_again_is_unchanged_and_new_bytes_are_a_new_version(client: Client, world: World) -> None:
    first = client.post("/v1/documents?key=a.txt", content=b"one")
    again = client.post("/v1/documents?key=a.txt", content=b"one")
    assert (again.status_code, again.json()["unchanged"], again.json()["input_version"]) == (200, True, 1)
    assert again.json()["job_id"] == first.json()["job_id"]
    second = client.post("/v1/documents?key=a.txt", content=b"two")
    assert (second.status_code, second.json()["document_id"]) == (202, first.json()["document_id"])
    assert second.json()["input_version"] == 2
    assert [row["state"] for row in world.rows("SELECT state FROM jobs ORDER BY input_version")] == [
        "superseded",
        "queued",
    ]
    world.check()


def test_an_upload_without_a_key_is_a_new_document_each_time_but_its_bytes_are_kept_once(
    client: Client, world: World
) -> None:
    ids = {client.post("/v1/documents", content=b"same").json()["document_id"] for _ in range(3)}
    assert len(ids) == 3
    assert world.row("SELECT count(*) FROM contents")["count"] == 1


def test_other_metadata_is_a_new_version_and_what_is_not_said_stays(client: Client, world: World) -> None:
    client.post('/v1/documents?key=a&title=T&metadata={"n": 1}', content=b"one")
    answer = client.post('/v1/documents?key=a&metadata={"n": 2}', content=b"one")
    assert answer.json()["input_version"] == 2
    newest = world.row("SELECT title, metadata FROM versions WHERE input_version = 2")
    assert (newest["title"], newest["metadata"]) == ("T", {"n": 2})


def test_numbers_in_metadata_may_be_larger_than_any_integer_of_a_machine(client: Client) -> None:
    query = 'key=a&metadata={"huge": 1e300, "long": 123456789012345678901234567890}'
    document = client.post(f"/v1/documents?{query}", content=b"one").json()["links"]["self"]

    assert client.post(f"/v1/documents?{query}", content=b"one").json()["unchanged"]
    assert client.post(f"{document}/reindex").json()["input_version"] == 2
    assert client.get(document).json()["metadata"] == {"huge": 1e300, "long": 123456789012345678901234567890.0}
    assert client.delete(document).status_code == 202


def test_put_content_keeps_names_and_makes_a_version(client: Client, world: World) -> None:
    document = client.post("/v1/documents?key=a&title=T&filename=a.txt", content=b"one").json()["document_id"]
    answer = client.put(f"/v1/documents/{document}/content", content=b"two")
    assert (answer.status_code, answer.json()["input_version"]) == (202, 2)
    newest = world.row("SELECT title, filename FROM versions WHERE input_version = 2")
    assert (newest["title"], newest["filename"]) == ("T", "a.txt")
    assert client.put(f"/v1/documents/{document}/content", content=b"two").status_code == 200


def test_delete_and_upload_again_under_the_same_key(client: Client, world: World) -> None:
    document = client.post("/v1/documents?key=a", content=b"one").json()["document_id"]
    deleted = client.delete(f"/v1/documents/{document}")
    assert (deleted.status_code, deleted.json()["input_version"]) == (202, 2)
    assert client.delete(f"/v1/documents/{document}").status_code == 200
    shown = client.get(f"/v1/documents/{document}").json()
    assert (shown["deleted"], shown["state"], shown["sha256"]) == (True, "queued", None)
    reindexed = client.post(f"/v1/documents/{document}/reindex")
    assert (reindexed.status_code, reindexed.json()["code"]) == (409, "deleted")
    again = client.post("/v1/documents?key=a", content=b"one").json()
    assert (again["document_id"], again["input_version"]) == (document, 3)
    world.check()


def test_reindex_makes_a_version_of_the_same_content(client: Client, world: World) -> None:
    document = client.post("/v1/documents?key=a&title=T", content=b"one").json()["document_id"]
    answer = client.post(f"/v1/documents/{document}/reindex")
    assert (answer.status_code, answer.json()["input_version"]) == (202, 2)
    assert world.row("SELECT count(DISTINCT sha256) AS n FROM versions")["n"] == 1


def test_waiting_answers_when_the_version_is_final_and_tells_why_it_failed(client: Client, world: World) -> None:
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(client.post, "/v1/documents?wait=30", content=b"one")
        (job,) = until(lambda: world.rows("SELECT job_id FROM jobs"))
        (held,) = world.lease(job["job_id"])
        world.finish(held, Rejected("corrupt", "The file ends too early."))
        body = answer.result(DEADLINE).json()
    assert body["state"] == "quarantined"
    assert (body["failure"]["code"], body["failure"]["message"]) == ("corrupt", "The file ends too early.")
    assert body["failure"]["hint"]
    assert client.post("/v1/documents?wait=0.05", content=b"two").json()["state"] == "queued"


def test_names_are_sanitised_and_a_path_is_no_file_name(client: Client, world: World) -> None:
    odd = "../../etc/パス\u0000\u202eファイル\n.txt"
    answer = client.post("/v1/documents", params={"filename": odd, "key": "a\u0000b", "title": "t\u0000\u0007"})
    assert answer.status_code == 202
    row = world.row("SELECT d.key, v.filename, v.title FROM versions v JOIN documents d USING (document_id)")
    assert dict(row) == {"key": "ab", "filename": "パス\u202eファイル\n.txt", "title": "t"}


def test_a_form_carries_any_file_name(client: Client, world: World) -> None:
    for name in ('日本語 "quoted".txt', "C:\\temp\\a.txt", "naïve%20.txt", "emoji 🦔.md"):
        answer = client.post("/v1/documents", files={"file": (name, name.encode())}, data={"key": name})
        assert answer.status_code == 202, answer.text
    names = {row["filename"] for row in world.rows("SELECT filename FROM versions")}
    assert names == {'日本語 "quoted".txt', "a.txt", "naïve%20.txt", "emoji 🦔.md"}


def test_two_uploads_of_one_key_at_once_become_two_versions(client: Client, world: World) -> None:
    for n in range(10):
        with ThreadPoolExecutor(2) as pool:
            bodies = [b"left %d" % n, b"right %d" % n]
            answers = list(pool.map(lambda body: client.post("/v1/documents?key=contended", content=body), bodies))
        assert [answer.status_code for answer in answers] == [202, 202]
        assert {answer.json()["input_version"] for answer in answers} == {2 * n + 1, 2 * n + 2}
    world.check()


def test_metadata_may_come_after_the_file_and_empty_fields_count_as_not_given(client: Client, world: World) -> None:
    body = form(("file", "x.txt", b"hello"), ("key", None, b""), ("metadata", None, b'{"a": [1, {"b": null}]}'))
    answer = client.post("/v1/documents", content=body, headers=FORM_HEADERS)
    assert answer.status_code == 202, answer.text
    assert world.row("SELECT metadata FROM versions")["metadata"] == {"a": [1, {"b": None}]}
    assert world.row("SELECT key FROM documents")["key"] is None
