"""The routes of operators over real HTTP: shapes, paging, refusals."""

import json
from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

import pytest
from httpx import Client

from fencepost.local.postgres import LocalPostgres
from pipeline import outbox
from pipeline.outcomes import Rejected, RetryLater
from pipeline.settings import Budget, Settings
from tests.support import api
from tests.support.rows import OperatedWorld
from tests.support.servers import Database

BROKEN = Rejected("corrupt", "The file ends in the middle.")


@pytest.fixture
def world(database: Database) -> OperatedWorld:
    return OperatedWorld(database.engine).run()


@pytest.fixture
def client(database: Database) -> Iterator[Client]:
    with api.serving(database, Settings(partitions=1)) as client:
        yield client


def quarantined(world: OperatedWorld, filename: str = "a.pdf") -> UUID:
    job_id = world.job_of(filename)
    world.attempt(job_id, BROKEN)
    return job_id


def refused_row(world: OperatedWorld) -> int:
    """The id of an outbox row that has spent its publications."""
    world.file()
    settings = world.settings.model_copy(update={"budget": Budget(publications=1)})
    with world.engine.begin() as connection:
        (delivery,) = outbox.claim(connection, settings).deliveries
        outbox.refuse(connection, delivery, settings, error="wrong type")
    return delivery.rows[0]


def test_the_overview_has_every_number_of_its_shape(client: Client, world: OperatedWorld) -> None:
    quarantined(world)
    queued = world.file("b.pdf")

    body = client.get("/v1/overview").raise_for_status().json()

    counts = {name: body[name] for name in ("accepted", "quarantined", "queued", "difference", "unfinished")}
    assert counts == {"accepted": 2, "quarantined": 1, "queued": 1, "difference": 0, "unfinished": 2}
    assert body["text_quality"] == dict.fromkeys(["ok", "no_text", "truncated", "partial", "text_unreliable"], 0)
    assert body["oldest_queued"]["document_id"] == str(queued.document_id)
    assert body["partitions"] == [{"partition": 0, "queued": 1, "sent": 0, "leased": 0, "workers": 1}]
    assert body["expired_leases"] == []
    assert (body["breaker"], body["breakers"]) == (None, [])
    assert body["capacity"]["slots"] == 3
    assert body["outbox"]["waiting"] == 1
    assert body["errors"]["by_code"] == [{"stage": "load", "code": "corrupt", "count": 1}]
    assert {alarm["code"] for alarm in body["alarms"]} == {"no_sweeper", "quarantined"}


def test_workers_that_read_with_other_settings_are_an_alarm(client: Client, world: OperatedWorld) -> None:
    def alarm() -> dict[str, object]:
        body = client.get("/v1/overview").raise_for_status().json()
        return {alarm["code"]: alarm for alarm in body["alarms"]}["reading_settings"]

    world.execute("UPDATE processes SET reads_with = '{\"pages\": 7}' WHERE kind = 'worker'")
    assert alarm() == {
        "code": "reading_settings",
        "sentence": f"Worker {world.worker_id} reads documents with other settings than this server: "
        "FENCEPOST_EXTRACT__PAGES is 7 there, 20,000 here.",
        "rows": "/workers",
        "bad": False,
    }
    world.process("worker")
    world.execute("UPDATE processes SET reads_with = '{\"pages\": 7}' WHERE kind = 'worker'")
    assert alarm()["sentence"] == "2 workers read documents with other settings than this server."


def test_workers_are_listed_with_what_they_hold(client: Client, world: OperatedWorld) -> None:
    job_id = world.file().job_id
    assert job_id is not None
    world.take(job_id)

    items = client.get("/v1/workers").raise_for_status().json()["items"]

    (worker,) = [item for item in items if item["kind"] == "worker"]
    assert (worker["id"], worker["alive"], worker["holding"]) == (world.worker_id, True, [str(job_id)])
    assert worker["partitions"] == [0]


def test_jobs_are_listed_with_the_reason_why_they_wait(client: Client, world: OperatedWorld) -> None:
    broken = quarantined(world)
    waiting = world.file("b.pdf").job_id

    items = client.get("/v1/jobs").raise_for_status().json()["items"]

    assert [item["job_id"] for item in items] == [str(waiting), str(broken)]
    assert items[0]["waiting"] == "1st in partition 0, about to be sent"
    assert items[1]["failure"]["hint"].startswith("Open and save the file")


@pytest.mark.parametrize("state", ["queued", "leased", "quarantined", "succeeded"])
def test_jobs_are_filtered_by_state(client: Client, world: OperatedWorld, state: str) -> None:
    expected = {
        "quarantined": quarantined(world),
        "queued": world.file("q.txt").job_id,
        "leased": world.file("l.txt").job_id,
        "succeeded": world.file("s.txt").job_id,
    }
    world.take(expected["leased"])  # type: ignore[arg-type]
    world.attempt(expected["succeeded"])  # type: ignore[arg-type]

    items = client.get("/v1/jobs", params={"state": state}).raise_for_status().json()["items"]

    assert [item["job_id"] for item in items] == [str(expected[state])]
    for other in ({"collection": "other"}, {"partition": 1}):
        assert client.get("/v1/jobs", params={"state": state, **other}).json()["items"] == []
    assert len(client.get("/v1/jobs", params={"state": state, "partition": 0}).json()["items"]) == 1


