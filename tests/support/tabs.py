"""A tab of a real browser that is listened to."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page

REFUSALS = "status of 4"
"""The browser complains of each answer of a kind that tests ask for."""


@contextmanager
def opened(browser: Browser, address: str, *expected: str) -> Iterator[Page]:
    """Fails in the end if the page had an error in its script or broke its own content policy.

    Complaints with one of the `expected` words are none.
    """
    context = browser.new_context(base_url=address)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    yield page
    context.close()
    assert [text for text in complaints if not any(words in text for words in (REFUSALS, *expected))] == []
