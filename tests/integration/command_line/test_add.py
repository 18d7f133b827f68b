"""`fencepost add`: files, folders, going on, and what fails."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pipeline.outcomes import Rejected
from tests.integration.command_line.conftest import Run
from tests.support.api import DEADLINE
from tests.support.waiting import until
from tests.support.world import World


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files in two levels, and hidden ones."""
    root = tmp_path / "papers"
    (root / "deep" / ".git").mkdir(parents=True)
    for name, content in {"a.txt": "one", "deep/b.md": "two", "deep/日本.txt": "three"}.items():
        (root / name).write_text(content)
    (root / ".hidden").write_text("x")
    (root / "deep" / ".git" / "config").write_text("x")
    return root


def keys(world: World) -> set[str]:
    return {row["key"] for row in world.rows("SELECT key FROM documents")}


def test_a_folder_becomes_documents_with_relative_paths_as_keys(fencepost: Run, folder: Path, world: World) -> None:
    ran = fencepost("add", folder, "--collection", "papers", "--meta", "year=2026")
    assert (ran.code, ran.out) == (0, "3 added, 0 unchanged, 0 failed\n")
    assert keys(world) == {"a.txt", "deep/b.md", "deep/日本.txt"}
    (row, *_) = world.rows("SELECT v.*, c.name FROM versions v JOIN documents USING (document_id) "
                           "JOIN collections c USING (collection_id) WHERE key = 'deep/b.md'")  # fmt: skip
    assert (row["name"], row["filename"], row["title"], row["metadata"]) == ("papers", "b.md", "b.md", {"year": "2026"})


def test_an_encoding_becomes_metadata_and_one_that_nobody_knows_is_refused(
    fencepost: Run, folder: Path, world: World
) -> None:
    assert fencepost("add", folder / "a.txt", "--encoding", "klingon").code == 2
    fencepost("add", folder / "a.txt", "--encoding", "cp1251", "--meta", "year=2026")
    assert world.row("SELECT metadata FROM versions")["metadata"] == {"year": "2026", "encoding": "cp1251"}


def test_going_on_adds_only_what_is_new_or_changed(fencepost: Run, folder: Path, world: World) -> None:
    fencepost("add", folder)
    (folder / "a.txt").write_text("changed")
    (folder / "new.txt").write_text("new")
    assert fencepost("add", folder).out == "2 added, 2 unchanged, 0 failed\n"
    assert world.row("SELECT input_version FROM documents WHERE key = 'a.txt'")["input_version"] == 2


def test_one_file_may_have_a_key_of_its_own(fencepost: Run, folder: Path, world: World) -> None:
    ran = fencepost("add", folder / "a.txt", "--key", "reports/2026", "--json")
    assert (ran.json["added"], ran.json["failed"]) == (1, [])
    assert ran.json["documents"][0]["input_version"] == 1
    assert keys(world) == {"reports/2026"}
    assert fencepost("add", folder, "--key", "x").code == 2


def test_a_file_that_cannot_be_read_stops_no_other(fencepost: Run, folder: Path, world: World) -> None:
    (folder / "gone.txt").symlink_to("/proc/self/mem")
    ran = fencepost("add", folder)
    assert ran.code == 1
    assert ran.out == "3 added, 0 unchanged, 1 failed\n"
    assert "gone.txt" in ran.err
    assert len(keys(world)) == 3


def test_names_that_are_no_utf8_are_added(fencepost: Run, tmp_path: Path, world: World) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt")).write_text("x")
    assert fencepost("add", tmp_path).code == 0
    assert keys(world) == {"\ufffd.txt"}


def test_waiting_tells_which_failed_and_why(fencepost: Run, folder: Path, world: World) -> None:
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(fencepost, "add", folder, "--wait", "--json")
        jobs = until(lambda: len(rows := world.rows("SELECT job_id FROM jobs")) == 3 and rows)
        leases = world.lease(*(job["job_id"] for job in jobs))
        for held in leases:
            world.finish(held, Rejected("password_required", "It is locked.") if held.key == "a.txt" else None)
        ran = running.result(DEADLINE)
    assert ran.code == 1
    assert [failure["code"] for failure in ran.json["failed"]] == ["password_required"]
    assert {document["key"]: document["state"] for document in ran.json["documents"]} == {
        "a.txt": "quarantined", "deep/b.md": "succeeded", "deep/日本.txt": "succeeded"}  # fmt: skip


def test_nothing_to_add_is_4_and_a_path_that_is_not_there_is_2(fencepost: Run, tmp_path: Path) -> None:
    assert fencepost("add", tmp_path).code == 4
    assert fencepost("add", tmp_path, "--json").json == {"added": 0, "unchanged": 0, "failed": [], "documents": []}
    assert fencepost("add", tmp_path / "nowhere").code == 2
    assert fencepost("add", tmp_path, "--meta", "nonsense").code == 2


def test_without_a_server_it_says_where_it_looked(run: Run, folder: Path) -> None:
    ran = run("add", folder, "--url", "http://127.0.0.1:9")
    assert ran.code == 3
    assert "http://127.0.0.1:9" in ran.err
    assert len(ran.err.strip().splitlines()) == 1
