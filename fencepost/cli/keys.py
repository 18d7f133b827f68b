"""`fencepost keys`: who may use the API, and for what.

On the database where one is known (by FENCEPOST_DATABASE_URL, or since `fencepost up` runs it), so that the first key
needs no other; else on the server, by a caller who may.
"""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from fencepost.cli.options import AsJson, Data, Url, server
from fencepost.cli.output import complain, examples, instant, nothing, print_json, print_table
from pipeline.caller import Scope
from pipeline.errors import FencepostError, Refusal

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from fencepost.client import Client

app = typer.Typer(name="keys", no_args_is_help=True, help="Who may use the API, and for what.")


@app.command(epilog=examples("keys create admin --scope admin", "keys create scanner --scope write -c invoices"))
def create(
    name: Annotated[str, typer.Argument(help="Whose or what for.")],
    scope: Annotated[Scope, typer.Option(help="What it is good for; each includes those before it.")] = Scope.READ,
    collections: Annotated[
        list[str] | None, typer.Option("--collection", "-c", metavar="NAME", help="Only for this one; may be repeated.")
    ] = None,
    days: Annotated[float | None, typer.Option(help="How long it can be used; for ever unless given.")] = None,
    url: Url = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Make a key and print it, this once."""
    from pipeline import keys

    wanted = collections or None

    def on_database(connection: "Connection") -> dict[str, Any]:
        token, key = keys.create(connection, name, scope, wanted, days=days)
        return {"key": token, **asdict(key)}

    body = {"name": name, "scope": scope, "collections": wanted, "days": days}
    made = _do(url, data, on_database, lambda client: client.post("/v1/keys", body))
    if as_json:
        print_json(made)
        return
    typer.echo(made["key"])
    complain("this is the only time that it is shown. Commands take it from FENCEPOST_KEY, pages when you log in.")


@app.command("list", epilog=examples("keys list"))
def list_all(url: Url = None, data: Data = None, as_json: AsJson = False) -> None:
    """List all keys, the newest first, without their secrets."""
    from pipeline import keys

    found = _do(
        url,
        data,
        lambda connection: [asdict(key) for key in keys.listing(connection)],
        lambda client: client.get("/v1/keys")["items"],
    )
    if not found:
        raise nothing("there is no key.", as_json=as_json, empty=[])
    if as_json:
        print_json(found)
        return
    print_table(
        ["prefix", "name", "scope", "collections", "is", "created", "last used", "expires"],
        (
            (key["prefix"], key["name"], key["scope"], ", ".join(key["collections"] or ["all"]), key["state"],
             *(instant(key[at]) or "never" for at in ("created_at", "last_used_at", "expires_at")))
            for key in found
        ),
    )  # fmt: skip


@app.command(epilog=examples("keys revoke 0a1b2c3d"))
def revoke(
    prefix: Annotated[str, typer.Argument(help="The eight characters behind fp_.")],
    url: Url = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Make a key useless from now on, with all sessions that were begun with it."""
    from pipeline import keys

    known = keys.prefix_of(prefix) or prefix  # a whole key, too, is taken by its public part
    revoked = _do(
        url,
        data,
        lambda connection: asdict(keys.revoke(connection, known)),
        lambda client: client.delete(f"/v1/keys/{quote(known, safe='')}"),
    )
    if as_json:
        print_json(revoked)
    else:
        typer.echo(f"revoked {revoked['prefix']} ({revoked['name']})")


def _do(
    url: str | None, data: Path | None, on_database: Callable[["Connection"], Any], on_server: Callable[["Client"], Any]
) -> Any:  # noqa: ANN401 - what either returns
    if address := _database(url, data):
        return _with_database(address, on_database)
    from fencepost.client import Answered

    try:
        with server(url) as client:
            return on_server(client)
    except Answered as error:
        if error.code != "key_required":
            raise
        where = "by FENCEPOST_DATABASE_URL, or by --data with the folder of `fencepost up`"
        raise Answered(error.status, error.code, f"{error} The first one is made on the database: {where}.") from None


def _with_database(address: str, do: Callable[["Connection"], Any]) -> Any:  # noqa: ANN401 - what `do` returns
    from sqlalchemy.exc import OperationalError

    from fencepost.client import Answered, Unreachable
    from pipeline import schema
    from pipeline.database import connect, reason

    engine = connect(address, application="fencepost keys", size=1)
    try:
        if schema.current(engine) != schema.newest():
            raise FencepostError("The database has not the schema of this release: run `fencepost migrate` first.")
        with engine.begin() as connection:
            return do(connection)
    except OperationalError as error:
        raise Unreachable(f"The database does not answer: {reason(error)}.") from None
    except Refusal as refusal:
        raise Answered(refusal.status, refusal.code, refusal.detail) from None
    finally:
        engine.dispose()


def _database(url: str | None, data: Path | None) -> str | None:
    """Where the database is, if it is known and no server was named instead."""
    from fencepost.client import Unreachable
    from fencepost.local import folder, postgres
    from pipeline.settings import load

    settings = load()
    if url is not None:
        return None
    if settings.direct_url or (data is None and "url" in settings.model_fields_set):
        return settings.direct_url or None
    address = postgres.running_url(data or folder.default())
    if address is None and data is not None:
        raise Unreachable(f"No `fencepost up` runs with its data in {data}.")
    return address
