"""GET: one document, lists, history, and the bytes back."""

from typing import Any

import pytest
from httpx import Client

from indexer.extract import Passage
from pipeline.outcomes import Published, Rejected, RetryLater
from tests.support.read import publish
from tests.support.world import World


def upload(client: Client, query: str = "", content: bytes = b"hello") -> dict[str, Any]:
    answer = client.post(f"/v1/documents?{query}", content=content, headers={"Content-Type": "text/plain"})
    body: dict[str, Any] = answer.json()
    return body


def test_a_document_says_what_it_is_and_why_it_waits(client: Client) -> None:
    accepted = upload(client, 'key=a.txt&title=T&filename=a.txt&metadata={"n":1}')
    answer = client.get(f"/v1/documents/{accepted['document_id']}")
    document = answer.json()
    assert answer.headers["ETag"] == '"1"'
    assert {name: document[name] for name in ("key", "collection", "title", "filename", "media_type", "size")} == {
        "key": "a.txt", "collection": "default", "title": "T", "filename": "a.txt", "media_type": "text/plain",
        "size": 5}  # fmt: skip
    assert (document["state"], document["input_version"], document["published_version"]) == ("queued", 1, 0)
    assert document["waiting"]
    assert document["failure"] is None
    assert document["job"]["id"] == accepted["job_id"]


def test_a_published_document_waits_for_nothing_and_keeps_its_version_when_the_next_fails(
    client: Client, world: World
) -> None:
    accepted = upload(client, "key=a")
    world.finish(world.lease(world.row("SELECT job_id FROM jobs")["job_id"])[0], Published())
    document = client.get(accepted["links"]["self"]).json()
    assert (document["state"], document["published_version"], document["waiting"]) == ("succeeded", 1, None)
    second = upload(client, "key=a", b"%PDF-")
    (job,) = world.rows("SELECT job_id FROM jobs WHERE input_version = 2")
    world.finish(world.lease(job["job_id"])[0], Rejected("corrupt", "The file ends too early."))
    document = client.get(second["links"]["self"]).json()
    assert (document["state"], document["input_version"], document["published_version"]) == ("quarantined", 2, 1)
    assert document["failure"]["code"] == "corrupt"
    assert document["failure"]["hint"].startswith("Open and save the file")


def test_a_list_is_paged_newest_first_and_each_document_comes_once(client: Client) -> None:
    ids = [upload(client, f"key={n}")["document_id"] for n in range(7)]
    seen, cursor, pages = [], None, 0
    while True:
        query = {"limit": 3} | ({"cursor": cursor} if cursor else {})
        page = client.get("/v1/documents", params=query).json()
        seen += [item["id"] for item in page["items"]]
        pages += 1
        cursor = page["next"]
        if cursor is None:
            break
    assert (seen, pages) == (ids[::-1], 3)


def test_a_list_is_filtered_by_state_collection_and_key(client: Client, world: World) -> None:
    upload(client, "key=a&collection=left")
    upload(client, "key=b&collection=left")
    upload(client, "key=a&collection=right")
    (job,) = world.rows("SELECT j.job_id FROM jobs j JOIN documents d USING (document_id) WHERE d.key = 'b'")
    world.finish(world.lease(job["job_id"])[0])

    def keys(**query: str) -> list[str]:
        return sorted(
            f"{item['collection']}/{item['key']}" for item in client.get("/v1/documents", params=query).json()["items"]
        )

    assert keys(collection="left") == ["left/a", "left/b"]
    assert keys(state="succeeded") == ["left/b"]
    assert keys(state="queued") == ["left/a", "right/a"]
    assert keys(key="a") == ["left/a", "right/a"]
    assert keys(key="a", collection="right") == ["right/a"]
    assert keys(key="a\0") == ["left/a", "right/a"]
    assert keys(collection="nowhere") == []


