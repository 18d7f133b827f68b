"""`fencepost index`: look at the search index, compare it with the database, repair and rebuild it."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fencepost.cli.options import AsJson, Url, server
from fencepost.cli.output import FAILED, complain, console, examples, instant, print_facts, print_json, print_table

if TYPE_CHECKING:
    from fencepost.client import Client

app = typer.Typer(
    name="index", no_args_is_help=True, help="The search index: look, compare it with the database, repair, rebuild."
)
NoWait = Annotated[bool, typer.Option("--no-wait", help="Only begin; `fencepost index info` shows how far it is.")]
Show = Callable[[str, int, int, str | None], None]
"""Tells a phase with how much is done, of how much, and why it does not get on."""

LOOK_SECONDS = 0.5
SHOWN = 20
_never = threading.Event()


@app.command(epilog=examples("index info", "index info --json"))
def info(url: Url = None, as_json: AsJson = False) -> None:
    """Show which index is searched, when it was verified, and what is being done with it."""
    with server(url) as client:
        seen = client.get("/v1/index")
    if as_json:
        print_json(seen)
    else:
        print_facts(_facts(seen))


@app.command(epilog=examples("index verify", "index verify --repair", "index verify --json"))
def verify(
    repair: Annotated[bool, typer.Option("--repair", help="Write again what differs, and verify once more.")] = False,
    no_wait: NoWait = False,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Compare the index with the database and list what differs; the exit code is then 1.

    With --repair it is 1 only if something still differs afterwards.
    """
    with server(url) as client:
        begun = client.post("/v1/index/verify", {"repair": repair})
        if no_wait:
            _tell_begun(begun, as_json=as_json)
            return
        with _following("the verification", as_json=as_json) as show:
            found = _verified(client, begun["verification_id"], show)
            build = _built(client, begun["build_id"], show) if repair else None
        drifts = list(client.items(f"/v1/index/verifications/{begun['verification_id']}"))
    if as_json:
        print_json({"verification": found, "drifts": drifts, "build": build})
    else:
        _tell(found, drifts, build)
    if found["error"] or (build["phase"] != "done" if build is not None else found["drifted"]):
        raise typer.Exit(FAILED)


