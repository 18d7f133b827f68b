"""`fencepost search`: the documents that match, with the places where they do."""

import html
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fencepost.cli.options import AsJson, Collection, Url, pairs, server
from fencepost.cli.output import console, examples, nothing, print_json

if TYPE_CHECKING:
    from rich.text import Text

MARK = re.compile("<mark>(.*?)</mark>", re.DOTALL)
SPACES = re.compile(r"\s+")


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        epilog=examples("search '\"breeches buoy\" -museum'", "search harbour --filter year=2026 --limit 3"),
    )(search)


def search(
    query: Annotated[
        list[str],
        typer.Argument(metavar="QUERY", help="Words, \"phrases\", OR, -unwanted words ('in quotes', or after --)."),
    ],
    collection: Collection = None,
    filters: Annotated[
        list[str] | None,
        typer.Option("--filter", metavar="K=V", help="media_type=…, language=… or metadata; may be repeated."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100)] = 10,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Search, and show title, page, words around and score of each hit."""
    conditions = [
        f"{name if name in {'media_type', 'language'} else 'meta.' + name.removeprefix('meta.')}:{value}"
        for name, value in pairs(filters or [], option="--filter").items()
    ]
    with server(url) as client:
        found = client.get(
            "/v1/search", q=" ".join(query), collection=collection, filter=conditions or None, limit=limit
        )
    if not found["hits"]:
        raise nothing("nothing matches.", as_json=as_json, empty=found)
    if as_json:
        print_json(found)
        return
    for hit in found["hits"]:
        show(hit)
    more = "more than " if found.get("total_capped") else ""
    typer.echo(f"{len(found['hits'])} of {more}{found['total']}")


def show(hit: dict[str, Any]) -> None:
    """Prints one hit for people."""
    from rich.text import Text

    out = console()
    title = Text(hit["title"] or hit["key"] or hit["document_id"], style="bold")
    out.print(title, Text(f"  {hit['score']:.2f}  {hit['key'] or hit['document_id']}", style="dim"), sep="")
    for passage in hit["passages"]:
        page = f"p. {passage['page']}" if passage["page"] is not None else None
        where = "  ".join(filter(None, (passage["member"], page)))
        out.print(Text(f"  {where}  " if where else "  ", style="cyan"), _highlighted(passage["html"]), sep="")


def _highlighted(marked: str) -> "Text":
    """Escaped HTML with <mark> as text with colours; without a terminal the marks are shown as [words]."""
    from rich.text import Text

    colours = console().is_terminal
    text = Text()
    for n, part in enumerate(MARK.split(marked)):
        plain = SPACES.sub(" ", html.unescape(part))
        is_marked = n % 2 == 1
        text.append(
            f"[{plain}]" if is_marked and not colours else plain, style="bold black on yellow" if is_marked else ""
        )
    return text
