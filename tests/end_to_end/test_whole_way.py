"""Upload → search → new version → search → reindex → delete → search, by real processes, through both doors."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.documents import docx, paragraph
from tests.support.servers import Database
from tests.support.stack import ROOT, Stack, clean_environment, running, served
from tests.support.world import World

COMPOUND = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(1000)
UNREADABLE = {
    "empty_file": b"",
    "password_required": COMPOUND + "EncryptedPackage".encode("utf-16-le"),
    "corrupt": docx(paragraph("words"))[:400],
    "unsupported_format": b"7z\xbc\xaf\x27\x1c" + bytes(30),
}


@pytest.fixture
def url(database: Database, broker_url: str, tmp_path: Path) -> Iterator[str]:
    with running(database.url, broker_url, tmp_path) as stack:
        start_all(stack)
        with served(stack) as (address, _):
            yield address
    World(database.engine).check()


def start_all(stack: Stack) -> None:
    for kind in ("relay", "worker", "sweeper"):
        stack.start(kind)


def found(url: str, query: str) -> list[str]:
    """The keys of the documents that a search finds."""
    answer = httpx.get(f"{url}/v1/search", params={"q": query})
    assert answer.status_code == 200, answer.text
    return [hit["key"] for hit in answer.json()["hits"]]


def test_through_http(url: str) -> None:
    def upload(content: bytes) -> dict[str, Any]:
        answer = httpx.post(f"{url}/v1/documents", params={"key": "a", "wait": 30}, content=content, timeout=60)
        assert answer.status_code in {200, 202}, answer.text
        return dict(answer.json())

    first = upload(b"The lighthouse keeper counts ships.")
    assert (first["input_version"], first["state"]) == (1, "succeeded")
    assert found(url, "lighthouse") == ["a"]
    second = upload(b"The harbour master counts crates.")
    assert (second["document_id"], second["input_version"]) == (first["document_id"], 2)
    assert found(url, "lighthouse") == []
    assert found(url, "crates") == ["a"]
    document = f"{url}/v1/documents/{first['document_id']}"
    again = httpx.post(f"{document}/reindex", params={"wait": 30}, timeout=60)
    assert (again.status_code, again.json()["input_version"]) == (202, 3)
    assert found(url, "crates") == ["a"]
    history = httpx.get(f"{document}/history").json()["versions"]
    assert {version["state"] for version in history} == {"succeeded"}
    gone = httpx.delete(document, params={"wait": 30}, timeout=60)
    assert (gone.status_code, gone.json()["input_version"]) == (202, 4)
    assert found(url, "crates") == []
    assert httpx.get(document).json()["deleted"] is True


def test_a_document_that_cannot_be_read_is_never_retried_and_the_old_version_stays(url: str) -> None:
    def upload(key: str, content: bytes) -> dict[str, Any]:
        answer = httpx.post(f"{url}/v1/documents", params={"key": key, "wait": 30}, content=content, timeout=60)
        assert answer.status_code == 202, answer.text
        return dict(answer.json())

    for code, content in UNREADABLE.items():
        upload(code, f"The lighthouse of {code}.".encode())
        answer = upload(code, content)
        assert (answer["input_version"], answer["state"], answer["failure"]["code"]) == (2, "quarantined", code)
        assert answer["failure"]["message"]
        assert answer["failure"]["hint"]
        document = httpx.get(f"{url}{answer['links']['self']}").json()
        assert (document["published_version"], document["state"]) == (1, "quarantined")
        (attempt,) = httpx.get(f"{url}{answer['links']['history']}").json()["versions"][0]["attempts"]
        assert (attempt["outcome"], attempt["code"]) == ("rejected", code)
        assert httpx.get(f"{url}{answer['links']['text']}").json()["pages"][0]["text"] == f"The lighthouse of {code}."
    hits = httpx.get(f"{url}/v1/search", params={"q": "lighthouse"}).json()["hits"]
    assert {(hit["key"], hit["input_version"], hit["published_version"]) for hit in hits} == {
        (code, 2, 1) for code in UNREADABLE
    }
    waiting = httpx.get(f"{url}/v1/outbox").json()["items"]
    assert waiting == [], "nothing will be tried again"


def test_through_the_command_line(url: str, tmp_path: Path) -> None:
    def fencepost(*arguments: str, code: int = 0) -> Any:
        run = subprocess.run(
            [sys.executable, "-P", "-m", "fencepost", *arguments, "--json"],
            env=clean_environment() | {"FENCEPOST_URL": url},
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=False,
        )
        assert run.returncode == code, f"{arguments}: {run.returncode}\n{run.stdout}\n{run.stderr}"
        return json.loads(run.stdout) if run.stdout.strip() else None

    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "a.txt").write_text("The lighthouse keeper counts ships.")
    (folder / "b.md").write_text("# Harbour\n\nThe harbour master counts crates.")
    fencepost("add", str(folder), "--wait")
    assert [hit["key"] for hit in fencepost("search", "lighthouse")["hits"]] == ["a.txt"]
    (folder / "a.txt").write_text("The windmill turns.")
    fencepost("add", str(folder), "--wait")
    fencepost("search", "lighthouse", code=4)
    assert [hit["key"] for hit in fencepost("search", "windmill")["hits"]] == ["a.txt"]
    fencepost("reindex", "a.txt", "--wait")
    assert fencepost("show", "a.txt")["input_version"] == 3
    fencepost("delete", "a.txt", "--wait")
    fencepost("search", "windmill", code=4)
    assert [hit["key"] for hit in fencepost("search", "crates")["hits"]] == ["b.md"]
    assert fencepost("status")["difference"] == 0


def test_the_samples_of_the_repository_are_found(url: str) -> None:
    for path in sorted((ROOT / "fencepost" / "samples").glob("*.*")):
        if path.suffix in {".txt", ".md", ".html", ".pdf", ".docx"}:
            answer = httpx.post(
                f"{url}/v1/documents",
                params={"key": path.name, "filename": path.name, "wait": 30},
                content=path.read_bytes(),
                timeout=60,
            )
            assert answer.json()["state"] == "succeeded", answer.text
