"""`fencepost health`: whether the process in this container works, for whoever supervises it."""

import socket
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from fencepost.cli.options import AsJson
from fencepost.cli.output import FAILED, examples, print_json

if TYPE_CHECKING:
    from pipeline.settings import Settings

ANSWER_SECONDS = 5
EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "::1": "[::1]"}  # noqa: S104 - what is asked instead


class Kind(StrEnum):
    """The kinds of process that run for ever."""

    API = "api"
    RELAY = "relay"
    WORKER = "worker"
    SWEEPER = "sweeper"


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether it works, and a sentence."""

    ok: bool
    sentence: str


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog=examples("health worker", "health api"))(health)


def health(kind: Annotated[Kind, typer.Argument(help="Which kind of process.")], as_json: AsJson = False) -> None:
    """Say whether a process of this kind works on this host: made for the health checks of containers."""
    from pipeline.settings import load

    settings = load()
    found = _served(settings) if kind is Kind.API else _beaten(settings, kind)
    if as_json:
        print_json({"kind": kind, "ok": found.ok, "finding": found.sentence})
    else:
        typer.echo(found.sentence)
    if not found.ok:
        raise typer.Exit(FAILED)


def _served(settings: "Settings") -> Finding:
    """Asks the API of this host itself."""
    import httpx

    url = f"http://{EVERY_ADDRESS.get(settings.host, settings.host)}:{settings.port}/health/ready"
    try:
        answer = httpx.get(url, timeout=ANSWER_SECONDS, trust_env=False)
    except httpx.TransportError as error:
        return Finding(ok=False, sentence=f"the API does not answer at {url}: {error}")
    if answer.is_success:
        return Finding(ok=True, sentence="the API is ready")
    return Finding(ok=False, sentence=f"the API answers {answer.status_code} at {url}: {answer.text}")


def _beaten(settings: "Settings", kind: Kind) -> Finding:
    """Asks the register of processes; raises Unreachable if the database does not answer."""
    from sqlalchemy.exc import DBAPIError

    from fencepost.starting import engine_for
    from pipeline import processes
    from pipeline.database import reason

    engine = engine_for(settings.needs("database_url"), "health", size=1)
    host, silent = socket.gethostname(), settings.lease.seconds
    try:
        with engine.connect() as connection:
            number = processes.count_alive(connection, kind=kind, host=host, silent_seconds=silent)
    except DBAPIError as error:
        from fencepost.client import Unreachable  # here: what asks so often should not load HTTP when all is well

        raise Unreachable(f"The database does not say whether a {kind} works here: {reason(error)}.") from None
    finally:
        engine.dispose()
    if not number:
        return Finding(ok=False, sentence=f"no {kind} on {host} has been heard of for {silent:g} s")
    return Finding(ok=True, sentence=f"{number} {kind} on {host} {'is' if number == 1 else 'are'} alive")
