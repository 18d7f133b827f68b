"""`fencepost quarantine`: look at what needs a person, and decide."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fencepost.cli.options import AsJson, Collection, Name, Url, server
from fencepost.cli.output import (
    FAILED,
    NOTHING,
    complain,
    examples,
    instant,
    nothing,
    print_facts,
    print_json,
    print_table,
)

if TYPE_CHECKING:
    from fencepost.client import Client

app = typer.Typer(
    name="quarantine",
    no_args_is_help=True,
    help="What failed for good and needs a person: look, replay, dismiss, assign.",
)
UNKNOWN = {"document_not_found", "job_not_found"}

Chosen = Annotated[list[str] | None, typer.Argument(metavar="DOC", help="Ids or keys of documents, or job ids.")]
Everything = Annotated[bool, typer.Option("--all", help="All that match --collection, --code and --owner.")]
Code = Annotated[str | None, typer.Option("--code", metavar="CODE", help="Only of this kind, such as corrupt.")]
Owner = Annotated[str | None, typer.Option("--owner", metavar="NAME", help="Only of this owner.")]


@app.command(
    "list",
    epilog=examples(
        "quarantine list", "quarantine list --code password_required --json", "quarantine list --resolved --owner mary"
    ),
)
def list_all(
    resolved: Annotated[bool, typer.Option("--resolved", help="What needed a person, with its end.")] = False,
    collection: Collection = None,
    code: Code = None,
    owner: Owner = None,
    limit: Annotated[int, typer.Option(min=1)] = 50,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """List what needs a person, or what was resolved, the newest first."""
    state = "resolved" if resolved else "quarantined"
    with server(url) as client:
        found = list(
            client.items("/v1/quarantine", state=state, collection=collection, code=code, owner=owner, limit=limit)
        )
    if not found:
        raise nothing(f"nothing {'was resolved' if resolved else 'is in quarantine'}.", as_json=as_json, empty=[])
    if as_json:
        print_json(found)
        return
    when, why = ("resolved_at", "note") if resolved else ("quarantined_at", "message")
    print_table(
        ["document", "version", "code", "owner", *(("resolved", "how") if resolved else ("since", "why"))],
        (
            (item.get("key") or item["document_id"], item["input_version"], item["code"], item["owner"],
             instant(item[when]), item[why])
            for item in found
        ),
    )  # fmt: skip


@app.command(epilog=examples("quarantine show report.pdf"))
def show(name: Name, collection: Collection = None, url: Url = None, as_json: AsJson = False) -> None:
    """Show why a document is in quarantine and what can be done."""
    with server(url) as client:
        item = client.get(f"/v1/quarantine/{_job(client, name, collection)}")
    if as_json:
        print_json(item)
    else:
        print_facts(item.items())


@app.command(epilog=examples("quarantine replay report.pdf", "quarantine replay --all --code extractor_timeout"))
def replay(
    names: Chosen = None,
    new_version: Annotated[bool, typer.Option("--new-version", help="As a new version of the document.")] = False,
    everything: Everything = False,
    collection: Collection = None,
    code: Code = None,
    owner: Owner = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Try again, with fresh budgets: the same version, or a new one."""
    body = {"as": "new_version" if new_version else "same"}
    chosen = {"collection": collection, "code": code, "owner": owner}
    _decide("replay", names or [], body, chosen, everything=everything, url=url, as_json=as_json)


@app.command(epilog=examples('quarantine dismiss report.pdf --note "a scan of an empty page"'))
def dismiss(
    note: Annotated[str, typer.Option(help="Why nothing more will be done.")],
    names: Chosen = None,
    everything: Everything = False,
    collection: Collection = None,
    code: Code = None,
    owner: Owner = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Close what nothing more will be done about; what is searchable stays so."""
    chosen = {"collection": collection, "code": code, "owner": owner}
    _decide("dismiss", names or [], {"note": note}, chosen, everything=everything, url=url, as_json=as_json)


@app.command(epilog=examples("quarantine assign report.pdf --to mary"))
def assign(
    to: Annotated[str, typer.Option("--to", metavar="NAME", help="Who shall look.")],
    names: Chosen = None,
    everything: Everything = False,
    collection: Collection = None,
    code: Code = None,
    owner: Owner = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Give it to somebody."""
    chosen = {"collection": collection, "code": code, "owner": owner}
    _decide("assign", names or [], {"owner": to}, chosen, everything=everything, url=url, as_json=as_json)


def _decide(
    verb: str,
    names: list[str],
    body: dict[str, Any],
    chosen: dict[str, str | None],
    *,
    everything: bool,
    url: str | None,
    as_json: bool,
) -> None:
    """Decides on the named documents (of one collection) one by one, or on all that match in one request."""
    if bool(names) == everything:
        raise typer.BadParameter("name documents, or say --all")
    if names and (chosen["code"] or chosen["owner"]):
        raise typer.BadParameter("--code and --owner choose among --all")
    with server(url) as client:
        if names:
            answer = _one_by_one(client, verb, names, chosen["collection"], body)
        else:
            answer = client.post(f"/v1/quarantine/{verb}", {**body, "filter": chosen})
    moved, refused = answer["moved"], answer["refused"]
    if as_json:
        print_json(answer)
    else:
        for failure in refused:
            complain(f"{failure.get('name') or failure['job_id']}: {failure['detail']}")
        typer.echo(f"{len(moved)} done, {len(refused)} refused")
    if refused or not moved:
        only_unknown = not moved and {failure["code"] for failure in refused} <= UNKNOWN
        raise typer.Exit(NOTHING if only_unknown else FAILED)


def _one_by_one(
    client: "Client", verb: str, names: list[str], collection: str | None, body: dict[str, Any]
) -> dict[str, list[Any]]:
    """The same answer as for many."""
    from fencepost.client import Answered

    moved, refused = [], []
    for name in names:
        try:
            moved.append(client.post(f"/v1/quarantine/{_job(client, name, collection)}/{verb}", body))
        except Answered as error:
            refused.append({"name": name, "status": error.status, "code": error.code, "detail": str(error)})
    return {"moved": moved, "refused": refused}


def _job(client: "Client", name: str, collection: str | None) -> str:
    """The job of the newest version of a document, or the name itself if it is no document's but may be a job's."""
    from fencepost.client import Answered, as_uuid

    try:
        job = client.document(name, collection=collection)["job"]
    except Answered as error:
        if error.status == 404 and as_uuid(name) is not None:
            return name
        raise
    if job is None:
        raise Answered(404, "job_not_found", f"Nothing of {name} is in quarantine.")
    job_id: str = job["id"]
    return job_id
