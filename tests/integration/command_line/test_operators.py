"""status, quarantine and outbox: what operators do in a terminal."""

import re
from collections.abc import Callable

import pytest
from httpx import Client

from pipeline import breaker
from pipeline.outcomes import Rejected, TextQuality
from tests.integration.command_line.conftest import Run
from tests.support.read import publish
from tests.support.world import World


@pytest.fixture
def quarantine(client: Client, world: World) -> Callable[[str, str], str]:
    """Brings a document of this key into quarantine with this code."""

    def quarantined(key: str, code: str) -> str:
        body = client.post(f"/v1/documents?key={key}", content=key.encode()).json()
        (held,) = world.lease(body["job_id"])
        world.finish(held, Rejected(code, f"{key} failed."))
        document: str = body["document_id"]
        return document

    return quarantined


def test_status_shows_every_number(fencepost: Run, client: Client, quarantine: Callable[[str, str], str]) -> None:
    quarantine("bad.pdf", "corrupt")
    client.post("/v1/documents", content=b"x")
    ran = fencepost("status")
    words = [line.split() for line in ran.out.splitlines()]
    lines = {line[0]: line[1] for line in words if len(line) > 1}
    assert ran.code == 0
    assert (lines["accepted"], lines["quarantined"], lines["queued"], lines["difference"]) == ("2", "1", "1", "0")
    assert fencepost("status", "--json").json["accepted"] == 2


def test_status_counts_the_texts_of_each_quality(fencepost: Run, world: World) -> None:
    publish(world, world.upload("scan"), "no_text")
    assert "0 ok, 1 no_text, 0 truncated" in " ".join(fencepost("status").out.split())
    assert fencepost("status", "--json").json["text_quality"] == dict.fromkeys(TextQuality, 0) | {"no_text": 1}


def test_an_index_in_trouble_is_told_in_the_terminal(fencepost: Run, world: World) -> None:
    assert "closed" in fencepost("status").out
    assert finding(fencepost, "breakers") == (True, "broker and index take what they are given")
    with world.engine.begin() as connection:
        breaker.trip(connection, breaker.INDEX, reason="The index is read-only (disk).")
    told = " ".join(fencepost("status").out.split())
    assert re.search(r"index, for \d s: The index is read-only \(disk\)\.", told)
    assert "Publishing is paused since" in told
    is_ok, found = finding(fencepost, "breakers")
    assert is_ok is False
    assert re.fullmatch(r"publishing is paused for \d s: the index is read-only \(disk\)", found)


def finding(fencepost: Run, check: str) -> tuple[bool | None, str]:
    """What the doctor says of one thing."""
    found = {one["check"]: one for one in fencepost("doctor", "--json").json}
    return found[check]["ok"], found[check]["finding"]


def test_a_worker_with_other_settings_is_named(fencepost: Run, world: World) -> None:
    world.execute("INSERT INTO processes (kind, host, pid) SELECT unnest('{relay, sweeper, worker}'::text[]), 'a', 1")
    assert finding(fencepost, "processes")[0] is True
    world.execute("UPDATE processes SET reads_with = '{\"pages\": 7}' WHERE kind = 'worker'")
    is_ok, found = finding(fencepost, "processes")
    assert is_ok is False
    assert "FENCEPOST_EXTRACT__PAGES is 7 there, 20,000 here" in found
    assert found in fencepost("reindex", "--outdated", "--dry-run").err


def test_quarantine_is_listed_and_shown(fencepost: Run, quarantine: Callable[[str, str], str]) -> None:
    assert fencepost("quarantine", "list").code == 4
    document = quarantine("bad.pdf", "corrupt")
    quarantine("locked.pdf", "password_required")
    ran = fencepost("quarantine", "list")
    assert ran.code == 0
    assert "locked.pdf failed." in ran.out
    assert re.search(r"  \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  ", ran.out), "a time says its zone"
    (item,) = fencepost("quarantine", "list", "--code", "corrupt", "--json").json
    assert (item["key"], item["owner"]) == ("bad.pdf", "operators")
    by_key, by_id, by_job = (
        fencepost("quarantine", "show", name, "--json").json for name in ("bad.pdf", document, item["job_id"])
    )
    assert by_key == by_id == by_job
    assert by_key["hint"] in fencepost("quarantine", "show", "bad.pdf").out


