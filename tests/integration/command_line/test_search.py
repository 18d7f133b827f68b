"""`fencepost search`: hits for people and for programs."""

import pytest

from indexer.extract import Passage
from indexer.search.backend import Entry
from indexer.search.postgres import Postgres
from pipeline import indexes
from pipeline.acceptance import Acceptance
from tests.integration.command_line.conftest import Run
from tests.support.world import World


@pytest.fixture(autouse=True)
def published(world: World) -> list[Acceptance]:
    """Two published documents."""
    documents = []
    for key, page, words in (("a.pdf", 3, "The lighthouse & its keeper."), ("b.txt", None, "A lighthouse of paper.")):
        accepted = world.upload(words, key=key, title=key.upper(), metadata={"year": 2026 if page else 1999})
        documents.append(accepted)
        document = world.document(accepted.document_id)
        entry = Entry(
            document_id=accepted.document_id, version=1, tombstone=False, collection_id=document["collection_id"],
            key=key, title=key.upper(), media_type="text/plain", metadata={"year": 2026 if page else 1999},
            accepted_at=document["created_at"], passages=[Passage(words, page)],
        )  # fmt: skip
        with world.engine.begin() as connection:
            assert not Postgres().publish(connection, indexes.targets(connection), [entry])
        (held,) = world.lease(accepted.job_id)
        world.finish(held)
    return documents


def test_hits_show_title_page_words_and_score(fencepost: Run) -> None:
    ran = fencepost("search", "keeper")
    assert ran.code == 0
    title, passage, count = ran.out.splitlines()
    assert title.startswith("A.PDF  ")
    assert passage.strip() == "p. 3  The lighthouse & its [keeper]."
    assert count == "1 of 1"


def test_hits_inside_a_member_name_it(fencepost: Run, world: World) -> None:
    accepted = world.upload("zip", key="box.zip")
    document = world.document(accepted.document_id)
    passages = [Passage("The tide turns.", 2, "mail.eml/tide.pdf"), Passage("The tide rests.", None, "notes.txt")]
    entry = Entry(
        document_id=accepted.document_id, version=1, tombstone=False, collection_id=document["collection_id"],
        key="box.zip", title="Box", media_type="application/zip", metadata={}, accepted_at=document["created_at"],
        passages=passages,
    )  # fmt: skip
    with world.engine.begin() as connection:
        assert not Postgres().publish(connection, indexes.targets(connection), [entry])
    lines = [line.strip() for line in fencepost("search", "tide").out.splitlines()]
    assert "mail.eml/tide.pdf  p. 2  The [tide] turns." in lines
    assert "notes.txt  The [tide] rests." in lines


def test_options_after_a_word_that_is_not_wanted(fencepost: Run) -> None:
    assert [hit["key"] for hit in fencepost("search", "--json", "--", "lighthouse", "-paper").json["hits"]] == ["a.pdf"]
    assert [hit["key"] for hit in fencepost("search", "lighthouse -paper", "--json").json["hits"]] == ["a.pdf"]
    assert [hit["key"] for hit in fencepost("search", '"of paper" -keeper', "--json").json["hits"]] == ["b.txt"]


def test_filters_narrow_the_search(fencepost: Run) -> None:
    def keys(*arguments: str) -> list[str]:
        return sorted(hit["key"] for hit in fencepost("search", "lighthouse", *arguments, "--json").json["hits"])

    assert keys() == ["a.pdf", "b.txt"]
    assert keys("--filter", "year=2026") == ["a.pdf"]
    assert keys("--filter", "media_type=text/plain", "--limit", "1") in (["a.pdf"], ["b.txt"])
    assert keys("-c", "default") == ["a.pdf", "b.txt"]
    assert keys("-c", "nowhere") == []


def test_nothing_found_is_4_and_a_filter_that_is_none_is_2(fencepost: Run) -> None:
    assert fencepost("search", "zeppelin").code == 4
    assert fencepost("search", "zeppelin", "--json").json["total"] == 0
    assert fencepost("search", "lighthouse", "--filter", "nonsense").code == 2
    assert fencepost("search", "?").code == 2
