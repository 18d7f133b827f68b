"""What the pages show of texts: no quality is a failure, each is explained, and the text can be read in its places."""

import pytest
from playwright.sync_api import Page, expect

from indexer.extract import Passage
from pipeline.acceptance import Acceptance
from pipeline.outcomes import Rejected
from tests.support.read import publish
from tests.support.rows import OperatedWorld

pytestmark = pytest.mark.browser

FAILED = [f"member {n}.pdf: it needs a password" for n in range(5)]
PIECES = [
    Passage("Dear Ada,\n", None, None, "Letter"),
    Passage("see what is enclosed.", None, None, "Letter › Enclosures"),
    Passage("The log of the keeper.", 1, "box.zip/log.pdf"),
    Passage("Second page", 2, "box.zip/log.pdf"),
]


@pytest.fixture
def shelf(world: OperatedWorld) -> dict[str, Acceptance]:
    """One document of each quality."""
    files = {
        name: world.file(name) for name in ("scan.pdf", "long.txt", "box.zip", "garbage.pdf", "good.txt", "fails.pdf")
    }
    publish(world, files["scan.pdf"], "no_text", pages=12, pages_without_text=12, characters=0)
    publish(world, files["long.txt"], "truncated", characters=20_000_000, truncated=True)
    publish(world, files["box.zip"], "partial", PIECES, partial=FAILED, characters=60)
    publish(world, files["garbage.pdf"], "text_unreliable", pages=1, pages_without_text=0, characters=99)
    publish(world, files["good.txt"], "ok", characters=10, encoding="cp1251", encoding_confidence=0.8)
    return files


def test_the_list_has_a_neutral_badge_for_each_and_a_filter(visit: Page, shelf: dict[str, Acceptance]) -> None:
    visit.goto("/documents")
    expect(visit.locator(".quality")).to_have_text(["unreliable", "read in part", "cut", "no text"])
    row = visit.get_by_role("row", name="scan.pdf")
    expect(row).to_contain_text("Nothing to read was found")
    expect(row.locator(".state")).to_have_text("published")
    visit.get_by_label("Text").select_option("no text")
    visit.get_by_role("button", name="Show").click()
    expect(visit.locator("tbody tr")).to_have_count(1)
    expect(visit.get_by_label("Text")).to_have_value("no_text")
    visit.goto("/documents?text_quality=ok")
    expect(visit.locator("tbody tr")).to_have_count(1)
    assert len(shelf) == 6


@pytest.mark.parametrize(
    ("name", "file"),
    [("Read", "good.txt"), ("No text", "scan.pdf"), ("Cut", "long.txt"), ("Read in part", "box.zip"),
     ("Unreliable", "garbage.pdf")],
)  # fmt: skip
def test_the_overview_leads_to_the_texts_of_each_quality(
    visit: Page, shelf: dict[str, Acceptance], name: str, file: str
) -> None:
    visit.goto("/")
    card = visit.locator("[data-part=texts] .card", has=visit.get_by_text(name, exact=True))
    expect(card.locator(".value")).to_have_text("1")
    card.click()
    expect(visit.locator("tbody tr")).to_have_count(1)
    expect(visit.locator("tbody tr")).to_contain_text(file)
    assert file in shelf


def test_the_list_says_what_helps(visit: Page, shelf: dict[str, Acceptance], world: OperatedWorld) -> None:
    job_id = shelf["fails.pdf"].job_id
    assert job_id is not None
    world.attempt(job_id, Rejected("corrupt", "The file ends in the middle."))
    visit.goto("/documents")
    for name, helps in (
        ("scan.pdf", "set FENCEPOST_EXTRACT__OCR_LANGUAGES"),
        ("long.txt", "cut at 20,000,000 characters"),
        ("box.zip", "member 0.pdf: it needs a password"),
        ("good.txt", "--encoding NAME"),
        ("fails.pdf", "The file ends in the middle. Open and save the file"),
    ):
        expect(visit.get_by_role("row", name=name)).to_contain_text(helps)


