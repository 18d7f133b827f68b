"""The commands about documents: list, show, text, reindex and delete."""

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
    print_facts,
    print_json,
    print_table,
)

if TYPE_CHECKING:
    from fencepost.client import Client

Wait = Annotated[bool, typer.Option("--wait", help="Wait until it is done; say what failed.")]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command("list", epilog=examples("list --state quarantined", "list -c papers --limit 500 --json"))(list_all)
    app.command(epilog=examples("show papers/report.pdf", "show report.pdf --history"))(show)
    app.command("text", epilog=examples("text report.pdf"))(show_text)
    app.command(epilog=examples("reindex report.pdf", "reindex --failed", "reindex --collection papers"))(reindex)
    app.command(epilog=examples("delete report.pdf old-report.pdf"))(delete)


def list_all(
    state: Annotated[str | None, typer.Option(metavar="STATE", help="Such as queued or quarantined.")] = None,
    collection: Collection = None,
    limit: Annotated[int, typer.Option(min=1)] = 50,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """List documents, the newest first."""
    with server(url) as client:
        found = list(client.items("/v1/documents", state=state, collection=collection, limit=limit))
    if not found:
        raise nothing("no document matches.", as_json=as_json, empty=[])
    if as_json:
        print_json(found)
        return
    print_table(
        ["document", "collection", "version", "state", "why"],
        ((each["key"] or each["id"], each["collection"], _versions(each), each["state"], _why(each)) for each in found),
    )


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
    for page in pages:
        if page["page"] is not None:
            console().rule(f"page {page['page']}", align="left", style="dim")
        typer.echo(page["text"])


def reindex(
    names: Annotated[list[str] | None, typer.Argument(metavar="DOC", help="Ids or keys of documents.")] = None,
    collection: Collection = None,
    failed: Annotated[bool, typer.Option("--failed", help="All that are quarantined.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="All documents.")] = False,
    wait: Wait = False,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Process documents again, behind all live uploads: some, those of a collection, the failed ones, or all."""
    if sum([bool(names) or collection is not None, failed, everything]) != 1:
        raise typer.BadParameter("name documents, or give one of --collection, --failed and --all")
    if wait and not names:
        raise typer.BadParameter("--wait is for named documents; follow many with `fencepost status --watch`")
    with server(url) as client:
        wanted = _wanted(client, names or [], collection, failed=failed)
        answer = client.post("/v1/reindex", wanted)
        failures = _failures(client, wanted["documents"]) if wait else []
    if as_json:
        print_json(answer)
    else:
        typer.echo(f"{answer['accepted']} accepted, {answer['skipped']} had nothing to do")
    _end_with(failures)
    if not answer["accepted"] and not answer["skipped"]:
        raise typer.Exit(NOTHING)


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
        failures = _failures(client, [answer["document_id"] for answer in answers]) if wait else []
    if as_json:
        print_json({"deleted": answers, "failed": missing})
    else:
        for failure in missing:
            complain(f"{failure['document']}: {failure['message']}")
        typer.echo(f"{len(answers)} deleted")
    _end_with(failures)
    if missing:
        raise typer.Exit(FAILED if answers else NOTHING)


def _facts(document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for label, field in (
        ("id", "id"), ("key", "key"), ("collection", "collection"), ("title", "title"), ("file", "filename"),
        ("type", "media_type"), ("bytes", "size"), ("metadata", "metadata"), ("state", "state"),
    ):  # fmt: skip
        yield label, document[field]
    yield "version", _versions(document)
    yield "text", document["text_quality"]
    yield "why", _why(document)


def _failures(client: "Client", document_ids: list[str]) -> list[str]:
    """Waits until the newest version of each is settled; returns why any is not indexed."""
    failures = []
    for document_id in document_ids:
        document = client.settled(document_id, client.get(f"/v1/documents/{document_id}")["input_version"])
        if document["failure"] is not None:
            failures.append(f"{document['key'] or document_id}: {_why(document)}")
    return failures


def _end_with(failures: list[str]) -> None:
    """Complains of each and exits with 1, if there are any."""
    for failure in failures:
        complain(failure)
    if failures:
        raise typer.Exit(FAILED)


def _wanted(client: "Client", names: list[str], collection: str | None, *, failed: bool) -> dict[str, Any]:
    if names:
        return {"documents": [client.document(name, collection=collection)["id"] for name in names]}
    if collection is not None:
        return {"collection": collection}
    return {"state": "failed"} if failed else {"all": True}


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


def _why(document: dict[str, Any]) -> str | None:
    failure = document["failure"]
    if failure is not None:
        return f"{failure['message']} {failure['hint']}"
    waiting: str | None = document["waiting"]
    return "deleted" if document["deleted"] and waiting is None else waiting


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