def test_a_list_is_filtered_by_what_became_of_the_text(client: Client, world: World) -> None:
    for n, quality in enumerate(["ok", "no_text", "partial", "no_text", "truncated", "text_unreliable"]):
        publish(world, world.upload(f"words {n}", key=f"{n}-{quality}"), quality)
    world.upload("words", key="waits")

    def keys(**query: str) -> list[str]:
        items = client.get("/v1/documents", params=query).json()["items"]
        assert {item["text_quality"] for item in items} <= {query["text_quality"]}
        return [item["key"] for item in items]

    assert keys(text_quality="no_text") == ["3-no_text", "1-no_text"]
    assert keys(text_quality="ok") == ["0-ok"]
    assert keys(text_quality="partial", state="succeeded", collection="default") == ["2-partial"]
    assert keys(text_quality="partial", state="queued") == []
    first = client.get("/v1/documents?text_quality=no_text&limit=1").json()
    rest = client.get("/v1/documents", params={"text_quality": "no_text", "cursor": first["next"]}).json()
    assert [item["key"] for item in rest["items"]] == ["1-no_text"]


def test_what_is_wrong_with_a_text_follows_what_is_published(client: Client, world: World) -> None:
    def flawed() -> list[str]:
        return [item["key"] for item in client.get("/v1/documents?text_quality=no_text").json()["items"]]

    accepted = world.upload("a scan", key="a")
    publish(world, accepted, "no_text")
    failed = world.upload("broken", key="a")
    world.finish(world.lease(failed.job_id)[0], Rejected("corrupt", "The file ends too early."))
    assert flawed() == ["a"], "it is still what is searchable"
    publish(world, world.upload("a better scan", key="a"), "ok")
    assert flawed() == []
    publish(world, world.upload("a bad scan", key="a"), "no_text")
    assert flawed() == ["a"]
    deleted = world.delete(accepted.document_id)
    world.finish(world.lease(deleted.job_id)[0])
    assert flawed() == []
    assert client.get(f"/v1/documents/{accepted.document_id}").json()["text"] is None


def test_a_document_tells_the_facts_of_its_text(client: Client, world: World) -> None:
    accepted = world.upload("words")
    assert client.get(f"/v1/documents/{accepted.document_id}").json()["text"] is None
    publish(
        world, accepted, "partial", characters=5, pages=12, pages_without_text=3, partial=["page 4: it is damaged"],
        language="en", language_confidence=0.99, title="Log", internal=1,
    )  # fmt: skip
    text = client.get(f"/v1/documents/{accepted.document_id}").json()["text"]
    assert text == {
        "quality": "partial",
        "sentences": [
            "Some parts could not be read: page 4: it is damaged.",
            "12 pages, 3 of them without text: probably scanned.",
            "Its language is English.",
        ],
        "hint": "Mend the parts that are named, or upload them by themselves.",
        "characters": 5, "title": "Log", "pages": 12, "pages_approximate": None, "pages_without_text": 3,
        "ocr_pages": None, "ocr_languages": None, "encoding": None, "encoding_confidence": None, "language": "en",
        "language_confidence": 0.99, "truncated": None, "out_of_time": None, "partial": ["page 4: it is damaged"],
        "partial_more": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    "query", ["text_quality=good", "cursor=nonsense", "cursor=WyJhIiwiYiJd", "limit=0", "limit=501", "state=lost"]
)
def test_a_list_refuses_what_it_cannot_mean(client: Client, query: str) -> None:
    answer = client.get(f"/v1/documents?{query}")
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")


def test_history_tells_every_version_and_attempt(client: Client, world: World) -> None:
    accepted = upload(client, "key=a")
    (job,) = world.rows("SELECT job_id FROM jobs")
    world.finish(world.lease(job["job_id"])[0], RetryLater("index_busy", "OpenSearch answered 429."))
    world.execute("UPDATE jobs SET due_at = now()")
    world.finish(world.lease(job["job_id"])[0])
    upload(client, "key=a", b"two")
    path = f"/v1/documents/{accepted['document_id']}/history"
    first = client.get(path, params={"limit": 1}).json()
    second = client.get(path, params={"limit": 1, "cursor": first["next"]}).json()
    assert [version["input_version"] for version in first["versions"] + second["versions"]] == [2, 1]
    assert second["next"] is None
    attempts = second["versions"][0]["attempts"]
    assert [(a["generation"], a["outcome"], a["message"]) for a in attempts] == [
        (1, "retry_later", "OpenSearch answered 429."),
        (2, "published", None),
    ]
    assert set(attempts[0]["stages"]) == {"load_ms", "extract_ms", "store_ms", "publish_ms"}