@app.command(epilog=examples("index rebuild", "index rebuild --no-wait", "index rebuild --cancel"))
def rebuild(
    cancel: Annotated[bool, typer.Option("--cancel", help="End the rebuild or repair that is under way.")] = False,
    no_wait: NoWait = False,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Make a new index, fill it from the stored results and swap it in, while searches and uploads go on.

    One that is stuck goes on. The old index is kept until `fencepost index drop`.
    """
    with server(url) as client:
        begun = client.ask("DELETE", "/v1/index/rebuild") if cancel else client.post("/v1/index/rebuild")
        if no_wait:
            _tell_begun(begun, as_json=as_json)
            return
        with _following("the rebuild", as_json=as_json) as show:
            build = _built(client, begun["build_id"], show)
    if as_json:
        print_json(build)
    else:
        typer.echo(f"{build['kind']} {build['phase']}: {build['done']:,} documents in {build['index']}")
        if (build["kind"], build["phase"]) == ("rebuild", "done"):
            typer.echo("The old index is kept; `fencepost index info` names it, `fencepost index drop` removes it.")
        if build["error"]:
            complain(build["error"])
    if build["phase"] != ("cancelled" if cancel else "done"):
        raise typer.Exit(FAILED)


@app.command(epilog=examples("index drop fencepost_1_1"))
def drop(
    name: Annotated[str, typer.Argument(metavar="INDEX", help="Its name, as `fencepost index info` shows it.")],
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Remove an index that a rebuild has replaced."""
    with server(url) as client:
        dropped = client.delete(f"/v1/index/{name}")
    if as_json:
        print_json(dropped)
    else:
        typer.echo(f"{dropped['name']} dropped")


@contextmanager
def _following(what: str, *, as_json: bool) -> Iterator[Show]:
    """A progress bar with rate and time left; Ctrl-C leaves the work going on and says so."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    try:
        quiet = as_json or not sys.stderr.isatty()
        with Progress(*columns, console=console(stderr=True), transient=True, disable=quiet) as progress:
            task = progress.add_task("waiting", total=None, rate="")
            told: set[str] = set()

            def show(phase: str, done: int, total: int, held_up: str | None) -> None:
                if held_up and held_up not in told:
                    told.add(held_up)
                    complain(f"{what} waits: {held_up} It goes on by itself.")
                if progress.tasks[0].description != phase:
                    progress.reset(task, description=phase, rate="")
                speed = progress.tasks[0].speed
                rate = f"{speed:,.0f}/s" if speed else ""
                progress.update(task, completed=min(done, total), total=total or None, rate=rate)

            yield show
    except KeyboardInterrupt:
        complain(f"{what} goes on without you; `fencepost index info` shows how far it is.")
        raise typer.Exit(FAILED) from None


def _verified(client: "Client", verification_id: int, show: Show) -> dict[str, Any]:
    while True:
        found: dict[str, Any] = client.get(f"/v1/index/verifications/{verification_id}", limit=1)
        show("verifying", found["checked"], found["total"], None if found["finished_at"] else found["error"])
        if found["finished_at"] is not None:
            return {name: value for name, value in found.items() if name not in {"items", "next"}}
        _never.wait(LOOK_SECONDS)


def _built(client: "Client", build_id: int, show: Show) -> dict[str, Any]:
    """The build once it has ended, or waits for a person."""
    while True:
        seen = client.get("/v1/index")
        build: dict[str, Any] = seen["build"]
        if build["build_id"] != build_id or build["finished_at"] is not None or build["phase"] == "stuck":
            return build
        held_up = build["error"] or (seen["verifying"] or {}).get("error") or seen["paused"]
        show(build["phase"], build["done"], build["total"], held_up)
        _never.wait(LOOK_SECONDS)


def _tell_begun(begun: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(begun)
    else:
        typer.echo("begun; `fencepost index info` shows how far it is")


def _tell(found: dict[str, Any], drifts: list[dict[str, Any]], build: dict[str, Any] | None) -> None:
    if drifts:
        print_table(
            ["document", "differs", "in the index", "in the database"],
            (
                (one["document_id"], one["kind"], one["index_version"], one["published_version"])
                for one in drifts[:SHOWN]
            ),
        )
        if found["drifted"] > SHOWN:
            complain(f"and {found['drifted'] - SHOWN:,} more; --json has all of them.")
    counts = ", ".join(f"{count:,} {kind}" for kind, count in found["drift"].items() if count)
    moving = f", {found['in_flight']:,} in flight" if found["in_flight"] else ""
    typer.echo(
        f"{found['checked']:,} checked: {counts or ('not to the end' if found['error'] else 'nothing differs')}{moving}"
    )
    if found["error"]:
        complain(found["error"])
    if build is not None and found["drifted"]:
        typer.echo("all repaired" if build["phase"] == "done" else f"repair {build['phase']}")
        if build["error"]:
            complain(build["error"])


def _facts(seen: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    live, verified, build = seen["live"], seen["verification"], seen["build"]
    yield "searched", f"{live['name']} in {live['backend']}" if live else "none: run `fencepost migrate`"
    if live:
        yield (
            "mapping",
            f"{live['fingerprint']}{' (outdated: run `fencepost index rebuild`)' if live['outdated'] else ''}",
        )
        if live["backend"] != seen["backend"]:
            yield "trouble", f"the settings of the server say {seen['backend']}: run `fencepost migrate`"
    for other in seen["others"]:
        yield other["state"], f"{other['name']} in {other['backend']}"
    if verified:
        yield (
            "verified",
            f"{instant(verified['finished_at'])}: {verified['checked']:,} checked, {verified['drifted']:,} differ",
        )
    if going := seen["verifying"]:
        yield "verifying", _progress(going["checked"], going)
        yield "trouble", going["error"]
    if build:
        ended = build["finished_at"]
        yield (
            build["kind"],
            f"{build['phase']} {instant(ended)}" if ended else f"{build['phase']}: {_progress(build['done'], build)}",
        )
        yield "trouble", build["error"]
    yield "paused", seen["paused"]


def _progress(done: int, work: dict[str, Any]) -> str:
    pace = f", {work['per_second']:,.0f} a second" if work["per_second"] else ""
    eta = f", done in {work['eta_seconds']:,.0f} s" if work["eta_seconds"] is not None else ""
    return f"{done:,} of {work['total']:,}{pace}{eta}"