def test_an_empty_list_tells_whether_a_filter_is_why(visit: Page, world: OperatedWorld) -> None:
    for path, empty in (("/documents", "No documents here yet."), ("/quarantine", "Nothing needs a person.")):
        visit.goto(path)
        expect(visit.locator(".empty")).to_have_text(empty)
    world.attempt(world.job_of("fails.pdf"), Rejected("corrupt", "The file ends in the middle."))
    for path in ("/documents", "/quarantine"):
        visit.goto(f"{path}?collection=elsewhere")
        expect(visit.locator(".empty")).to_contain_text("matches.")
        visit.get_by_role("link", name="Show all").click()
        expect(visit.get_by_role("link", name="fails.pdf")).to_be_visible()


def test_long_names_of_members_are_wrapped(visit: Page, world: OperatedWorld) -> None:
    file = world.file("box.zip", metadata={"w" * 80: "v" * 400})
    member = f"box.zip/folder/{'long' * 100}.eml"
    publish(world, file, "partial", [Passage("words", 1, member)], partial=[f"{member}: it is damaged"] * 4)
    visit.set_viewport_size({"width": 390, "height": 800})
    for path in ("/documents", f"/documents/{file.document_id}", f"/documents/{file.document_id}/text"):
        visit.goto(path)
        assert visit.evaluate("document.documentElement.scrollWidth") == 390, path


def test_names_from_right_to_left_keep_their_order(visit: Page, world: OperatedWorld) -> None:
    file = world.file("מגדלור (1)")
    publish(world, file)
    visit.goto(f"/documents/{file.document_id}")
    name = visit.get_by_role("heading", level=1).locator("bdi")
    expect(name).to_have_text("מגדלור (1)")
    assert name.evaluate("element => getComputedStyle(element).direction") == "rtl"


def test_a_scan_is_searchable_and_says_what_helps(visit: Page, shelf: dict[str, Acceptance]) -> None:
    visit.goto(f"/documents/{shelf['scan.pdf'].document_id}")
    expect(visit.locator(".verdict.bad, .verdict.warn")).to_have_count(0)
    text = visit.locator("[data-part=text]")
    expect(text).to_contain_text("12 pages, all of them without text: probably scanned.")
    expect(text).to_contain_text("FENCEPOST_EXTRACT__OCR_LANGUAGES")


def test_failed_parts_are_listed(visit: Page, shelf: dict[str, Acceptance]) -> None:
    visit.goto(f"/documents/{shelf['box.zip'].document_id}")
    text = visit.locator("[data-part=text]")
    expect(text).to_contain_text("and 2 more.")
    text.get_by_text("All 5 parts").click()
    expect(text.locator("li")).to_have_text(FAILED)


def test_the_text_is_shown_in_its_places(visit: Page, shelf: dict[str, Acceptance]) -> None:
    visit.goto(f"/documents/{shelf['box.zip'].document_id}")
    visit.get_by_role("link", name="Text", exact=True).click()
    expect(visit.locator(".place")).to_have_text(
        ["Letter", "Letter › Enclosures", "box.zip/log.pdf · page 1", "box.zip/log.pdf · page 2"]
    )
    expect(visit.locator(".text").nth(1)).to_have_text("see what is enclosed.")
    visit.goto(f"/documents/{shelf['scan.pdf'].document_id}/text")
    expect(visit.locator("main")).to_contain_text("There is no text in it.")
    visit.goto(f"/documents/{shelf['fails.pdf'].document_id}/text")
    expect(visit.locator("main")).to_contain_text("has no stored text")


def test_another_encoding_is_asked_for_on_the_page(
    visit: Page, shelf: dict[str, Acceptance], world: OperatedWorld
) -> None:
    visit.goto(f"/documents/{shelf['good.txt'].document_id}")
    text = visit.locator("[data-part=text]")
    expect(text).to_contain_text("Read as cp1251 (80 % sure)")
    expect(text).to_contain_text("If its words look wrong, reindex it with its encoding")
    text.get_by_label("another encoding").fill("klingon")
    text.get_by_role("button").click()
    expect(text).to_contain_text("There is no encoding 'klingon'")
    text.get_by_label("another encoding").fill("koi8-r")
    text.get_by_role("button").click()
    expect(visit.locator(".verdict")).to_contain_text("Version 2 is queued")
    newest = world.row("SELECT metadata FROM versions WHERE input_version = 2")
    assert newest["metadata"] == {"encoding": "koi8-r"}


def test_what_can_be_read_is_said_where_files_are_dropped(visit: Page) -> None:
    visit.goto("/documents")
    expect(visit.locator("#upload")).to_contain_text("pdf, docx")
