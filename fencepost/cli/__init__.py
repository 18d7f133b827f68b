"""The command `fencepost`: one module a topic; heavy imports happen inside the commands."""

import contextlib
import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fencepost import VERSION
from fencepost.cli import (
    adding,
    deciding,
    demo,
    diagnosis,
    documents,
    extraction,
    health,
    index,
    keys,
    outbox,
    overview,
    reindexing,
    running,
    searching,
)
from fencepost.cli.output import DONE, FAILED, NOT_REACHED, NOTHING, USAGE, complain
from pipeline.errors import FencepostError, SettingsError


class Commands(TyperGroup):
    """All commands; a value that is none of the choices is told without the words of the library that checks it."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - typer's own, which it does not show
        """Runs the command that was named."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Index documents and search them; nothing accepted is lost, and nothing is applied twice.",
    epilog="Begin with `fencepost demo`, or with `fencepost up` and then `fencepost add PATH`."
    "\n\nExit codes: 0 done, 1 some failed, 2 usage or settings, 3 server unreachable, 4 nothing matched.",
)
for topic in (demo, running, adding, searching, documents, reindexing, overview, diagnosis, health, extraction):
    topic.register(app)
app.add_typer(deciding.app)
app.add_typer(outbox.app)
app.add_typer(index.app)
app.add_typer(keys.app)


def _tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fencepost {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Print the release.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Runs a command; whatever goes wrong is one sentence on standard error and an exit code."""
    try:
        app()
    except SettingsError as error:
        complain(str(error))
        code = USAGE
    except FencepostError as error:
        complain(str(error))
        code = _code(error)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = DONE
    sys.exit(code)


def _code(error: FencepostError) -> int:
    from fencepost.client import Answered, Unreachable

    if isinstance(error, Unreachable) or (isinstance(error, Answered) and error.status == 503):
        return NOT_REACHED
    if isinstance(error, Answered):
        return {400: USAGE, 401: USAGE, 404: NOTHING, 422: USAGE}.get(error.status, FAILED)
    return FAILED
