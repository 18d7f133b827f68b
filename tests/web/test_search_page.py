"""The search page on the real index."""

import re
from collections.abc import Mapping
from uuid import UUID

import pytest
from playwright.sync_api import Browser, Page, expect

from indexer.extract import KINDS, Passage
from indexer.search.backend import Entry
from indexer.search.languages import Languages
from indexer.search.postgres import Postgres
from tests.support.rows import OperatedWorld

pytestmark = pytest.mark.browser


DOCX = KINDS["docx"].media_type


def publish(
    world: OperatedWorld,
    title: str,
    *pages: str,
    collection: str = "default",
    media_type: str = "application/pdf",
    language: str | None = None,
    metadata: Mapping[str, object] | None = None,
) -> UUID:
    """A document with these pages, searchable."""
    accepted = world.file(title, collection=collection)
    assert accepted.job_id is not None
    held = world.take(accepted.job_id)
    Languages(world.engine).note([language])
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
                    media_type=media_type,
                    metadata=metadata or {},
                    accepted_at=held.accepted_at,
                    passages=passages,
                    language=language,
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


@pytest.fixture
def shelf(world: OperatedWorld) -> None:
    """Two documents in German, of which one is a PDF, one in English, and one in a language of no known name."""
    publish(world, "Küste", "shared", language="de")
    publish(world, "Hafen", "shared", language="de", media_type=DOCX)
    publish(world, "Coast", "shared", language="en", media_type=DOCX, metadata={"year": 2026})
    publish(world, "Other", "shared", language="tlh", media_type="application/x-other")


def shows(page: Page, *titles: str) -> None:
    """Waits until these documents are the hits, and no others."""
    headings = page.get_by_role("article").get_by_role("heading")
    for title in titles:
        expect(headings.filter(has_text=title)).to_be_visible()
    expect(headings).to_have_count(len(titles))


@pytest.mark.usefixtures("shelf")
def test_what_can_be_chosen_is_what_was_found_with_its_numbers(visit: Page) -> None:
    visit.goto("/search")
    expect(visit.get_by_label("Language")).to_have_count(0)
    search(visit, "shared")
    expect(visit.get_by_label("Language").locator("option")).to_have_text(
        ["all", "German (2)", "English (1)", "tlh (1)"]
    )
    expect(visit.get_by_label("Kind").locator("option")).to_have_text(
        ["all", "docx (2)", "pdf (1)", "application/x-other (1)"]
    )
    expect(visit.get_by_role("article").filter(has_text="Küste")).to_contain_text("pdf · German")


@pytest.mark.usefixtures("shelf")
def test_a_search_is_narrowed_with_the_keyboard_alone_and_widened_again(visit: Page) -> None:
    search(visit, "shared")
    visit.get_by_label("Language").focus()
    visit.keyboard.type("German")
    visit.get_by_label("Kind").focus()
    visit.keyboard.type("docx")
    visit.keyboard.press("Tab")
    visit.keyboard.press("Enter")
    visit.wait_for_url("**filter=language%3Ade**")
    shows(visit, "Hafen")
    expect(visit.get_by_label("Language")).to_have_value("language:de")
    for label, others in (("Language", ["German (1)", "English (1)"]), ("Kind", ["docx (1)", "pdf (1)"])):
        options = visit.get_by_label(label).locator("option")
        assert set(options.all_text_contents()) == {"all", *others}, "what the search has without that filter"
    chips = visit.get_by_label("Narrowed to").get_by_role("link")
    expect(chips).to_have_text([re.compile("language German"), re.compile("kind docx")])

    chips.first.focus()
    visit.keyboard.press("Enter")
    expect(chips).to_have_count(1)
    shows(visit, "Coast", "Hafen")
    chips.first.click()
    expect(chips).to_have_count(0)
    shows(visit, "Coast", "Hafen", "Küste", "Other")


@pytest.mark.usefixtures("shelf")
def test_a_search_is_narrowed_without_scripts(browser: Browser, address: str) -> None:
    context = browser.new_context(base_url=address, java_script_enabled=False)
    page = context.new_page()
    search(page, "shared")
    page.get_by_label("Language").select_option("German (2)")
    page.get_by_role("button", name="Search").click()
    shows(page, "Hafen", "Küste")
    page.reload()
    shows(page, "Hafen", "Küste")
    context.close()


@pytest.mark.usefixtures("shelf")
def test_filters_of_the_api_are_kept_by_the_next_search(visit: Page) -> None:
    visit.goto("/search?q=nothing&collection=default&filter=meta.year:2026&filter=language:en&filter=language:de")
    expect(visit.get_by_text("Take a filter away to see more.")).to_be_visible()
    expect(visit.get_by_label("Narrowed to").get_by_role("link")).to_have_count(4)
    visit.get_by_role("searchbox").fill("shared")
    visit.keyboard.press("Enter")
    expect(visit.get_by_role("status")).to_have_text("1 document")
    shows(visit, "Coast")
    expect(visit.get_by_label("Narrowed to").get_by_role("link")).to_have_count(4)


def test_the_next_page_and_the_collections_keep_the_filters(visit: Page, world: OperatedWorld) -> None:
    for n in range(12):
        publish(world, f"Number {n}", "many", language="de", collection="odd" if n % 2 else "even")
    publish(world, "English", "many", language="en", collection="odd")
    visit.goto("/search?q=many&filter=language:de")
    visit.get_by_role("link", name="Next page").click()
    expect(visit.get_by_role("article")).to_have_count(2)
    visit.get_by_role("link", name="odd", exact=True).click()
    expect(visit.get_by_role("status")).to_have_text("6 documents")


def test_what_cannot_be_searched_is_said_beside_the_form(visit: Page) -> None:
    for path, said in (("?q=!!!", "no word to look for"), ("?q=a&filter=colour:red", "A filter is")):
        answer = visit.goto(f"/search{path}")
        assert answer is not None
        assert answer.status == 422
        expect(visit.get_by_role("status")).to_contain_text(said)
        expect(visit.get_by_role("searchbox")).to_have_count(1)


def test_a_passage_from_right_to_left_is_shown_so(visit: Page, world: OperatedWorld) -> None:
    publish(world, "Tower", "המגדלור של העיר lighthouse")
    search(visit, "lighthouse")
    passage = visit.locator(".passage")
    assert passage.evaluate("element => getComputedStyle(element).direction") == "rtl"
    assert passage.locator(".where").evaluate("element => getComputedStyle(element).direction") == "ltr"
