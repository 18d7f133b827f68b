"""POST /v1/reindex: many documents again, behind the live ones, and safe to repeat."""

import pytest
from httpx import Client

from ingest import campaign
from pipeline.outcomes import Rejected
from pipeline.states import Priority
from tests.support.world import World


@pytest.fixture
def ids(client: Client, world: World) -> dict[str, str]:
    """Four documents: a and b succeeded (b in another collection), one failed, one is deleted."""
    ids = {}
    for key in ("a", "b", "failed", "deleted"):
        collection = "other" if key == "b" else "default"
        body = client.post(f"/v1/documents?key={key}&collection={collection}", content=key.encode()).json()
        ids[key] = body["document_id"]
        (held,) = world.lease(body["job_id"])
        world.finish(held, Rejected("corrupt", "No.") if key == "failed" else None)
    client.delete(f"/v1/documents/{ids['deleted']}")
    return ids


@pytest.mark.parametrize(
    ("wanted", "keys", "skipped"),
    [
        ({"all": True}, {"a", "b", "failed"}, 1),
        ({"collection": "other"}, {"b"}, 0),
        ({"state": "failed"}, {"failed"}, 0),
        ({"state": "quarantined"}, {"failed"}, 0),
        ({"state": "succeeded"}, {"a", "b"}, 0),
        ({"collection": "nowhere"}, set(), 0),
    ],
)
def test_the_chosen_documents_get_a_version(
    client: Client, world: World, ids: dict[str, str], wanted: dict[str, object], keys: set[str], skipped: int
) -> None:
    assert len(ids) == 4
    answer = client.post("/v1/reindex", json=wanted)
    assert (answer.status_code, answer.json()) == (202, {"accepted": len(keys), "skipped": skipped})
    rows = world.rows(
        "SELECT d.key FROM jobs JOIN documents d USING (document_id) WHERE priority = :p", p=Priority.CAMPAIGN
    )
    assert {row["key"] for row in rows} == keys
    world.check()


def test_named_documents_that_do_not_exist_are_skipped(client: Client, ids: dict[str, str]) -> None:
    wanted = [ids["a"], ids["deleted"], "00000000-0000-4000-8000-000000000000"]
    answer = client.post("/v1/reindex", json={"documents": wanted})
    assert answer.json() == {"accepted": 1, "skipped": 2}


def test_the_same_again_goes_on_and_repeats_nothing(client: Client, world: World, ids: dict[str, str]) -> None:
    assert len(ids) == 4
    client.post("/v1/reindex", json={"all": True})
    again = client.post("/v1/reindex", json={"all": True})
    assert again.json() == {"accepted": 0, "skipped": 4}
    world.check()


def test_a_campaign_goes_in_batches(client: Client, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "BATCH", 3)
    for n in range(8):
        body = client.post("/v1/documents", content=b"%d" % n).json()
        world.finish(world.lease(body["job_id"])[0])
    assert client.post("/v1/reindex", json={"all": True}).json() == {"accepted": 8, "skipped": 0}
    assert len(world.rows("SELECT DISTINCT xmin::text FROM versions WHERE input_version = 2")) == 3


def test_a_live_upload_takes_over_and_stays_live(client: Client, world: World, ids: dict[str, str]) -> None:
    client.post("/v1/reindex", json={"documents": [ids["a"]]})
    client.post("/v1/documents?key=a", content=b"new")
    waiting = world.rows("SELECT priority FROM jobs WHERE state = 'queued' AND document_id = :id", id=ids["a"])
    assert [row["priority"] for row in waiting] == [Priority.LIVE]
