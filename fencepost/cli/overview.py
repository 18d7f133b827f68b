"""`fencepost status`: the overview in the terminal."""

import threading
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fencepost.cli.options import AsJson, Url, server
from fencepost.cli.output import examples, print_json

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
    """The overview as a table."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, value in _lines(overview):
        table.add_row(name, value)
    return table


def _lines(overview: dict[str, Any]) -> list[tuple[str, str]]:
    outbox, capacity, oldest = overview["outbox"], overview["capacity"], overview["oldest_queued"]
    breaker = overview["breaker"]
    lines = [
        ("as of", str(overview["as_of"])[:19]),
        ("accepted", f"{overview['accepted']:,}"),
        *((state, f"{overview[state]:,}") for state in STATES),
        ("unfinished", f"{overview['unfinished']:,}"),
        ("difference", f"{overview['difference']}" + ("" if overview["difference"] == 0 else "  (must be 0)")),
        ("oldest queued", f"{oldest['age_seconds']:.0f} s, {oldest['document_id']}" if oldest else "none"),
        ("expired leases", str(len(overview["expired_leases"]))),
        ("outbox", f"{outbox['waiting']} waiting, {outbox['exhausted']} need a release"),
        ("breaker", breaker["reason"] if breaker else "closed"),
        ("capacity", _capacity(capacity)),
    ]
    unread = [str(row["partition"]) for row in overview["partitions"] if not row["workers"]]
    return lines + ([("unread partitions", ", ".join(unread))] if unread else [])


def _capacity(capacity: dict[str, Any]) -> str:
    if capacity["needed"] is None:
        return f"{capacity['slots']} slots, nothing to measure yet"
    short = capacity["needed"] - capacity["slots"]
    enough = f"short by {short:.1f}" if short > 0 else "enough"
    return (
        f"{capacity['arrivals_per_minute']:.1f} a minute x {capacity['seconds_per_job']:.2f} s = "
        f"{capacity['needed']:.2f} in service, {capacity['slots']} slots: {enough}"
    )
