"""Every page can be read by everybody: without JavaScript, by keyboard, on a telephone, in both colour schemes."""

import re
from datetime import timedelta
from uuid import UUID

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from pipeline.outcomes import Rejected, RetryLater
from tests.support.rows import OperatedWorld

pytestmark = pytest.mark.browser

PATHS = ("/", "/documents", "/quarantine", "/outbox?all=true", "/jobs", "/workers", "/search")

# The lowest contrast of any text with what is behind it, with the text that has it.
CONTRAST = """
() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, n) => sum + c * [0.2126, 0.7152, 0.0722][n], 0);
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = channels(getComputedStyle(e).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
  };
  let worst = [99, ""];
  for (const element of document.querySelectorAll("body *")) {
    const text = [...element.childNodes].filter((n) => n.nodeType === 3).map((n) => n.textContent.trim()).join("");
    if (!text || !element.checkVisibility() || element.closest(".skip, noscript")) continue;
    const [a, b] = [light(channels(getComputedStyle(element).color)), light(ground(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < worst[0]) worst = [ratio, text];
  }
  return worst;
}
"""


@pytest.fixture(autouse=True)
def _something_of_everything(world: OperatedWorld) -> None:
    def job(filename: str) -> UUID:
        job_id = world.file(filename).job_id
        assert job_id is not None
        return job_id

    world.attempt(job("published with quite a long name that does not want to be broken anywhere.pdf"))
    world.attempt(job("broken.pdf"), Rejected("corrupt", "The file ends in the middle."))
    world.attempt(job("retrying.pdf"), RetryLater("busy", "Busy.", delay=timedelta(minutes=5)))
    world.take(job("in-work.pdf"))
    world.age("jobs", "lease_until", timedelta(minutes=1), "state = 'leased'")
    job("queued.txt")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_contrast(visit: Page, scheme: str) -> None:
    visit.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    for path in PATHS:
        visit.goto(path)
        ratio, where = visit.evaluate(CONTRAST)
        assert ratio >= 4.5, f"{path}: {where!r} has a contrast of {ratio:.1f}"


def test_every_page_has_one_heading_a_title_and_labelled_fields(visit: Page) -> None:
    for path in PATHS:
        visit.goto(path)
        assert visit.locator("h1").count() == 1, path
        assert visit.title().endswith(" · Fencepost")
        unlabelled = visit.locator("input:not([type=hidden]), select").evaluate_all(
            "fields => fields.filter((field) => !field.labels.length).map((field) => field.outerHTML)"
        )
        assert unlabelled == [], path


def test_no_page_is_wider_than_a_telephone(visit: Page) -> None:
    visit.set_viewport_size({"width": 360, "height": 740})
    for path in PATHS:
        visit.goto(path)
        wide = visit.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{path} is {wide} px too wide"


def test_the_keyboard_reaches_the_content_first(visit: Page) -> None:
    visit.goto("/documents")

    visit.keyboard.press("Tab")
    expect(visit.get_by_role("link", name="Skip to the content")).to_be_focused()
    visit.keyboard.press("Enter")
    visit.keyboard.press("Tab")

    expect(visit.get_by_label("Files")).to_be_focused()


def test_pages_can_be_read_without_javascript(browser: Browser, address: str) -> None:
    with browser.new_context(java_script_enabled=False, base_url=address) as context:
        page = context.new_page()
        for path, words in (("/", "Something is wrong"), ("/documents", "queued.txt"), ("/quarantine", "broken.pdf")):
            page.goto(path)
            expect(page.locator("main")).to_contain_text(words)


def test_everything_comes_from_here_and_nothing_is_inline(address: str) -> None:
    with httpx.Client(base_url=address) as client:
        for path in PATHS:
            answer = client.get(path).raise_for_status()
            policy = answer.headers["content-security-policy"]
            assert "default-src 'self'" in policy
            assert "unsafe" not in policy
            assert re.findall(r'(?:src|href|action)="(?:https?:)?//', answer.text) == []
            assert re.findall(r"<style|\sstyle=|\son\w+=|<script(?! src=)", answer.text) == []
        for name, kind in (("style.css", "text/css"), ("page.js", "text/javascript"), ("icon.svg", "image/svg+xml")):
            assert client.get(f"/static/{name}").headers["content-type"].startswith(kind)
        assert client.get("/static/../routes.py").status_code == 404
        assert client.get("/static/routes.py").status_code == 404
