"""`fencepost outbox`: what waits to be sent to the broker."""

from typing import Annotated

import typer

from fencepost.cli.options import AsJson, Url, server
from fencepost.cli.output import NOTHING, examples, instant, nothing, print_json, print_table

app = typer.Typer(name="outbox", no_args_is_help=True, help="What waits to be sent to the broker.")


@app.command("list", epilog=examples("outbox list"))
def list_all(
    exhausted: Annotated[bool, typer.Option("--exhausted", help="Only what waits for a release.")] = False,
    limit: Annotated[int, typer.Option(min=1)] = 50,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """List what waits to be sent; what the broker refused for good is marked."""
    with server(url) as client:
        found = list(client.items("/v1/outbox", exhausted=exhausted or None, limit=limit))
    if not found:
        raise nothing("nothing waits to be sent.", as_json=as_json, empty=[])
    if as_json:
        print_json(found)
        return
    print_table(
        ["id", "partition", "tries", "due", "exhausted", "last error"],
        (
            (item["id"], item["partition"], item["tries"], instant(item["due_at"]),
             "yes" if item["exhausted"] else "", item["last_error"])
            for item in found
        ),
    )  # fmt: skip


@app.command(epilog=examples("outbox release", "outbox release 17 18"))
def release(
    ids: Annotated[list[int] | None, typer.Argument(metavar="ID", help="Only these.")] = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Let what the broker refused for good travel again."""
    with server(url) as client:
        if ids:
            released = sum(client.post(f"/v1/outbox/{row}/release")["released"] for row in ids)
        else:
            released = client.post("/v1/outbox/release")["released"]
    if as_json:
        print_json({"released": released})
    else:
        typer.echo(f"{released} released")
    if not released:
        raise typer.Exit(NOTHING)
