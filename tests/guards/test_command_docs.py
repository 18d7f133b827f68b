"""README.md and docs/cli.md speak of the commands that there are, with the options that they have."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from fencepost.cli import app

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| `fencepost ([a-z ]+)` \| (.+) \|$", re.MULTILINE)
EXAMPLE = re.compile(r"(?:^ {4}(?:\$ )?|`)(fencepost [a-z].*?)(?:`|$)", re.MULTILINE)


def commands(group: Any, *path: str) -> Iterator[tuple[str, Any]]:
    """Every command that does something, under its whole name."""
    if not hasattr(group, "commands"):
        yield " ".join(path), group
        return
    for name, command in group.commands.items():
        yield from commands(command, *path, name)


COMMANDS = dict(commands(typer.main.get_command(app)))


def examples() -> Iterator[str]:
    """What the texts and the commands' own help tell people to type."""
    texts = [path.read_text() for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))]
    for text in texts:
        for found in EXAMPLE.findall(text):
            yield found.partition("  #")[0].replace("…", "").strip()
    for command in COMMANDS.values():
        yield from (line.strip() for line in (command.epilog or "").splitlines() if line.startswith("  fencepost "))


def test_every_command_is_listed_with_what_it_does() -> None:
    listed = ROW.findall((ROOT / "docs" / "cli.md").read_text())
    assert dict(listed) == {name: first_sentence(command) for name, command in COMMANDS.items()}
    assert [name for name, _ in listed] == sorted(COMMANDS)


@pytest.mark.parametrize("example", sorted(set(examples())))
def test_an_example_can_be_typed(example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = shlex.split(example)[1:]
    name = next((" ".join(words[:n]) for n in (2, 1) if " ".join(words[:n]) in COMMANDS), None)
    if name is None:
        assert any(known.startswith(f"{words[0]} ") for known in COMMANDS), "a group of commands"
        return
    command, arguments = COMMANDS[name], words[len(name.split()) :]
    monkeypatch.chdir(tmp_path)
    for word in arguments:  # the files that it names
        (tmp_path / word).parent.mkdir(exist_ok=True)
        (Path.mkdir if word.startswith("./") else Path.touch)(tmp_path / word)
    if arguments:
        with command.make_context(name, arguments):
            pass


def first_sentence(command: Any) -> str:
    return " ".join((command.help or "").partition("\n\n")[0].split())