@pytest.mark.parametrize("path", ["/v1/jobs", "/v1/quarantine", "/v1/outbox"])
def test_lists_are_walked_by_cursor(client: Client, world: OperatedWorld, path: str) -> None:
    for n in range(5):
        if path == "/v1/quarantine":
            quarantined(world, f"{n}.pdf")
        else:
            world.file(f"{n}.pdf")
    seen: list[str] = []
    cursor = None
    while True:
        page = client.get(path, params={"limit": 2, **({"cursor": cursor} if cursor else {})}).raise_for_status().json()
        seen += [item["job_id"] for item in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break

    assert len(seen) == len(set(seen)) == 5
    assert client.get(path, params={"cursor": "!"}).json()["code"] == "bad_cursor"
    assert client.get(path, params={"limit": 501}).status_code == 422


def test_a_job_is_shown_with_its_attempts(client: Client, world: OperatedWorld) -> None:
    job_id = world.file().job_id
    assert job_id is not None
    world.attempt(job_id, RetryLater("busy", "Busy.", delay=timedelta(seconds=90)))

    job = client.get(f"/v1/jobs/{job_id}").raise_for_status().json()

    assert job["waiting"].startswith("retry 2 of 8 in ")
    assert [(a["generation"], a["outcome"], a["code"]) for a in job["attempts"]] == [(1, "retry_later", "busy")]


@pytest.mark.parametrize("path", [f"/v1/jobs/{UUID(int=7)}", "/v1/jobs/x", f"/v1/quarantine/{UUID(int=7)}"])
def test_an_unknown_job_is_not_found(client: Client, path: str) -> None:
    answer = client.get(path)

    assert (answer.status_code, answer.json()["code"]) == (404, "job_not_found")


def test_a_quarantined_job_is_replayed_as_it_is(client: Client, world: OperatedWorld) -> None:
    job_id = quarantined(world)

    answer = client.post(f"/v1/quarantine/{job_id}/replay", json={"as": "same"})

    assert (answer.status_code, answer.json()["state"], answer.json()["input_version"]) == (202, "queued", 1)
    again = client.post(f"/v1/quarantine/{job_id}/replay", json={"as": "same"})
    assert (again.status_code, again.json()["code"]) == (409, "not_quarantined")
    assert client.get(f"/v1/quarantine/{job_id}").json()["note"] == "Replayed."


def test_a_quarantined_job_is_replayed_as_a_new_version(client: Client, world: OperatedWorld) -> None:
    job_id = quarantined(world)

    answer = client.post(f"/v1/quarantine/{job_id}/replay", json={"as": "new_version"})

    assert (answer.status_code, answer.json()["state"], answer.json()["input_version"]) == (202, "queued", 2)
    assert answer.json()["job_id"] != str(job_id)
    assert client.get(f"/v1/jobs/{job_id}").json()["state"] == "resolved"


def test_an_older_version_is_refused_with_the_number_of_the_newest(client: Client, world: OperatedWorld) -> None:
    job_id = quarantined(world)
    world.file("b.pdf", document_id=world.job(job_id)["document_id"])

    answer = client.post(f"/v1/quarantine/{job_id}/replay")

    assert (answer.status_code, answer.json()["code"]) == (409, "newer_version_exists")
    assert answer.json()["input_version"] == 2


def test_dismissing_needs_a_note_and_assigning_an_owner(client: Client, world: OperatedWorld) -> None:
    job_id = quarantined(world)

    assert client.post(f"/v1/quarantine/{job_id}/dismiss", json={"note": " "}).status_code == 422
    assert client.post(f"/v1/quarantine/{job_id}/assign", json={"owner": "mi\x00na"}).status_code == 200
    assert client.get("/v1/quarantine", params={"owner": "mina"}).json()["items"][0]["job_id"] == str(job_id)
    assert client.post(f"/v1/quarantine/{job_id}/dismiss", json={"note": "Old."}).json()["state"] == "resolved"
    assert client.get("/v1/quarantine").json()["items"] == []


def test_a_filter_for_many_tells_what_became_of_each(client: Client, world: OperatedWorld) -> None:
    jobs = [quarantined(world, f"{n}.pdf") for n in range(3)]
    world.file("newer.pdf", document_id=world.job(jobs[0])["document_id"])

    answer = client.post("/v1/quarantine/replay", json={"as": "same", "filter": {"code": "corrupt"}}).json()

    assert {moved["job_id"] for moved in answer["moved"]} == {str(jobs[1]), str(jobs[2])}
    assert [(refused["job_id"], refused["status"], refused["code"]) for refused in answer["refused"]] == [
        (str(jobs[0]), 409, "newer_version_exists")
    ]
    rest = client.post("/v1/quarantine/dismiss", json={"note": "n", "filter": {}}).json()
    assert [moved["job_id"] for moved in rest["moved"]] == [str(jobs[0])]


@pytest.mark.parametrize("action", ["replay", "dismiss", "assign"])
def test_a_filter_for_many_must_be_there(client: Client, action: str) -> None:
    body: dict[str, object] = {"replay": {}, "dismiss": {"note": "n"}, "assign": {"owner": "o"}}[action]

    assert client.post(f"/v1/quarantine/{action}", json=body).status_code == 422
    assert client.post(f"/v1/quarantine/{action}", json={**body, "filter": {"cod": "corrupt"}}).status_code == 422
    assert client.post(f"/v1/quarantine/{action}", json={**body, "filter": {}}).json() == {"moved": [], "refused": []}


@pytest.mark.parametrize("name", ["code", "collection", "owner"])
@pytest.mark.parametrize("value", ["", "\0", "a\0b", "\ud800"])
def test_a_filter_for_many_that_no_database_can_store_matches_nothing(
    client: Client, world: OperatedWorld, name: str, value: str
) -> None:
    quarantined(world)
    body = json.dumps({"filter": {name: value}})

    answer = client.post("/v1/quarantine/replay", content=body, headers={"Content-Type": "application/json"})

    assert answer.json() == {"moved": [], "refused": []}


def test_what_was_resolved_is_listed_with_its_note(client: Client, world: OperatedWorld) -> None:
    kept, dismissed = quarantined(world), quarantined(world, "b.pdf")
    client.post(f"/v1/quarantine/{dismissed}/dismiss", json={"note": "A broken scan."}).raise_for_status()

    def listed(**params: str) -> list[tuple[str, str | None]]:
        items = client.get("/v1/quarantine", params=params).raise_for_status().json()["items"]
        return [(item["job_id"], item["note"]) for item in items]

    assert listed() == listed(state="quarantined") == [(str(kept), None)]
    assert listed(state="resolved") == listed(state="resolved", code="corrupt") == [(str(dismissed), "A broken scan.")]
    assert listed(state="resolved", code="empty_file") == []
    assert client.get("/v1/quarantine", params={"state": "queued"}).status_code == 422


def test_a_refused_message_is_shown_and_released(client: Client, world: OperatedWorld) -> None:
    row_id = refused_row(world)
    world.file("b.pdf")
    (item,) = client.get("/v1/outbox", params={"exhausted": True}).raise_for_status().json()["items"]
    assert (item["id"], item["tries"], item["last_error"], item["exhausted"]) == (row_id, 1, "wrong type", True)
    attempts = world.job(item["job_id"])["attempt"]

    assert client.post(f"/v1/outbox/{row_id}/release").json() == {"released": 1}

    again = client.post(f"/v1/outbox/{row_id}/release")
    assert (again.status_code, again.json()["code"]) == (409, "not_exhausted")
    assert client.get("/v1/outbox", params={"exhausted": True}).json()["items"] == []
    assert len(world.relay()) == 1
    assert world.job(item["job_id"])["attempt"] == attempts


def test_the_outbox_is_filtered_by_collection(client: Client, world: OperatedWorld) -> None:
    ours = world.file("a.pdf", collection="ours")
    world.file("b.pdf", collection="theirs")

    (item,) = client.get("/v1/outbox", params={"collection": "ours"}).raise_for_status().json()["items"]

    assert (item["job_id"], item["collection"]) == (str(ours.job_id), "ours")
    assert client.get("/v1/outbox", params={"collection": "ours", "exhausted": True}).json()["items"] == []
    assert client.get("/v1/outbox", params={"collection": "none"}).json()["items"] == []


def test_all_refused_messages_are_released_at_once(client: Client, world: OperatedWorld) -> None:
    refused_row(world)

    assert client.post("/v1/outbox/release").json() == {"released": 1}
    assert client.post("/v1/outbox/release").json() == {"released": 0}


@pytest.mark.parametrize("row", ["999", "x", "-1", "9" * 30])
def test_an_unknown_outbox_row_is_not_found(client: Client, row: str) -> None:
    answer = client.post(f"/v1/outbox/{row}/release")

    assert (answer.status_code, answer.json()["code"]) == (404, "outbox_row_not_found")


def test_the_overview_says_so_while_postgresql_is_away_and_comes_back(
    client: Client, world: OperatedWorld, postgres: LocalPostgres
) -> None:
    world.file()
    postgres.stop()

    refused, page = client.get("/v1/overview"), client.get("/")

    assert (refused.status_code, refused.json()["code"]) == (503, "database_unavailable")
    assert refused.headers["retry-after"] == "2"
    assert (page.status_code, "PostgreSQL does not answer" in page.text) == (503, True)
    postgres.start()
    assert client.get("/v1/overview").raise_for_status().json()["accepted"] == 1
    assert client.get("/").status_code == 200
