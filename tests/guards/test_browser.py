"""A suite without a browser says so in one line, and fails where a browser is a duty."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.stack import ROOT, clean_environment


@pytest.fixture
def blind(tmp_path: Path) -> dict[str, str]:
    """An environment in which no Chromium is found."""
    kept = {name: value for name, value in clean_environment().items() if name != "CI"}
    return kept | {"PATH": str(tmp_path), "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path)}


def run_page_tests(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/web/test_search_page.py"]
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)


def test_without_a_browser_the_page_tests_are_skipped_in_one_line(blind: dict[str, str]) -> None:
    ran = run_page_tests(blind)
    assert ran.returncode == 0, ran.stdout
    (line,) = [line for line in ran.stdout.splitlines() if line.startswith("SKIPPED")]
    assert re.match(r"SKIPPED \[\d+\] .*no Chromium here", line)
    assert re.search(r"=+ \d+ skipped in ", ran.stdout.splitlines()[-1])


def test_where_ci_is_set_a_missing_browser_fails(blind: dict[str, str]) -> None:
    ran = run_page_tests(blind | {"CI": "true"})
    assert ran.returncode == 1, ran.stdout
    assert "CI must have a Chromium" in ran.stdout
    assert "skipped" not in ran.stdout.splitlines()[-1]
