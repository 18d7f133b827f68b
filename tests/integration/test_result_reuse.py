"""A text is extracted once for its bytes, reader and settings; what another reader or setting would change is found."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from httpx import Client
from pydantic import SecretStr

from indexer import results
from indexer.extract import KINDS, Request, extract
from indexer.search.backend import SearchRequest
from pipeline import quarantine
from pipeline.agreement import disagreements
from pipeline.outcomes import Rejected
from pipeline.processes import Presence
from pipeline.settings import Extract, Settings
from tests.support import api, documents, indexing
from tests.support.counting import CountingPool, deliver
from tests.support.indexing import Library
from tests.support.kinds import OtherKinds
from tests.support.servers import Database
from tests.support.world import World

CYRILLIC = "Привет мир".encode("cp1251")
FILES: dict[str, bytes] = {
    "scan.pdf": documents.pdf([["a page"], []]),
    "guide.md": b"# Guide\n\nHow to light a lamp.",
    "notes.txt": b"plain notes",
    "letter.txt": CYRILLIC,
}


@pytest.fixture
def library(world: World) -> Library:
    return indexing.installed(world, None)


@pytest.fixture
def pool(world: World) -> Iterator[CountingPool]:
    with CountingPool(world.settings.extract) as pool:
        yield pool


@pytest.fixture
def shelf(library: Library, pool: CountingPool) -> Library:
    """Each of the files is published."""
    for name, content in FILES.items():
        library.world.upload(content, key=name, filename=name)
    deliver(library, pool)
    assert pool.taken() == sorted(FILES)
    return library


def outdated(client: Client, **wanted: Any) -> dict[str, Any]:
    """What `outdated` answers."""
    answer = client.post("/v1/reindex", json={"outdated": True, **wanted})
    assert answer.is_success, answer.text
    return dict(answer.json())


def found(answer: dict[str, Any]) -> dict[str, tuple[int, str]]:
    return {each["media_type"]: (each["documents"], each["why"]) for each in answer["outdated"]}


def keys_read_anew(world: World) -> set[str]:
    rows = world.rows("SELECT key FROM documents WHERE input_version > 1")
    return {row["key"] for row in rows}


def again(
    library: Library, pool: CountingPool, database: Database, settings: Settings
) -> tuple[dict[str, Any], list[str]]:
    """Reindexes what is outdated under these settings; the answer, and what was extracted."""
    with api.serving(database, settings) as client:
        assert outdated(client, dry_run=True)["accepted"] == 0
        answer = outdated(client)
        deliver(library, pool, settings)
        rest = outdated(client, dry_run=True)
    assert (rest["outdated"], rest["skipped"]) == ([], 0), "it converges"
    library.world.check()
    return answer, pool.taken()


def test_nothing_is_outdated_when_nothing_has_changed(client: Client, shelf: Library) -> None:
    answer = {"accepted": 0, "skipped": 0, "outdated": [], "quarantined": {}, "dry_run": False}
    assert outdated(client) == answer
    assert keys_read_anew(shelf.world) == set()


def test_another_encoding_makes_its_document_outdated_and_no_other(
    shelf: Library, pool: CountingPool, database: Database
) -> None:
    shelf.world.execute("UPDATE versions SET metadata = '{\"encoding\": \"cp1251\"}' WHERE filename = 'letter.txt'")
    answer, extracted = again(shelf, pool, database, shelf.world.settings)
    assert (answer["accepted"], found(answer)) == (1, {"text/plain": (1, "settings")})
    assert extracted == ["letter.txt"]
    assert shelf.find("Привет") == 1


def test_a_raised_cap_on_characters_makes_all_outdated_and_one_on_pages_those_with_pages(
    shelf: Library, pool: CountingPool, database: Database
) -> None:
    answer, extracted = again(shelf, pool, database, Settings(extract=Extract(pages=30_000)))
    assert found(answer) == {"application/pdf": (1, "settings")}
    assert extracted == ["scan.pdf"]
    answer, extracted = again(shelf, pool, database, Settings(extract=Extract(pages=30_000, characters=30_000_000)))
    assert answer["accepted"] == len(FILES)
    assert extracted == sorted(FILES)


@pytest.mark.usefixtures("shelf")
def test_recognition_that_is_turned_on_makes_those_with_pictures_outdated(database: Database) -> None:
    with api.serving(database, Settings(extract=Extract(ocr_languages="eng"))) as client:
        assert found(outdated(client, dry_run=True)) == {"application/pdf": (1, "settings")}
    with api.serving(database, Settings(extract=Extract(ocr_page_seconds=1))) as client:
        assert found(outdated(client, dry_run=True)) == {}


def test_another_revision_of_a_reader_makes_what_it_read_outdated(
    shelf: Library, pool: CountingPool, database: Database, other_kinds: OtherKinds
) -> None:
    other_kinds.revise("markdown")
    answer, extracted = again(shelf, pool, database, shelf.world.settings)
    (guide,) = answer["outdated"]
    assert (guide["media_type"], guide["why"], guide["documents"]) == ("text/markdown", "reader", 1)
    assert guide["now"].endswith(".99")
    assert extracted == ["guide.md"]


def test_another_revision_makes_those_outdated_that_have_such_a_file_inside_and_no_other(
    shelf: Library, pool: CountingPool, database: Database, other_kinds: OtherKinds
) -> None:
    boxes = {"guide.zip": {"guide.md": b"# Wicks\n\nTrim them."}, "notes.zip": {"notes.txt": b"plain notes"}}
    for name, members in boxes.items():
        shelf.world.upload(documents.archive(members), key=name, filename=name)
    deliver(shelf, pool)
    pool.taken()
    before, revised = KINDS["markdown"], other_kinds.revise("markdown")
    other_kinds.remove("json")
    answer, extracted = again(shelf, pool, database, shelf.world.settings)
    told = {each["media_type"]: each for each in answer["outdated"]}
    box = told["application/zip"]
    assert (box["why"], box["stored"], box["now"]) == ("inside", before.version, revised.version)
    assert (box["documents"], sorted(told)) == (1, ["application/zip", "text/markdown"])
    assert extracted == ["guide.md", "guide.zip"]


def test_an_archive_is_extracted_again_once_another_reader_would_read_what_is_inside(
    shelf: Library, pool: CountingPool, other_kinds: OtherKinds
) -> None:
    box = documents.archive({"tide.pdf": documents.pdf([["High water"]])})

    def upload(name: str) -> list[str]:
        shelf.world.upload(box, key=name, filename=name)
        deliver(shelf, pool)
        return pool.taken()

    assert upload("first.zip") == ["first.zip"]
    assert upload("second.zip") == []
    other_kinds.revise("markdown")
    assert upload("third.zip") == []
    other_kinds.revise("pdf")
    assert upload("fourth.zip") == ["fourth.zip"]
    assert shelf.find("water") == 4


@pytest.mark.parametrize("contains", [["free-beer", "text-999"], ["a+b"], "markdown", 5])
def test_a_child_is_believed_only_versions_that_there_are(world: World, contains: list[str] | str | int) -> None:
    """What it made up would be compared with the readers of today for ever, and never be of today."""
    key = results.Key(bytes(32), "zip-4.1", "0" * 16)
    told = [*contains, KINDS["pdf"].version] if isinstance(contains, list) else contains
    extraction = extract(Request(b"words"))
    with world.engine.begin() as connection:
        results.store(connection, {key: replace(extraction, facts={"contains": told})})
        assert key in results.find(connection, [key])
    (row,) = world.rows("SELECT extractor FROM results")
    assert row["extractor"].removeprefix("zip-4.1") in {f"+{KINDS['pdf'].version}", ""}


@pytest.mark.usefixtures("shelf")
def test_a_reader_that_is_gone_is_told(client: Client, other_kinds: OtherKinds) -> None:
    other_kinds.remove("markdown")
    told = {each["media_type"]: each for each in outdated(client, dry_run=True)["outdated"]}
    assert (told["text/markdown"]["why"], "now" in told["text/markdown"]) == ("reader", False)
    assert "text/plain" not in told


def test_what_waits_is_skipped_and_what_failed_is_for_the_quarantine(shelf: Library, database: Database) -> None:
    world = shelf.world
    ids = {row["key"]: row["document_id"] for row in world.rows("SELECT key, document_id FROM documents")}
    world.reindex(ids["scan.pdf"])
    failed = world.upload(b"PK\5\6", document_id=ids["guide.md"])
    world.finish(world.lease(failed.job_id)[0], Rejected("unsupported_format", "No."))
    world.delete(ids["notes.txt"])
    with api.serving(database, Settings(extract=Extract(characters=30_000_000))) as other:
        answer = outdated(other)
    assert (answer["accepted"], answer["skipped"]) == (1, 1)
    assert answer["quarantined"] == {"unsupported_format": 1}
    newest = world.row("SELECT * FROM jobs WHERE document_id = :id AND input_version = 2", id=ids["letter.txt"])
    assert newest["priority"] == 2


def test_a_live_worker_that_reads_with_other_settings_is_told(database: Database) -> None:
    def served(extract: Extract) -> list[list[str]]:
        with api.serving(database, Settings(extract=extract)) as client:
            workers = client.get("/v1/workers").raise_for_status().json()["warnings"]
            return [workers, outdated(client, dry_run=True).get("warnings", [])]

    theirs = Extract(characters=30_000_000, ocr_languages="eng", seconds=7, processes=3)
    worker = Presence(Settings(database_url=SecretStr(database.url), extract=theirs), kind="worker")
    worker.start()
    (told,), again = served(Extract())
    assert again == [told]
    assert told == (
        f"Worker {worker.process_id} reads documents with other settings than this server: "
        "FENCEPOST_EXTRACT__CHARACTERS is 30,000,000 there, 20,000,000 here, "
        "FENCEPOST_EXTRACT__OCR_LANGUAGES is eng there, not set here, "
        "FENCEPOST_EXTRACT__SECONDS is 7 there, 30 here."
    )
    assert served(theirs.model_copy(update={"processes": 1})) == [[], []]
    worker.stop()
    assert served(Extract()) == [[], []]


def test_a_silent_worker_may_be_dead_and_is_not_told(world: World, database: Database) -> None:
    theirs = Settings(database_url=SecretStr(database.url), extract=Extract(characters=30_000_000))
    worker = Presence(theirs, kind="worker")
    worker.start()
    with world.engine.connect() as connection:
        assert len(disagreements(connection, world.settings)) == 1
        world.execute("UPDATE processes SET heartbeat_at = heartbeat_at - interval '10 min'")
        assert disagreements(connection, world.settings) == []
    worker.stop()


@pytest.mark.usefixtures("shelf")
def test_one_collection_can_be_chosen(database: Database) -> None:
    with api.serving(database, Settings(extract=Extract(characters=30_000_000))) as other:
        assert found(outdated(other, dry_run=True, collection="nowhere")) == {}
        assert outdated(other, collection="default")["accepted"] == len(FILES)


@pytest.mark.parametrize("wanted", [{"all": True, "dry_run": True}, {"outdated": True, "encoding": "utf-8"}])
def test_what_makes_no_sense_is_refused(client: Client, wanted: dict[str, object]) -> None:
    assert client.post("/v1/reindex", json=wanted).status_code == 422


def test_equal_bytes_are_extracted_once(shelf: Library, pool: CountingPool) -> None:
    shelf.world.upload(FILES["guide.md"], key="copy.md", filename="copy.md")
    twice = documents.pdf([["twins"]])
    shelf.world.upload(twice, key="twin-1", filename="twin-1.pdf")
    shelf.world.upload(twice, key="twin-2", filename="twin-2.pdf")
    deliver(shelf, pool)
    assert len(pool.taken()) == 1
    assert (shelf.find("twins"), shelf.find("lamp")) == (2, 2)


def test_a_reindex_a_replay_and_a_rebuild_extract_nothing(shelf: Library, pool: CountingPool) -> None:
    world = shelf.world
    again = world.reindex(world.row("SELECT document_id FROM documents WHERE key = 'guide.md'")["document_id"])
    world.finish(world.lease(again.job_id)[0], Rejected("index_refused", "The engine did not like it."))
    assert again.job_id is not None
    with world.engine.begin() as connection:
        quarantine.replay(connection, [again.job_id], as_new_version=False, settings=world.settings)
    deliver(shelf, pool)
    assert world.job(again.job_id)["state"] == "succeeded"
    shelf.run(shelf.rebuild())
    assert pool.taken() == []
    assert shelf.find("lamp") == 1
    shelf.check()


def test_a_document_is_read_in_the_encoding_that_somebody_says(
    client: Client, shelf: Library, pool: CountingPool
) -> None:
    def document() -> dict[str, Any]:
        return dict(client.get("/v1/documents?key=letter.txt").json()["items"][0])

    path = f"/v1/documents/{document()['id']}/reindex"
    shelf.world.execute("UPDATE versions SET metadata = '{\"year\": 1991}'")
    assert client.post(f"{path}?encoding=klingon").json()["code"] == "unknown_encoding"
    assert client.post(f"{path}?encoding=cp1251").status_code == 202
    deliver(shelf, pool)
    assert (document()["text"]["encoding"], document()["text"]["encoding_confidence"]) == ("cp1251", 1)
    assert document()["metadata"] == {"year": 1991, "encoding": "cp1251"}
    assert pool.taken() == ["letter.txt"]
    (hit,) = shelf.backend.search(shelf.world.engine, SearchRequest("Привет")).hits
    assert hit.key == "letter.txt"

    client.post("/v1/reindex", json={"documents": [document()["id"]], "encoding": "auto"})
    deliver(shelf, pool)
    assert document()["metadata"] == {"year": 1991}
    assert pool.taken() == [], "that result was there already"


def test_another_encoding_reaches_a_document_that_waits(client: Client, shelf: Library, pool: CountingPool) -> None:
    accepted = shelf.world.upload(CYRILLIC + b"!", key="new.txt", filename="new.txt")
    body = {"documents": [str(accepted.document_id)]}
    assert client.post("/v1/reindex", json=body).json() == {"accepted": 0, "skipped": 1}
    assert client.post("/v1/reindex", json=body | {"encoding": "cp1251"}).json() == {"accepted": 1, "skipped": 0}
    deliver(shelf, pool)
    assert pool.taken() == ["new.txt"]
    assert shelf.find("Привет") == 1


def test_an_encoding_in_the_metadata_that_nobody_knows_fails_in_words(
    client: Client, shelf: Library, pool: CountingPool
) -> None:
    world = shelf.world
    text = world.upload(b"words", key="film.txt", filename="film.txt", metadata={"encoding": "h264"})
    pdf = world.upload(documents.pdf([["a film"]]), key="film.pdf", metadata={"encoding": "h264"})
    deliver(shelf, pool)
    told = client.get(f"/v1/documents/{text.document_id}").json()
    assert (told["failure"]["code"], "h264" in told["failure"]["message"]) == ("unsupported_format", True)
    assert client.get(f"/v1/documents/{pdf.document_id}").json()["state"] == "succeeded"
