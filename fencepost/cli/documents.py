"""The commands about documents: list, show, text and delete."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fencepost.cli.options import AsJson, Collection, Name, Names, Url, server
from fencepost.cli.output import (
    FAILED,
    NOTHING,
    complain,
    console,
    examples,
    nothing,
    place,
    print_facts,
    print_json,
    print_table,
)
from fencepost.cli.settled import Wait, end_with, failures_of, why
from pipeline.outcomes import TextQuality

if TYPE_CHECKING:
    from fencepost.client import Client


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command(
        "list", epilog=examples("list --state quarantined", "list --text no_text", "list -c papers --limit 500 --json")
    )(list_all)
    app.command(epilog=examples("show papers/report.pdf", "show report.pdf --history"))(show)
    app.command("text", epilog=examples("text report.pdf"))(show_text)
    app.command(epilog=examples("delete report.pdf old-report.pdf"))(delete)


def list_all(
    state: Annotated[str | None, typer.Option(metavar="STATE", help="Such as queued or quarantined.")] = None,
    text: Annotated[
        TextQuality | None, typer.Option("--text", help="What became of the text that is searchable.")
    ] = None,
    collection: Collection = None,
    limit: Annotated[int, typer.Option(min=1)] = 50,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """List documents, the newest first."""
    with server(url) as client:
        wanted = {"state": state, "text_quality": text, "collection": collection}
        found = list(client.items("/v1/documents", limit=limit, **wanted))
    if not found:
        raise nothing("no document matches.", as_json=as_json, empty=[])
    if as_json:
        print_json(found)
        return
    print_table(
        ["document", "collection", "version", "state", "text", "why"],
        (
            (each["key"] or each["id"], each["collection"], _versions(each), each["state"], each["text_quality"],
             why(each) or _flaw(each))
            for each in found
        ),
    )  # fmt: skip


def show(
    name: Name,
    history: Annotated[bool, typer.Option("--history", help="All versions with their attempts.")] = False,
    collection: Collection = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Show a document: where its newest version is, why it waits or failed, and what is searchable."""
    with server(url) as client:
        document = client.document(name, collection=collection)
        past = client.get(f"/v1/documents/{document['id']}/history", limit=500)["versions"] if history else None
    if as_json:
        print_json(document if past is None else {**document, "history": past})
        return
    print_facts(_facts(document))
    for version in past or []:
        _print_version(version)


def show_text(name: Name, collection: Collection = None, url: Url = None, as_json: AsJson = False) -> None:
    """Print the searchable text of a document, page by page."""
    with server(url) as client:
        document = client.document(name, collection=collection)
        pages = list(_pages(client, document["id"]))
    if as_json:
        print_json({"document_id": document["id"], "pages": pages})
        return
    if not pages:
        complain("There is no text in it.")
    for page in pages:
        if heard := place(page):
            console().rule(heard, align="left", style="dim")
        typer.echo(page["text"])


def delete(
    names: Names, collection: Collection = None, wait: Wait = False, url: Url = None, as_json: AsJson = False
) -> None:
    """Delete documents from the index; uploading one again under its key brings it back."""
    from fencepost.client import Answered

    answers, missing = [], []
    with server(url) as client:
        for name in names:
            try:
                document = client.document(name, collection=collection)
                answers.append(client.delete(f"/v1/documents/{document['id']}"))
            except Answered as error:
                if error.status in {401, 403}:  # so it would be for all of them
                    raise
                missing.append({"document": name, "code": error.code, "message": str(error)})
        failures = failures_of(client, [answer["document_id"] for answer in answers]) if wait else []
    if as_json:
        print_json({"deleted": answers, "failed": missing})
    else:
        for failure in missing:
            complain(f"{failure['document']}: {failure['message']}")
        typer.echo(f"{len(answers)} deleted")
    end_with(failures)
    if missing:
        raise typer.Exit(FAILED if answers else NOTHING)


def _facts(document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    from pipeline.text_facts import NAMED

    for label, field in (
        ("id", "id"), ("key", "key"), ("collection", "collection"), ("title", "title"), ("file", "filename"),
        ("type", "media_type"), ("bytes", "size"), ("metadata", "metadata"), ("state", "state"),
    ):  # fmt: skip
        yield label, document[field]
    yield "version", _versions(document)
    yield "text", document["text_quality"]
    if (text := document["text"]) is not None:
        yield from (("", sentence) for sentence in text["sentences"])
        yield from (("", f"  {failed}") for failed in text["partial"][NAMED:])
        yield "hint", text["hint"]
    yield "why", why(document)


def _pages(client: "Client", document_id: str) -> Iterator[dict[str, Any]]:
    cursor = None
    while True:
        answer = client.get(f"/v1/documents/{document_id}/text", cursor=cursor, limit=500)
        yield from answer["pages"]
        cursor = answer["next"]
        if cursor is None:
            return


def _versions(document: dict[str, Any]) -> str:
    newest, published = document["input_version"], document["published_version"]
    if newest == published:
        return str(newest)
    return f"{newest} (searchable: {published or 'none'})"


def _flaw(document: dict[str, Any]) -> str | None:
    """What is wrong or doubtful with the text that is searchable, if anything, and what helps."""
    text = document["text"]
    if text is None or (document["text_quality"] == TextQuality.OK and text["hint"] is None):
        return None
    return " ".join(filter(None, (text["sentences"][0], text["hint"])))


def _print_version(version: dict[str, Any]) -> None:
    typer.echo(
        f"\nversion {version['input_version']}: {version['operation']}, {version['state']}, {version['accepted_at']}"
    )
    for attempt in version["attempts"]:
        stages = ", ".join(
            f"{name.removesuffix('_ms')} {spent} ms" for name, spent in attempt["stages"].items() if spent is not None
        )
        outcome = attempt["outcome"] or "in work"
        said = f": {attempt['message']}" if attempt["message"] else ""
        typer.echo(
            f"  attempt of generation {attempt['generation']} by worker {attempt['worker_id']}, "
            f"{attempt['started_at']}: {outcome}{said}" + (f" ({stages})" if stages else "")
        )
