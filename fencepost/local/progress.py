"""How far a long download is: a bar on a terminal, a line at its beginning and its end elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def shown(what: str, total: int, say: Callable[[str], None]) -> Iterator[Callable[[int], None]]:
    """Yields what is to be called with the bytes that have come."""
    console = Console(stderr=True)
    began = monotonic()
    say(f"fetching {what}: {total / 1e6:.0f} MB, this once")
    if console.is_terminal:
        columns = TextColumn("fetching"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("", total=total)
            yield lambda size: bar.advance(task, size)
    else:
        yield lambda _: None
    say(f"fetched in {monotonic() - began:.0f} s")
