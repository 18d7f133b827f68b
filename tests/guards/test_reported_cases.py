"""docs/reported-cases.md is complete, and every test that it names is there."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIST = ROOT / "docs" / "reported-cases.md"
ORIGIN = ROOT.parent / "shared" / "hard-cases.md"
ROW = re.compile(r"^\| (C?\d+) \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)
DELAYS = {"delay", "eta"}


def rows() -> list[tuple[str, str, str, str]]:
    return ROW.findall(LIST.read_text())


@cache
def named_in(path: Path) -> frozenset[str]:
    """The names of the tests of a file, which is read and not imported."""
    tree = ast.parse(path.read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_every_row_is_there_once() -> None:
    ids = [row[0] for row in rows()]
    assert len(ids) == len(set(ids)) == LIST.read_text().count("\n| ") - 1, "each line is a row of its own"
    if ORIGIN.exists():
        assert ids == re.findall(r"^\*\*(C?\d+)\.\*\*", ORIGIN.read_text(), re.MULTILINE)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_every_row_names_tests_that_exist_or_a_reason(row: tuple[str, str, str, str]) -> None:
    _, met, does, shown = row
    assert met
    assert does
    names = re.findall(r"`(tests/[^`]+)`", shown)
    if not names:
        assert len(shown.split()) > 4, "a reason is a sentence"
    for path, name in (name.split("::") for name in names):
        assert name.startswith("test_")
        assert name in named_in(ROOT / path), f"{path} has no {name}"


def test_the_broker_is_asked_for_no_delay() -> None:
    """All waiting is done in PostgreSQL: nothing is sent with a time of its own, and no middleware adds one."""
    for package in ("pipeline", "ingest", "indexer", "fencepost"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if not isinstance(node, ast.Call):
                    continue
                called, keywords = ast.unparse(node.func), {keyword.arg: keyword.value for keyword in node.keywords}
                assert not called.endswith(("send_with_options", ".enqueue_at")), path
                if called.endswith(("Message", "enqueue", ".actor")):
                    assert not DELAYS & keywords.keys(), path
                    assert "options" not in keywords or ast.unparse(keywords["options"]) == "{}", path
                if called.endswith("RedisBroker"):
                    assert ast.unparse(keywords["middleware"]) == "[]", path