def test_what_was_resolved_is_listed_with_how(fencepost: Run, quarantine: Callable[[str, str], str]) -> None:
    quarantine("bad.pdf", "corrupt")
    assert fencepost("quarantine", "list", "--resolved").code == 4
    fencepost("quarantine", "dismiss", "bad.pdf", "--note", "a torn page")
    (item,) = fencepost("quarantine", "list", "--resolved", "--json").json
    assert (item["key"], item["state"], item["note"]) == ("bad.pdf", "resolved", "a torn page")
    ran = fencepost("quarantine", "list", "--resolved")
    assert re.search(r"resolved +how", ran.out)
    assert "a torn page" in ran.out
    assert "bad.pdf failed." not in ran.out


def test_a_key_of_several_collections_needs_one_of_them(
    fencepost: Run, world: World, quarantine: Callable[[str, str], str]
) -> None:
    quarantine("bad.pdf", "corrupt")
    other = world.upload("x", key="bad.pdf", collection="other")
    assert fencepost("quarantine", "show", "bad.pdf").code == 1
    shown = fencepost("quarantine", "show", "bad.pdf", "--collection", "default", "--json")
    assert (shown.code, shown.json["collection"]) == (0, "default")
    assert fencepost("quarantine", "replay", "bad.pdf", "--collection", "other").code == 1
    assert fencepost("quarantine", "replay", "bad.pdf", "--collection", "default").out == "1 done, 0 refused\n"
    assert world.job(other.job_id)["state"] == "queued"


def test_a_replay_keeps_the_version_and_a_new_one_is_the_next(
    fencepost: Run, world: World, quarantine: Callable[[str, str], str]
) -> None:
    quarantine("bad.pdf", "corrupt")
    ran = fencepost("quarantine", "replay", "bad.pdf", "--json")
    assert (ran.code, ran.json["moved"][0]["input_version"], ran.json["moved"][0]["state"]) == (0, 1, "queued")
    (job,) = world.rows("SELECT job_id, generation FROM jobs")
    (held,) = world.lease(job["job_id"])
    assert held.generation == job["generation"] + 1
    world.finish(held, Rejected("corrupt", "Still."))
    again = fencepost("quarantine", "replay", "bad.pdf", "--new-version", "--json")
    assert again.json["moved"][0]["input_version"] == 2
    assert fencepost("quarantine", "replay", "bad.pdf").code == 1  # it is queued by now
    world.check()


def test_many_are_decided_on_by_a_filter(fencepost: Run, world: World, quarantine: Callable[[str, str], str]) -> None:
    for n in range(3):
        quarantine(f"{n}.pdf", "extractor_timeout")
    quarantine("bad.pdf", "corrupt")
    assert fencepost("quarantine", "assign", "--to", "mary", "--all", "--code", "corrupt").out == "1 done, 0 refused\n"
    assert fencepost("quarantine", "dismiss", "--note", "old", "--all", "--owner", "mary").code == 0
    answer = fencepost("quarantine", "replay", "--all", "--json").json
    assert (len(answer["moved"]), answer["refused"]) == (3, [])
    assert fencepost("quarantine", "replay", "--all").code == 4
    assert {row["state"] for row in world.rows("SELECT state FROM jobs")} == {"queued", "resolved"}
    world.check()


def test_what_is_not_there_is_4_and_what_is_not_clear_is_2(fencepost: Run) -> None:
    assert fencepost("quarantine", "show", "nowhere").code == 4
    assert fencepost("quarantine", "replay", "nowhere").code == 4
    assert fencepost("quarantine", "replay").code == 2
    assert fencepost("quarantine", "replay", "a", "--all").code == 2
    assert fencepost("quarantine", "replay", "a", "--code", "corrupt").code == 2
    assert fencepost("quarantine", "dismiss", "a").code == 2


def test_the_outbox_is_listed_and_what_the_broker_refused_is_released(
    fencepost: Run, client: Client, world: World
) -> None:
    assert fencepost("outbox", "list").code == 4
    for n in range(3):
        client.post("/v1/documents", content=b"%d" % n)
    world.execute(
        "UPDATE outbox SET exhausted = true, tries = 10, last_error = 'too big' WHERE id > (SELECT min(id) FROM outbox)"
    )
    assert "too big" in fencepost("outbox", "list").out
    assert len(fencepost("outbox", "list", "--json").json) == 3
    exhausted = fencepost("outbox", "list", "--exhausted", "--json").json
    assert len(exhausted) == 2
    assert fencepost("outbox", "release", exhausted[0]["id"]).out == "1 released\n"
    assert fencepost("outbox", "release", "--json").json == {"released": 1}
    assert fencepost("outbox", "release").code == 4
    assert fencepost("outbox", "release", "99999").code == 4
    assert world.row("SELECT count(*) FROM outbox WHERE exhausted")["count"] == 0
