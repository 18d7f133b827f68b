"""The documents say what the code does: states, events and settings."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr

from pipeline.settings import PREFIX, Settings
from pipeline.states import EDGES, State

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PACKAGES = ("pipeline", "ingest", "indexer", "fencepost")


def test_the_diagram_of_states_has_exactly_the_edges_of_the_code() -> None:
    text = (DOCS / "states.md").read_text()
    drawn = re.findall(r"^    (\w+) --> (\w+): ([A-Z])$", text, re.MULTILINE)

    assert {(State(start), State(end)) for start, end, _ in drawn} == EDGES
    assert len(drawn) == len(EDGES), "each edge is drawn once"
    letters = [letter for _, _, letter in drawn]
    explained = re.findall(r"^- \*\*([A-Z])\*\* ", text, re.MULTILINE)
    assert letters == explained, "every edge has a letter, and its cause below, in the same order"
    assert all(f"`{state}`" in text for state in State)


def test_every_event_is_documented_and_every_documented_event_exists() -> None:
    documented = re.findall(r"^\| `([a-z]+\.[a-z_]+)` \|", (DOCS / "events.md").read_text(), re.MULTILINE)

    assert documented == sorted(documented)
    assert set(documented) == set(emitted())


def test_every_setting_is_documented_with_its_default() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| .+ \|$", (DOCS / "settings.md").read_text(), re.MULTILINE)

    assert dict(rows) == dict(defaults(Settings))
    assert len(rows) == len(dict(rows)), "each once"


def emitted() -> Iterator[str]:
    """The names of all events that the code emits."""
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            tree = ast.parse(path.read_text())
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "events.emit":
                    yield from names_in(node.args[0], tree)


def names_in(name: ast.expr, tree: ast.Module) -> Iterator[str]:
    """The one name, both of `a if … else b`, or those that a variable is given in the same file."""
    match name:
        case ast.Constant(value=str(value)):
            yield value
        case ast.IfExp(body=body, orelse=orelse):
            yield from names_in(body, tree)
            yield from names_in(orelse, tree)
        case ast.Name(id=variable):
            for node in ast.walk(tree):
                if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == variable:
                    yield from names_in(node.value, tree)
        case _:
            msg = f"an event's name must be readable where it is emitted: {ast.unparse(name)}"
            raise AssertionError(msg)


def defaults(model: type[BaseModel], prefix: str = PREFIX) -> Iterator[tuple[str, str]]:
    """Every variable with its default as docs/settings.md writes it."""
    for name, field in model.model_fields.items():
        variable = f"{prefix}{name.upper()}"
        if isinstance(field.default, BaseModel):
            yield from defaults(type(field.default), f"{variable}__")
        else:
            yield variable, written(field.default)


def written(value: Any) -> str:
    if isinstance(value, SecretStr) or value is None:
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"
