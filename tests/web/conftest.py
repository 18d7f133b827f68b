"""A real browser on the real application, whose jobs are moved by the test.

Without a Chromium these tests are skipped with one line; where CI is set they fail instead.
"""

import os
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from pipeline.settings import environment
from tests.support import api, tabs
from tests.support.rows import OperatedWorld
from tests.support.servers import Database

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

BLIND = "no Chromium here; install one to test the pages"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Gives all tests that are skipped for want of a browser one place, so that they are told in one line."""
    report = yield
    if isinstance(report.longrepr, tuple) and report.longrepr[2].endswith(BLIND):
        report.longrepr = __file__, 1, BLIND
    return report


def chromium(playwright: Playwright) -> str | None:
    """The path of a Chromium: the system's, or the one that Playwright has installed."""
    installed = [path for path in map(shutil.which, NAMES) if path] + [playwright.chromium.executable_path]
    return next((path for path in installed if Path(path).is_file()), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        path = chromium(playwright)
        if path is None:
            if environment().get("CI"):
                pytest.fail("CI must have a Chromium: `playwright install chromium`")
            pytest.skip(BLIND)
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        with playwright.chromium.launch(executable_path=path, args=arguments) as browser:
            yield browser


@pytest.fixture
def world(database: Database) -> OperatedWorld:
    """A relay, a worker and a sweeper run."""
    world = OperatedWorld(database.engine).run()
    world.process("sweeper")
    return world


@pytest.fixture
def address(database: Database, world: OperatedWorld) -> Iterator[str]:
    """Where the application of this test is."""
    with api.serving(database, world.settings) as client:
        yield str(client.base_url).rstrip("/")


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Page]:
    """A tab that may be offline."""
    with tabs.opened(browser, address, "ERR_INTERNET_DISCONNECTED") as page:
        yield page
