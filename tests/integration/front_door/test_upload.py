"""POST /v1/documents and PUT content: what is accepted, and what is told."""

from httpx import Client

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
