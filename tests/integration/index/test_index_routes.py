"""The index over HTTP."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from httpx import Client

from pipeline import breaker, indexes, verifications
from pipeline.errors import IndexUnavailable
from tests.support.api import serving
from tests.support.indexing import Library
from tests.support.servers import Database
from tests.support.waiting import until


@pytest.fixture
def client(database: Database, library: Library) -> Iterator[Client]:
    with serving(database, library.world.settings) as client:
        yield client


def code(answer: object) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]  # type: ignore[attr-defined]


def test_an_index_tells_about_itself(client: Client, library: Library):
    seen = client.get("/v1/index").json()
    assert seen["live"]["backend"] == seen["backend"] == library.backend.kind
    assert (seen["live"]["outdated"], seen["others"], seen["verification"], seen["build"]) == (False, [], None, None)
    library.lose(library.add())
    begun = client.post("/v1/index/verify")
    assert begun.status_code == 202
    assert code(client.post("/v1/index/verify")) == (409, "verification_under_way")
    number = begun.json()["verification_id"]
    assert client.get("/v1/index").json()["verifying"]["verification_id"] == number
    with library.at_work():
        until(lambda: client.get(f"/v1/index/verifications/{number}").json()["finished_at"])
    seen = client.get("/v1/index").json()
    assert seen["verification"]["drift"]["missing"] == seen["verification"]["drifted"] == 1


def test_what_holds_it_up_is_told(client: Client, library: Library, monkeypatch: pytest.MonkeyPatch):
    def away(*_: object) -> None:
        raise IndexUnavailable("It is away.")

    library.add()
    assert client.get("/v1/index").json()["paused"] is None
    with library.world.engine.begin() as connection:
        breaker.trip(connection, breaker.INDEX, reason="It is away.")
    client.post("/v1/index/verify")
    client.post("/v1/index/rebuild")
    with monkeypatch.context() as patch:
        patch.setattr(library.backend, "states_after", away)
        patch.setattr(library.backend, "create", away)
        library.builder.run_once()
        seen = client.get("/v1/index").json()
        assert (seen["paused"], seen["verifying"]["error"]) == ("It is away.", "It is away.")
        page = client.get("/index").text
        assert page.count("It is away.") == 1
    library.builder.run_once()
    assert client.get("/v1/index").json()["verification"]["error"] is None
    with monkeypatch.context() as patch:
        patch.setattr(library.backend, "create", away)
        library.builder.run_once()
        assert client.get("/v1/index").json()["build"]["error"] == "It is away."
    library.builder.run_once()
    build = client.get("/v1/index").json()["build"]
    assert (build["phase"], build["error"]) == ("draining", None)


def test_an_index_of_another_backend_is_dropped_by_a_server_that_has_it(client: Client, library: Library):
    other = next(kind for kind in ("postgres", "opensearch") if kind != library.backend.kind)
    library.world.execute(
        f"INSERT INTO search_indexes (backend, fingerprint, name, state) VALUES ('{other}', 'x', 'old-x', 'retired')"
    )
    refused = client.delete("/v1/index/old-x").json()
    assert (refused["code"], f"FENCEPOST_SEARCH={other}" in refused["detail"]) == ("other_backend", True)
    page = client.get("/index").text
    assert f"FENCEPOST_SEARCH={other}" in page
    assert "index drop old-x" not in page


def test_what_differs_is_paged(client: Client, library: Library):
    documents = sorted(library.add_many(5))
    library.lose(*documents)
    number = library.verify().verification_id
    first = client.get(f"/v1/index/verifications/{number}?limit=3").json()
    second = client.get(f"/v1/index/verifications/{number}?limit=3&cursor={first['next']}").json()
    items = first["items"] + second["items"]
    assert [item["document_id"] for item in items] == [str(one) for one in documents]
    assert items[0] | {"document_id": None} == {
        "document_id": None, "kind": "missing", "index_version": None, "published_version": 1
    }  # fmt: skip
    assert second["next"] is None
    for wrong in ("0", "x", "9" * 30, "-1"):
        assert code(client.get(f"/v1/index/verifications/{wrong}")) == (404, "verification_not_found")


def test_a_repair_and_a_rebuild(client: Client, library: Library):
    library.lose(*library.add_many(2))
    begun = client.post("/v1/index/verify", json={"repair": True}).json()
    assert code(client.post("/v1/index/rebuild")) == (409, "build_under_way")
    with library.at_work():
        until(lambda: client.get("/v1/index").json()["build"]["finished_at"])
        assert client.get("/v1/index").json()["build"]["build_id"] == begun["build_id"]
        old = client.get("/v1/index").json()["live"]["name"]
        assert code(client.delete(f"/v1/index/{old}")) == (409, "index_in_use")
        assert client.post("/v1/index/rebuild").status_code == 202
        build = until(lambda: (b := client.get("/v1/index").json()["build"])["finished_at"] and b)
    assert (build["phase"], build["kind"], build["done"]) == ("done", "rebuild", 2)
    assert client.delete(f"/v1/index/{old}").json() == {"name": old}
    assert code(client.delete(f"/v1/index/{old}")) == (404, "index_not_found")
    library.check()


def test_a_rebuild_can_be_cancelled(client: Client, library: Library):
    assert code(client.delete("/v1/index/rebuild")) == (404, "no_build")
    client.post("/v1/index/rebuild")
    assert client.delete("/v1/index/rebuild").json()["phase"] == "cancelling"
    with library.at_work():
        until(lambda: client.get("/v1/index").json()["build"]["phase"] == "cancelled")


def test_the_overview_tells_the_index_and_alarms(client: Client, library: Library):
    def alarms() -> set[str]:
        return {alarm["code"] for alarm in client.get("/v1/overview").json()["alarms"]}

    assert client.get("/v1/overview").json()["index"]["drifted"] is None
    library.lose(*library.add_many(3))
    library.verify()
    seen = client.get("/v1/overview").json()
    assert seen["index"]["drifted"] == 3
    assert "3 entries differ from the database. Run fencepost index verify --repair." in [
        alarm["sentence"] for alarm in seen["alarms"]
    ]
    assert "3" in client.get("/index").text
    library.verify(repair=True)
    assert client.get("/v1/overview").json()["index"]["drifted"] == 0
    assert "drift" not in alarms()
    library.world.execute("UPDATE search_indexes SET fingerprint = 'older'")
    assert "index_outdated" in alarms()
    library.rebuild()
    assert client.get("/v1/overview").json()["index"]["build"]["phase"] == "creating"
    assert "index_outdated" not in alarms()
    library.world.execute("UPDATE builds SET phase = 'stuck', error = 'It is too large.' WHERE kind = 'rebuild'")
    assert "rebuild_stuck" in alarms()
    assert client.get("/index").status_code == client.get("/").status_code == 200


def test_a_verification_of_an_index_that_was_replaced_ends(library: Library):
    library.add()
    library.rebuild()
    with library.world.engine.begin() as connection:
        number = verifications.begin(connection, indexes.must_be_live(connection).index_id).verification_id
        connection.exec_driver_sql("UPDATE search_indexes SET state = 'retired' WHERE state = 'live'")
    library.builder.run_once()
    ended = library.verification(number)
    assert ended.finished_at is not None
    assert "was replaced" in (ended.error or "")


def test_a_drop_of_nothing(client: Client):
    assert code(client.delete(f"/v1/index/{uuid4()}")) == (404, "index_not_found")
