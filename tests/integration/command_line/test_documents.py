"""list, show, text, reindex and delete."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from httpx import Client

from indexer.extract import Passage
from pipeline.outcomes import Rejected
from tests.integration.command_line.conftest import Run
from tests.support.read import publish
from tests.support.waiting import until
from tests.support.world import World


@pytest.fixture(autouse=True)
def ids(client: Client, world: World) -> dict[str, str]:
    """`good.txt` succeeded, `bad.pdf` is quarantined, `new.txt` waits; `twice` is in two collections."""
    ids = {}
    for key in ("good.txt", "bad.pdf", "new.txt", "twice"):
        names = {"key": key, "title": key, "metadata": '{"year": 2026}'}
        body = client.post("/v1/documents", params=names, content=key.encode()).json()
        ids[key] = body["document_id"]
        if key in {"good.txt", "bad.pdf"}:
            (held,) = world.lease(body["job_id"])
            world.finish(held, Rejected("corrupt", "It ends too early.") if key == "bad.pdf" else None)
    client.post("/v1/documents?key=twice&collection=other", content=b"x")
    return ids


def test_list_shows_states_and_reasons(fencepost: Run) -> None:
    ran = fencepost("list")
    assert ran.code == 0
    lines = {line.split()[0]: line for line in ran.out.splitlines()}
    assert "succeeded" in lines["good.txt"]
    assert "It ends too early." in lines["bad.pdf"]
    assert "queued" in lines["new.txt"]
    assert [item["key"] for item in fencepost("list", "--state", "quarantined", "--json").json] == ["bad.pdf"]
    assert len(fencepost("list", "--limit", "2", "--json").json) == 2
    assert fencepost("list", "-c", "nowhere").code == 4
    assert fencepost("list", "--state", "lost").code == 2


def test_a_guess_is_listed_and_shown_with_what_helps(fencepost: Run, world: World) -> None:
    guess = {"encoding": "cp1251", "encoding_confidence": 0.8, "language": "ru", "language_confidence": 1.0}
    publish(world, world.upload("letter", key="letter.txt"), **guess)
    publish(world, world.upload("sure", key="sure.txt"), encoding="utf-8", encoding_confidence=1.0)
    listed = {line.split()[0]: line for line in fencepost("list").out.splitlines()}
    assert "Read as cp1251 (80 % sure)." in listed["letter.txt"]
    assert "--encoding NAME" in listed["letter.txt"]
    assert "Read as" not in listed["sure.txt"]
    shown = fencepost("show", "letter.txt").out
    assert "Read as cp1251 (80 % sure)." in shown
    assert "Its language is Russian." in shown
    assert "--encoding NAME" in shown


def test_what_became_of_a_text_is_listed_and_shown(fencepost: Run, world: World) -> None:
    failed = [f"page {n}: it is damaged" for n in range(5)]
    publish(world, world.upload("scan", key="scan.pdf"), "no_text", pages=12, pages_without_text=12)
    publish(world, world.upload("part", key="part.pdf"), "partial", partial=failed)
    ran = fencepost("list", "--text", "no_text")
    (line,) = ran.out.splitlines()[1:]
    assert "no_text" in line
    assert "Nothing to read was found" in line
    assert "OCR was off" in line
    assert fencepost("list", "--text", "truncated").code == 4
    assert fencepost("list", "--text", "bad").code == 2
    shown = fencepost("show", "scan.pdf").out
    assert "12 pages, all of them without text: probably scanned." in shown
    assert "FENCEPOST_EXTRACT__OCR_LANGUAGES" in shown
    shown = fencepost("show", "part.pdf").out
    assert all(name in shown for name in failed)
    assert fencepost("show", "part.pdf", "--json").json["text"]["partial"] == failed


def test_a_text_is_printed_in_its_places(fencepost: Run, world: World) -> None:
    passages = [Passage("one\n", 1), Passage("two\n", 1, "a.zip/b.pdf", "Chapter")]
    publish(world, world.upload("x", key="box"), "ok", passages)
    out = fencepost("text", "box").out
    assert out.index("page 1") < out.index("one") < out.index("a.zip/b.pdf · page 1 · Chapter") < out.index("two")


def test_a_text_without_words_is_said_to_be_one(fencepost: Run, world: World) -> None:
    publish(world, world.upload("x", key="scan"), "no_text", [])
    ran = fencepost("text", "scan")
    assert (ran.code, ran.out, ran.err) == (0, "", "fencepost: There is no text in it.\n")


def test_a_table_in_a_pipe_has_one_line_for_each_row(
    fencepost: Run, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    nameless = client.post("/v1/documents", content=b"x").json()["document_id"]
    monkeypatch.setenv("COLUMNS", "40")
    first = fencepost("list").out.splitlines()[1:]
    assert len(first) == 6
    assert all(line == line.rstrip() for line in first)
    assert first[0].startswith(f"{nameless}  default ")


def test_show_takes_an_id_or_a_key(fencepost: Run, ids: dict[str, str]) -> None:
    by_key, by_id = fencepost("show", "bad.pdf", "--json"), fencepost("show", ids["bad.pdf"], "--json")
    assert by_key.json == by_id.json
    ran = fencepost("show", "bad.pdf", "--history")
    assert "It ends too early. Open and save the file" in ran.out
    assert '{"year": 2026}' in ran.out
    assert "attempt of generation 1" in ran.out
    assert fencepost("show", "nowhere").code == 4
    ambiguous = fencepost("show", "twice")
    assert (ambiguous.code, "say which one" in ambiguous.err) == (1, True)
    assert fencepost("show", "twice", "-c", "other", "--json").json["collection"] == "other"


def test_text_that_is_not_there_is_4(fencepost: Run) -> None:
    assert fencepost("text", "new.txt").code == 4


def test_a_quality_that_is_none_is_told_with_those_there_are(fencepost: Run) -> None:
    ran = fencepost("list", "--text", "nope")
    assert (ran.code, "Value error" in ran.err, "'no_text'" in ran.err) == (2, False, True)


def test_reindex_of_some_of_the_failed_and_of_all(fencepost: Run) -> None:
    assert fencepost("reindex", "good.txt", "--json").json == {"accepted": 1, "skipped": 0}
    assert fencepost("reindex", "--failed", "--json").json == {"accepted": 1, "skipped": 0}
    assert fencepost("reindex", "--failed").code == 4
    assert fencepost("reindex", "--all", "--json").json == {"accepted": 0, "skipped": 5}
    assert fencepost("reindex", "--collection", "other").out == "0 accepted, 1 had nothing to do\n"
    assert fencepost("reindex").code == 2
    assert fencepost("reindex", "good.txt", "--all").code == 2
    assert fencepost("reindex", "nowhere").code == 4


def test_reindex_in_another_encoding(fencepost: Run, ids: dict[str, str], world: World) -> None:
    assert fencepost("reindex", "good.txt", "--encoding", "cp1251", "--json").json == {"accepted": 1, "skipped": 0}
    newest = world.row(
        "SELECT metadata FROM versions WHERE document_id = :id ORDER BY input_version DESC LIMIT 1", id=ids["good.txt"]
    )
    assert newest["metadata"] == {"year": 2026, "encoding": "cp1251"}
    ran = fencepost("reindex", "good.txt", "--encoding", "klingon")
    assert (ran.code, "klingon" in ran.err) == (2, True)


def test_reindex_of_what_is_outdated_says_what_and_why(fencepost: Run, world: World) -> None:
    publish(world, world.upload("old", key="old.txt"))  # under a key that is not that of any settings
    rejected = world.upload("rtf", key="old.rtf")
    world.finish(world.lease(rejected.job_id)[0], Rejected("unsupported_format", "This is an RTF document."))
    ran = fencepost("reindex", "--outdated", "--dry-run")
    assert ran.code == 0
    assert "text/plain" in ran.out
    assert "1 would be read anew, 0 wait anyway" in ran.out
    assert "fencepost quarantine replay --all --code unsupported_format" in ran.out
    assert fencepost("reindex", "--outdated", "--json").json["accepted"] == 1
    assert fencepost("reindex", "--outdated").out.splitlines()[0] == "0 accepted, 1 wait anyway"
    assert fencepost("reindex", "--outdated", "-c", "nowhere").code == 4
    assert fencepost("reindex", "--dry-run", "--all").code == 2
    assert fencepost("reindex", "old.txt", "--outdated").code == 2


def test_delete_goes_on_after_what_is_not_there(fencepost: Run, client: Client, ids: dict[str, str]) -> None:
    ran = fencepost("delete", "good.txt", "nowhere", ids["new.txt"])
    assert (ran.code, ran.out) == (1, "2 deleted\n")
    assert "nowhere" in ran.err
    assert client.get(f"/v1/documents/{ids['good.txt']}").json()["deleted"]
    assert fencepost("delete", "nowhere").code == 4
    assert fencepost("show", "good.txt", "--json").json["deleted"]


def test_waiting_answers_and_tells_what_failed(fencepost: Run, ids: dict[str, str], world: World) -> None:
    newest = "SELECT job_id FROM jobs WHERE document_id = :id AND input_version = 2"
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(fencepost, "reindex", "good.txt", "--wait", "--json")
        (job,) = until(lambda: world.rows(newest, id=ids["good.txt"]))
        (held,) = world.lease(job["job_id"])
        world.finish(held, Rejected("corrupt", "It ends too early."))
        ran = running.result(30)
    assert ran.code == 1
    assert ran.json == {"accepted": 1, "skipped": 0}
    assert "It ends too early." in ran.err
