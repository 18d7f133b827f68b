"""Logging in and out in a real browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from pipeline import keys
from pipeline.caller import Scope
from tests.support import shelves, tabs
from tests.support.servers import Database
from tests.support.shelves import Scene
from tests.web.test_access import CONTRAST

pytestmark = pytest.mark.browser

PATIENCE_MS = 15_000


@pytest.fixture
def scene(database: Database) -> Iterator[Scene]:
    with shelves.staged(database) as scene:
        yield scene


@pytest.fixture
def tab(browser: Browser, scene: Scene) -> Iterator[Page]:
    with tabs.opened(browser, str(scene.client.base_url).rstrip("/")) as page:
        yield page


def log_in(tab: Page, token: str) -> None:
    tab.get_by_label("Key").fill(token)
    tab.get_by_role("button", name="Log in").click()


def test_logging_in_leads_to_the_page_and_logging_out_closes_it(tab: Page, scene: Scene) -> None:
    scene.shelf("harbour")
    tab.goto("/documents?state=quarantined")
    expect(tab.get_by_label("Key")).to_be_focused()
    log_in(tab, "wrong")
    expect(tab.get_by_role("alert")).to_contain_text("not known here")
    log_in(tab, scene.key())

    expect(tab.get_by_role("heading", name="Documents")).to_be_visible()
    assert tab.url.endswith("/documents?state=quarantined")
    expect(tab.get_by_role("main")).to_contain_text("broken harbour")
    (cookie,) = tab.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["secure"]) == (True, "Strict", False)
    assert tab.evaluate("document.cookie") == ""

    tab.get_by_role("button", name="Log out").click()

    expect(tab.get_by_role("heading", name="Log in")).to_be_visible()
    assert tab.context.cookies() == []
    tab.go_back()
    expect(tab.get_by_role("heading", name="Log in")).to_be_visible()


def test_files_are_dropped_and_buttons_work_with_the_cookie(tab: Page, scene: Scene) -> None:
    shelf = scene.shelf()
    tab.goto("/documents")
    log_in(tab, scene.key(Scope.ADMIN, shelf.name))
    expect(tab.get_by_label("Into the collection")).to_have_value(shelf.name)
    tab.get_by_label("Files").set_input_files({"name": "note.txt", "mimeType": "text/plain", "buffer": b"hello"})
    expect(tab.get_by_label("Uploads")).to_contain_text("queued", timeout=PATIENCE_MS)

    tab.goto(f"/documents/{shelf.broken.document_id}")
    tab.get_by_role("button", name="Reindex").click()

    expect(tab.get_by_role("main")).to_contain_text("Version 2 is queued", timeout=PATIENCE_MS)


def test_a_page_whose_key_is_revoked_asks_for_another_by_itself(tab: Page, scene: Scene) -> None:
    token = scene.key()
    tab.goto("/documents")
    log_in(tab, token)
    expect(tab.get_by_role("heading", name="Documents")).to_be_visible()

    scene.ask(scene.key(), "DELETE", f"/v1/keys/{keys.prefix_of(token)}")

    expect(tab.get_by_role("heading", name="Log in")).to_be_visible(timeout=PATIENCE_MS)
    assert tab.url.endswith("/documents")


def test_a_link_on_another_site_finds_whoever_has_logged_in(tab: Page, scene: Scene) -> None:
    """A strict cookie does not come along with it; the page then asks for itself once more."""
    tab.goto("/documents")
    log_in(tab, scene.key())
    expect(tab.get_by_role("heading", name="Documents")).to_be_visible()
    here = str(scene.client.base_url).rstrip("/")
    elsewhere = here.replace("127.0.0.1", "localhost")
    tab.goto(f"{elsewhere}/static/icon.svg")
    tab.evaluate("where => location.assign(where)", f"{here}/jobs")

    expect(tab.get_by_role("heading", name="Jobs")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_form_can_be_read_by_everybody(tab: Page, scheme: str) -> None:
    tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    tab.set_viewport_size({"width": 360, "height": 740})
    tab.goto("/")
    ratio, where = tab.evaluate(CONTRAST)
    assert ratio >= 4.5, where
    assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    assert tab.locator("h1").count() == 1


def test_without_javascript_people_log_in_too(browser: Browser, scene: Scene) -> None:
    with browser.new_context(java_script_enabled=False, base_url=str(scene.client.base_url)) as context:
        page = context.new_page()
        page.goto("/jobs")
        log_in(page, scene.key())
        expect(page.get_by_role("heading", name="Jobs")).to_be_visible()
