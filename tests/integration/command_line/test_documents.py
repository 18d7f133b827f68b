"""list, show, text, reindex and delete."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from httpx import Client

from pipeline.outcomes import Rejected
from tests.integration.command_line.conftest import Run
from tests.support.waiting import until
from tests.support.world import World


@pytest.fixture(autouse=True)
def ids(client: Client, world: World) -> dict[str, str]:
    """`good.txt` succeeded, `bad.pdf` is quarantined, `new.txt` waits; `twice` is in two collections."""
    ids = {}
    for key in ("good.txt", "bad.pdf", "new.txt", "twice"):
        body = client.post(f"/v1/documents?key={key}&title={key}", content=key.encode()).json()
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
    assert fencepost("list", "--state", "lost").code == 1


def test_show_takes_an_id_or_a_key(fencepost: Run, ids: dict[str, str]) -> None:
    by_key, by_id = fencepost("show", "bad.pdf", "--json"), fencepost("show", ids["bad.pdf"], "--json")
    assert by_key.json == by_id.json
    ran = fencepost("show", "bad.pdf", "--history")
    assert "It ends too early. Open and save the file" in " ".join(ran.out.split())
    assert "attempt of generation 1" in ran.out
    assert fencepost("show", "nowhere").code == 4
    ambiguous = fencepost("show", "twice")
    assert (ambiguous.code, "say which one" in ambiguous.err) == (1, True)
    assert fencepost("show", "twice", "-c", "other", "--json").json["collection"] == "other"


def test_text_that_is_not_there_is_4(fencepost: Run) -> None:
    assert fencepost("text", "new.txt").code == 4


def test_reindex_of_some_of_the_failed_and_of_all(fencepost: Run) -> None:
    assert fencepost("reindex", "good.txt", "--json").json == {"accepted": 1, "skipped": 0}
    assert fencepost("reindex", "--failed", "--json").json == {"accepted": 1, "skipped": 0}
    assert fencepost("reindex", "--failed").code == 4
    assert fencepost("reindex", "--all", "--json").json == {"accepted": 0, "skipped": 5}
    assert fencepost("reindex", "--collection", "other").out == "0 accepted, 1 had nothing to do\n"
    assert fencepost("reindex").code == 2
    assert fencepost("reindex", "good.txt", "--all").code == 2
    assert fencepost("reindex", "nowhere").code == 4


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
