"""`fencepost status`: the overview in the terminal."""

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fencepost.cli.options import AsJson, Url, server
from fencepost.cli.output import examples, instant, print_json

if TYPE_CHECKING:
    from rich.console import RenderableType

EVERY_SECONDS = 2.0
STATES = ("queued", "leased", "retry_wait", "quarantined", "succeeded", "superseded", "resolved", "purged")
_never = threading.Event()


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog=examples("status", "status --watch"))(status)


def status(
    watch: Annotated[bool, typer.Option("--watch", help="Go on until Ctrl-C.")] = False,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Show where everything is: what waits, what is stuck, and whether there are enough workers."""
    from rich.console import Console
    from rich.live import Live

    with server(url) as client:
        overview = client.get("/v1/overview")
        if as_json:
            print_json(overview)
            return
        if not watch:
            Console(highlight=False).print(dashboard(overview))
            return
        with Live(dashboard(overview), auto_refresh=False) as live:
            while not _never.wait(EVERY_SECONDS):
                live.update(dashboard(client.get("/v1/overview")), refresh=True)


def dashboard(overview: dict[str, Any]) -> "RenderableType":
    """The overview as a table, and below it what is wrong."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, value in _lines(overview):
        table.add_row(name, Text(value))
    alarms = [Text(alarm["sentence"], style="bold red" if alarm["bad"] else "yellow") for alarm in overview["alarms"]]
    return Group(table, *alarms)


def _lines(overview: dict[str, Any]) -> Iterator[tuple[str, str]]:
    outbox, oldest, pace = overview["outbox"], overview["oldest_queued"], overview["throughput"]
    yield "as of", instant(overview["as_of"]) or ""
    for name in ("accepted", *STATES, "unfinished"):
        yield name, f"{overview[name]:,}"
    yield "difference", f"{overview['difference']}{'' if overview['difference'] == 0 else '  (must be 0)'}"
    yield "texts", ", ".join(f"{count:,} {quality}" for quality, count in overview["text_quality"].items())
    yield "oldest queued", f"{oldest['age_seconds']:.0f} s, document {oldest['document_id']}" if oldest else "none"
    yield "expired leases", str(len(overview["expired_leases"]))
    yield "outbox", f"{outbox['waiting']} waiting, {outbox['exhausted']} need a release"
    for breaker in overview["breakers"]:
        yield "breaker", f"{breaker['name']}, for {breaker['age_seconds']:.0f} s: {breaker['reason']}"
    if not overview["breakers"]:
        yield "breaker", "closed"
    yield "index", _index(overview["index"])
    yield "processes", ", ".join(f"{count} {kind}" for kind, count in sorted(overview["processes"].items())) or "none"
    yield "throughput", f"{pace['per_second_now']:.1f} a second now, {pace['per_second']:.1f} over 15 minutes"
    if overview["eta_seconds"] is not None:
        yield "done in", f"{overview['eta_seconds']:.0f} s at this pace"
    yield "capacity", _capacity(overview["capacity"])
    for error in overview["errors"]["by_code"]:
        yield "error", f"{error['count']} x {error['code']} ({error['stage']})"


def _index(index: dict[str, Any]) -> str:
    differ = "" if index["drifted"] is None else f", {index['drifted']:,} differ"
    verified = f"verified {instant(index['verified_at'])}{differ}" if index["verified_at"] else "never verified"
    build = index["build"]
    doing = f"; {build['kind']} {build['phase']}, {build['done']:,} of {build['total']:,}" if build else ""
    return f"{index['name'] or 'none'}, {verified}{doing}"


def _capacity(capacity: dict[str, Any]) -> str:
    if capacity["needed"] is None:
        return f"{capacity['slots']} slots, nothing to measure yet"
    enough = f"short by {capacity['short_by']:.1f}" if capacity["short_by"] else "enough"
    return (
        f"{capacity['arrivals_per_minute']:.1f} a minute x {capacity['seconds_per_job']:.2f} s = "
        f"{capacity['needed']:.2f} in service, {capacity['slots']} slots: {enough}"
    )