def test_content_comes_back_byte_by_byte_and_can_do_nothing_in_a_browser(client: Client) -> None:
    body = bytes(range(256)) * 12_000  # three pieces
    name = 'x"y\r\nSet-Cookie: a=b; 日本.html'
    accepted = client.post("/v1/documents", files={"file": (name, body, "text/html")}).json()
    answer = client.get(f"/v1/documents/{accepted['document_id']}/content")
    assert answer.content == body
    assert answer.headers["content-length"] == str(len(body))
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("sandbox")
    assert answer.headers["content-disposition"].startswith("attachment; filename=")
    assert "filename*=UTF-8''x%22y" in answer.headers["content-disposition"]
    assert "set-cookie" not in answer.headers


def test_content_of_an_older_version_is_kept_and_of_a_delete_there_is_none(client: Client) -> None:
    accepted = upload(client, "key=a", b"one")
    upload(client, "key=a", b"two")
    path = f"/v1/documents/{accepted['document_id']}"
    assert client.get(f"{path}/content").content == b"two"
    assert client.get(f"{path}/content?version=1").content == b"one"
    client.delete(path)
    for query, code in (("", "no_content"), ("?version=3", "no_content"), ("?version=9", "version_not_found")):
        answer = client.get(f"{path}/content{query}")
        assert (answer.status_code, answer.json()["code"]) == (404, code)


def test_an_empty_document_has_empty_content(client: Client) -> None:
    accepted = upload(client, content=b"")
    answer = client.get(f"/v1/documents/{accepted['document_id']}/content")
    assert (answer.status_code, answer.content) == (200, b"")


def test_text_that_was_not_read_yet_is_404(client: Client) -> None:
    accepted = upload(client)
    answer = client.get(f"/v1/documents/{accepted['document_id']}/text")
    assert (answer.status_code, answer.json()["code"]) == (404, "no_text_yet")


def test_text_comes_by_page_from_the_stored_result(client: Client, world: World) -> None:
    accepted = world.upload()
    passages = [
        Passage("one ", 1), Passage("two", 1), Passage("three|four|five", 2, None, None, ((6, 3), (11, 4))),
        Passage("inside", None, "letter.txt"),
    ]  # fmt: skip
    publish(world, accepted, "ok", passages)
    path = f"/v1/documents/{accepted.document_id}/text"
    pages = [(page["page"], page["text"]) for page in client.get(path).json()["pages"]]
    assert pages == [(1, "one two"), (2, "three|"), (3, "four|"), (4, "five"), (None, "inside")]
    first = client.get(path, params={"limit": 4}).json()
    rest = client.get(path, params={"limit": 4, "cursor": first["next"]}).json()
    assert (len(first["pages"]), rest["pages"][0]["member"], rest["next"]) == (4, "letter.txt", None)
    assert client.get(f"/v1/documents/{accepted.document_id}").json()["text_quality"] == "ok"


def test_text_tells_the_member_and_the_heading_of_each_piece(client: Client, world: World) -> None:
    accepted = world.upload()
    passages = [
        Passage("Preface. ", 1), Passage("Wicks. ", 1, None, "Lamps › Wicks"),
        Passage("More. ", 1, None, "Lamps › Wicks"), Passage("Dear Ada", None, "box.zip/letter.eml", "Subject"),
    ]  # fmt: skip
    publish(world, accepted, "ok", passages)
    assert client.get(f"/v1/documents/{accepted.document_id}/text").json()["pages"] == [
        {"page": 1, "member": None, "heading": None, "text": "Preface. "},
        {"page": 1, "member": None, "heading": "Lamps › Wicks", "text": "Wicks. More. "},
        {"page": None, "member": "box.zip/letter.eml", "heading": "Subject", "text": "Dear Ada"},
    ]
