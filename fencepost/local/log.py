"""One log for many processes: each line begins with the name of its process, in a colour of its own."""

import sys
from itertools import cycle
from threading import Lock, Thread
from typing import IO, TextIO

from rich.console import Console
from rich.text import Text

COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "bright_cyan", "bright_magenta", "bright_green")
LINE_BYTES = 64 * 1024


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Nobody reads any more. The processes go on, so their pipes must still be emptied."""
        self.quiet = True


class Log:
    """Writes to `output`, with colours where it is a terminal."""

    def __init__(self, output: TextIO | None = None) -> None:
        self._console = _Console(file=output or sys.stdout, highlight=False, soft_wrap=True)
        self._colours = cycle(COLOURS)
        self._colour_of: dict[str, str] = {}
        self._lock = Lock()

    def say(self, name: str, line: str) -> None:
        """Writes one line of the process `name`."""
        with self._lock:
            if name not in self._colour_of:
                self._colour_of[name] = next(self._colours)
            prefix = (f"{name:<10} ", self._colour_of[name])
            self._console.print(Text.assemble(prefix, Text.from_ansi(line)))

    def follow(self, name: str, stream: IO[bytes]) -> None:
        """Writes what `stream` says until it ends, from a thread of its own."""

        def copy() -> None:
            with stream:
                for line in iter(lambda: stream.readline(LINE_BYTES), b""):
                    self.say(name, line.decode(errors="replace").rstrip("\r\n"))

        Thread(target=copy, name=f"log of {name}", daemon=True).start()
