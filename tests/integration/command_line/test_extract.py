"""`fencepost extract`: one file, several, standard input; for people, pipes and programs."""

import io
import json
import sys
import zipfile
from pathlib import Path

import pytest

from indexer.extract.isolation import nursery
from tests.integration.command_line.conftest import Run
from tests.support import documents
from tests.support.odd_forkserver import document

CYRILLIC = "Привет, мир".encode("cp1251")


@pytest.fixture
def scan(tmp_path: Path) -> Path:
    path = tmp_path / "scan.pdf"
    path.write_bytes(documents.pdf([["Keeper's log"], []]))
    return path


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "broken.docx"
    path.write_bytes(b"PK\3\4")
    return path


def test_the_summary_comes_first_and_then_the_passages(run: Run, scan: Path) -> None:
    ran = run("extract", scan)
    lines = ran.out.splitlines()
    assert lines[:2] == [
        "scan.pdf: application/pdf, ok, 14 characters",
        "  2 pages, 1 of them without text: probably scanned.",
    ]
    assert lines[2].startswith("passage 1 · page 1 ")
    assert lines[3] == "Keeper's log"
    assert (ran.code, len(lines)) == (0, 4)


def test_one_as_json_keeps_its_shape(run: Run, scan: Path) -> None:
    told = run("extract", scan, "--json").json
    assert (told["text_quality"], told["media_type"], told["pages"]) == ("ok", "application/pdf", 2)
    assert told["passages"] == [{"n": 1, "page": 1, "text": "Keeper's log\n\n"}]
    assert told["facts"]["pages_without_text"] == 1


def test_several_as_json_are_one_line_each_and_one_that_fails_stops_none(
    run: Run, scan: Path, broken: Path, tmp_path: Path
) -> None:
    (tmp_path / "note.txt").write_text("a note")
    ran = run("extract", scan, broken, tmp_path / "note.txt", "--json")
    first, second, third = (json.loads(line) for line in ran.out.splitlines())
    assert (first["file"], second["code"], third["encoding"]) == ("scan.pdf", "corrupt", "utf-8")
    assert second["hint"]
    assert ran.code == 1


def test_plain_text_for_pipes(run: Run, scan: Path, broken: Path) -> None:
    ran = run("extract", scan, broken, "--text")
    assert (ran.code, ran.out) == (1, "Keeper's log\n\n")
    assert "(corrupt)" in ran.err


def test_standard_input_has_the_name_and_the_encoding_that_are_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def piped(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    piped(CYRILLIC)
    assert run("extract", "-", "--encoding", "windows-1251", "--text").out == "Привет, мир\n"
    piped(b"# Title\n\nwords")
    assert run("extract", "-", "--name", "notes.md", "--json").json["media_type"] == "text/markdown"
    piped(b"words")
    assert run("extract", "-").out.startswith("stdin: text/plain, ok, 5 characters")
    piped(b"")
    assert run("extract", "-").err.startswith("fencepost: stdin: The file has no bytes.")


def test_what_could_not_be_read_is_listed(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("words " * 1000)
    ran = run("extract", path, FENCEPOST_EXTRACT__CHARACTERS="1000")
    assert "long.txt: text/plain, truncated, 1,000 characters" in ran.out
    assert "The text was cut at 1,000 characters: what comes after is not found." in ran.out
    assert "raise FENCEPOST_EXTRACT__CHARACTERS" in ran.out


def test_each_part_that_could_not_be_read_is_named_once(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "box.zip"
    with zipfile.ZipFile(path, "w") as box:
        box.writestr("note.txt", "words")
        for n in range(5):
            box.writestr(f"part{n}.pdf", b"%PDF-1.7 cut off")
    out = run("extract", path).out
    assert [out.count(f"part{n}.pdf: ") for n in range(5)] == [1] * 5


@pytest.mark.parametrize(
    "arguments",
    [["nowhere.txt"], ["."], ["scan.pdf", "--encoding", "klingon"], ["scan.pdf", "scan.pdf", "--name", "x"],
     ["scan.pdf", "--text", "--json"], []],
)  # fmt: skip
def test_what_makes_no_sense_is_2(run: Run, scan: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(scan.parent)
    assert run("extract", *arguments).code == 2


def test_a_member_that_crashes_its_reader_is_left_out_as_by_a_worker_in_the_end(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nursery, "_PROGRAM", "tests.support.odd_forkserver")
    members = {name: bytes(document(*deed).content) for name, *deed in (("a", "exit", "3"), ("b", "answer", "words"))}
    (tmp_path / "a.zip").write_bytes(documents.archive(members))
    ran = run("extract", tmp_path / "a.zip")
    assert (ran.code, ran.out.splitlines()[1]) == (0, "  Some parts could not be read: a: its reader crashed.")
    (tmp_path / "odd.html").write_bytes(members["a"])
    told = run("extract", tmp_path / "odd.html", "--json")
    assert (told.code, told.json["code"]) == (1, "extractor_crashed")
