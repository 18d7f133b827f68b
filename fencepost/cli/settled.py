"""How it ends with documents that a command has changed: wait for them, and say what failed."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fencepost.cli.output import FAILED, complain

if TYPE_CHECKING:
    from fencepost.client import Client

Wait = Annotated[bool, typer.Option("--wait", help="Wait until it is done; say what failed.")]


def failures_of(client: "Client", document_ids: list[str]) -> list[str]:
    """Waits until the newest version of each is settled; returns why any is not indexed."""
    failures = []
    for document_id in document_ids:
        document = client.settled(document_id, client.get(f"/v1/documents/{document_id}")["input_version"])
        if document["failure"] is not None:
            failures.append(f"{document['key'] or document_id}: {why(document)}")
    return failures


def end_with(failures: list[str]) -> None:
    """Complains of each and exits with 1, if there are any."""
    for failure in failures:
        complain(failure)
    if failures:
        raise typer.Exit(FAILED)


def why(document: dict[str, Any]) -> str | None:
    """Why a document's newest version waits or failed, or that it is deleted."""
    failure = document["failure"]
    if failure is not None:
        return f"{failure['message']} {failure['hint']}"
    waiting: str | None = document["waiting"]
    return "deleted" if document["deleted"] and waiting is None else waiting
