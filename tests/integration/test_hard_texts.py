"""Texts on which indexing or searching broke elsewhere, through a real worker and then found."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

import pytest

from fencepost.local.postgres import LocalPostgres
from fencepost.local.valkey import LocalValkey
from indexer.search.backend import Hit, SearchRequest
from indexer.search.postgres import Postgres
from tests.support import documents
from tests.support.sessions import shared
from tests.support.waiting import until
from tests.support.world import World

PAGES = 950
UNIQUE = " ".join(f"token{n:06d}" for n in range(230_000))
UPLOADS: dict[str, dict[str, object]] = {
    "pages": {"content": documents.pdf([f"leaf {n}", "buried treasure" if n == 900 else ""] for n in range(1, PAGES))},
    "unique": {"content": UNIQUE},
    "nul": {"content": "before \0after \x01 \x0c end"},
    "metadata": {"content": "many fields", "metadata": {f"field {n}": n for n in range(2000)} | {"blob": "x" * 60_000}},
    "number": {"content": "a number", "metadata": {"n": 1e300}},
}


@dataclass
class Library:
    """The documents, each under its name."""

    world: World
    ids: dict[str, UUID]

    def find(self, text: str) -> list[Hit]:
        return Postgres().search(self.world.engine, SearchRequest(text=text)).hits


@pytest.fixture(scope="module")
def library(postgres: LocalPostgres, valkey: LocalValkey) -> Iterator[Library]:
    with shared(postgres, valkey) as (world, stack):
        stack.start("relay")
        stack.start("worker")
        uploads = {key: world.upload(**{"key": key, **fields}) for key, fields in UPLOADS.items()}  # type: ignore[arg-type]
        until(lambda: world.row("SELECT count(*) AS n FROM jobs WHERE finished_at IS NULL")["n"] == 0, seconds=60)
        states = world.rows("SELECT d.key, j.state FROM jobs j JOIN documents d USING (document_id)")
        assert {row["key"]: row["state"] for row in states} == dict.fromkeys(UPLOADS, "succeeded"), stack.logs()
        yield Library(world, {key: accepted.document_id for key, accepted in uploads.items()})


def test_a_phrase_far_into_a_long_document_is_found_on_its_page(library: Library) -> None:
    (hit,) = library.find('"buried treasure"')
    assert (hit.key, [passage.page for passage in hit.passages]) == ("pages", [900])


@pytest.mark.parametrize("token", ["token000000", "token115000", "token229999"])
def test_of_megabytes_of_words_that_occur_once_each_is_found(library: Library, token: str) -> None:
    assert [hit.key for hit in library.find(token)] == ["unique"]


def test_characters_that_a_database_refuses_cost_no_document_and_no_search(library: Library) -> None:
    assert [hit.key for hit in library.find("after")] == ["nul"]
    assert [hit.key for hit in library.find("aft\0er")] == ["nul"]


def test_metadata_of_any_size_is_kept(library: Library) -> None:
    assert [hit.key for hit in library.find('"many fields"')] == ["metadata"]
    kept = library.world.row("SELECT metadata FROM versions WHERE document_id = :id", id=library.ids["metadata"])
    assert len(json.dumps(kept["metadata"])) > 60_000


def test_a_shorter_version_leaves_no_page_of_the_longer_one(library: Library) -> None:
    world = library.world
    library.world.upload(documents.pdf([["only leaf"]]), key="pages")
    until(lambda: world.row("SELECT count(*) AS n FROM jobs WHERE finished_at IS NULL")["n"] == 0, seconds=30)
    assert library.find('"buried treasure"') == []
    assert [hit.key for hit in library.find('"only leaf"')] == ["pages"]
