"""How commands speak: results on standard output, for people or as JSON; everything else on standard error."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

DONE, FAILED, USAGE, NOT_REACHED, NOTHING = range(5)
WIDE = 10_000

STATE_STYLES = {
    "queued": "cyan",
    "leased": "blue",
    "retry_wait": "yellow",
    "succeeded": "green",
    "superseded": "dim",
    "quarantined": "bold red",
    "resolved": "dim",
}


def examples(*lines: str) -> str:
    """The end of a command's help."""
    return "Examples:\n\n" + "\n\n".join(f"  fencepost {line}" for line in lines)


def print_json(value: object) -> None:
    """One JSON document on standard output."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None, default=str))


def complain(sentence: str) -> None:
    """One sentence on standard error, without secrets that may have got into it."""
    from pipeline.logs import hide_secrets

    typer.echo(f"fencepost: {hide_secrets(sentence)}", err=True)


def console(*, stderr: bool = False, width: int | None = None) -> "Console":
    """Where tables and colours go; plain text when it is not a terminal."""
    from rich.console import Console

    return Console(stderr=stderr, width=width, highlight=False, soft_wrap=not sys.stdout.isatty())


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table without frames; a column named `state` is coloured."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, name in enumerate(columns):
        # What a row is named by can be copied, and of the rest nothing is left out.
        table.add_column(name, no_wrap=number == 0, overflow="ellipsis" if number == 0 else "fold")
    for row in rows:
        cells = ["" if cell is None else str(cell) for cell in row]
        table.add_row(
            *(
                Text(cell, style=STATE_STYLES.get(cell, "") if name == "state" else "")
                for name, cell in zip(columns, cells, strict=True)
            )
        )
    _print(table)


def print_facts(facts: Iterable[tuple[str, Any]]) -> None:
    """Names and values, one pair a line; what is None or empty is left out."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts:
        if value not in (None, "", {}, []):
            text = json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else str(value)
            table.add_row(name, Text(text, style=STATE_STYLES.get(text, "") if name == "state" else ""))
    _print(table)


def _print(table: "Table") -> None:
    """As wide as the terminal; into a pipe one line a row, for grep and its like."""
    if sys.stdout.isatty():
        console().print(table)
        return
    out = console(width=WIDE)
    with out.capture() as captured:
        out.print(table)
    for line in captured.get().splitlines():
        typer.echo(line.rstrip())


def instant(at: datetime | str | None) -> str | None:
    """A time in a table: to the second, in UTC, and saying so."""
    if at is None:
        return None
    known = datetime.fromisoformat(at) if isinstance(at, str) else at
    return f"{known.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def place(piece: Mapping[str, Any]) -> str:
    """Where a piece of text stands: "scan.pdf · page 3 · Heading"; '' if nothing is known."""
    page = f"page {piece['page']}" if piece.get("page") is not None else None
    return " · ".join(filter(None, (piece.get("member"), page, piece.get("heading"))))


def nothing(what: str, *, as_json: bool, empty: object) -> typer.Exit:
    """The end of a command that found nothing: said to people, an empty answer for programs, exit code 4."""
    if as_json:
        print_json(empty)
    else:
        complain(what)
    return typer.Exit(NOTHING)
