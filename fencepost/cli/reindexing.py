"""`fencepost reindex`: read documents again."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fencepost.cli.options import AsJson, Collection, Url, server
from fencepost.cli.output import NOTHING, complain, examples, print_json, print_table
from fencepost.cli.settled import Wait, end_with, failures_of

if TYPE_CHECKING:
    from fencepost.client import Client

CHANGED = {
    "reader": "its reader has changed",
    "inside": "a reader of what is inside has changed",
    "settings": "limits, OCR or encoding have changed",
}


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        epilog=examples(
            "reindex report.pdf",
            "reindex letter.txt --encoding cp1251 --wait",
            "reindex --failed",
            "reindex --collection papers",
            "reindex --outdated --dry-run",
        )
    )(reindex)


def reindex(
    names: Annotated[list[str] | None, typer.Argument(metavar="DOC", help="Ids or keys of documents.")] = None,
    collection: Collection = None,
    failed: Annotated[bool, typer.Option("--failed", help="All that are quarantined.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="All documents.")] = False,
    outdated: Annotated[
        bool, typer.Option("--outdated", help="Those that today's readers and settings would read anew.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --outdated: only count them.")] = False,
    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help="Read text in it from now on; `auto` forgets what was given.")
    ] = None,
    wait: Wait = False,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Process documents again, behind all live uploads: some, a collection, the failed, the outdated, or all."""
    if sum([bool(names) or (collection is not None and not outdated), failed, everything, outdated]) != 1:
        raise typer.BadParameter("name documents, or give one of --collection, --failed, --outdated and --all")
    if wait and not names:
        raise typer.BadParameter("--wait is for named documents; follow many with `fencepost status --watch`")
    if dry_run and not outdated:
        raise typer.BadParameter("--dry-run is for --outdated")
    with server(url) as client:
        wanted = _wanted(client, names or [], collection, failed=failed, outdated=outdated)
        more = {"encoding": encoding, "dry_run": dry_run or None}
        answer = client.post("/v1/reindex", wanted | {name: value for name, value in more.items() if value is not None})
        failures = failures_of(client, wanted["documents"]) if wait else []
    if as_json:
        print_json(answer)
    elif outdated:
        _tell_outdated(answer)
    else:
        typer.echo(f"{answer['accepted']} accepted, {answer['skipped']} had nothing to do")
    end_with(failures)
    if not answer["accepted"] and not answer["skipped"] and not answer.get("outdated"):
        raise typer.Exit(NOTHING)


def _wanted(
    client: "Client", names: list[str], collection: str | None, *, failed: bool, outdated: bool
) -> dict[str, Any]:
    if names:
        return {"documents": [client.document(name, collection=collection)["id"] for name in names]}
    if outdated:
        return {"outdated": True} | ({"collection": collection} if collection is not None else {})
    if collection is not None:
        return {"collection": collection}
    return {"state": "failed"} if failed else {"all": True}


def _tell_outdated(answer: dict[str, Any]) -> None:
    if answer["outdated"]:
        print_table(
            ["media type", "documents", "read by", "now", "why"],
            (
                (each["media_type"], f"{each['documents']:,}", each["stored"], each.get("now", "nothing"),
                 CHANGED[each["why"]])
                for each in answer["outdated"]
            ),
        )  # fmt: skip
    found = sum(each["documents"] for each in answer["outdated"])
    told = f"{found:,} would be read anew" if answer["dry_run"] else f"{answer['accepted']:,} accepted"
    typer.echo(f"{told}, {answer['skipped']:,} wait anyway")
    for code, n in answer["quarantined"].items():
        again = f"fencepost quarantine replay --all --code {code}"
        typer.echo(f"{n:,} in quarantine ({code}); if a newer reader or another setting helps: {again}")
    for warning in answer.get("warnings", []):
        complain(warning)
