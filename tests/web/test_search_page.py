"""The search page on the real index."""

from uuid import UUID

import pytest
from playwright.sync_api import Page, expect

from indexer.extract import Passage
from indexer.search.backend import Entry
from indexer.search.postgres import Postgres
from tests.support.rows import OperatedWorld

pytestmark = pytest.mark.browser


def publish(world: OperatedWorld, title: str, *pages: str, collection: str = "default") -> UUID:
    """A document with these pages, searchable."""
    accepted = world.file(title, collection=collection)
    assert accepted.job_id is not None
    held = world.take(accepted.job_id)
    passages = [Passage(text=text, page=n) for n, text in enumerate(pages, start=1)]
    with world.engine.begin() as connection:
        Postgres().publish(
            connection,
            held.targets,
            [
                Entry(
                    document_id=held.document_id,
                    version=1,
                    tombstone=False,
                    collection_id=held.collection_id,
                    key=None,
                    title=title,
                    media_type="application/pdf",
                    metadata={},
                    accepted_at=held.accepted_at,
                    passages=passages,
                )
            ],
        )
    world.finish(held)
    return accepted.document_id


def search(page: Page, words: str) -> None:
    page.goto("/search")
    page.get_by_role("searchbox").fill(words)
    page.keyboard.press("Enter")


def test_a_hit_shows_its_words_and_its_page(visit: Page, world: OperatedWorld) -> None:
    document_id = publish(world, "Lighthouses", "About the sea.", "The lamp of the old lighthouse was lit at dusk.")
    publish(world, "Gardens", "Roses and beans.")

    search(visit, "dusk")

    expect(visit.get_by_role("status")).to_have_text("1 document")
    hit = visit.get_by_role("article")
    expect(hit.locator("mark")).to_have_text("dusk")
    expect(hit.locator(".passage")).to_contain_text("page 2")
    hit.get_by_role("link", name="Lighthouses").click()
    expect(visit).to_have_url(f"{visit.url.partition('/documents')[0]}/documents/{document_id}")


def test_text_of_a_document_is_never_markup(visit: Page, world: OperatedWorld) -> None:
    publish(world, "<b>Bold</b>", "danger <img src=x onerror=alert(1)> and <script>alert(1)</script> here")

    search(visit, "danger")

    expect(visit.get_by_role("article")).to_contain_text("<img src=x onerror=alert(1)>")
    assert visit.locator("article img, article script, article b").count() == 0


def test_hits_are_filtered_by_collection(visit: Page, world: OperatedWorld) -> None:
    publish(world, "Mine", "shared word", collection="mine")
    publish(world, "Yours", "shared word", collection="yours")
    search(visit, "shared")
    expect(visit.get_by_role("article")).to_have_count(2)

    visit.get_by_role("link", name="yours", exact=True).click()

    expect(visit.get_by_role("article")).to_have_count(1)
    expect(visit.get_by_role("article")).to_contain_text("Yours")
    expect(visit.get_by_label("Collection")).to_have_value("yours")


def test_hits_go_on_to_the_next_page(visit: Page, world: OperatedWorld) -> None:
    for n in range(12):
        publish(world, f"Number {n}", "many of these")
    search(visit, "many")
    expect(visit.get_by_role("article")).to_have_count(10)

    visit.get_by_role("link", name="Next page").click()

    expect(visit.get_by_role("article")).to_have_count(2)


def test_nothing_found_and_nothing_asked_are_told_apart(visit: Page, world: OperatedWorld) -> None:
    publish(world, "Lighthouses", "lamp")
    search(visit, "submarine")
    expect(visit.get_by_text("No document has this.")).to_be_visible()

    visit.goto("/search")
    expect(visit.get_by_text("No document has this.")).to_have_count(0)
