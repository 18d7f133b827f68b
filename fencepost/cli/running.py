"""The commands that run something: the stack on this machine, and one process each for production."""

from typing import TYPE_CHECKING, Annotated

import typer

from fencepost.cli.options import AsJson, Data, Port, Search
from fencepost.cli.output import examples, print_json

if TYPE_CHECKING:
    from pipeline.settings import Settings


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command(epilog=examples("up", "up --data ./data --port 8080", "up --search opensearch"))(up)
    app.command(epilog=examples("migrate"))(migrate)
    app.command(epilog=examples("api"))(api)
    app.command(epilog=examples("relay"))(relay)
    app.command(epilog=examples("worker", "worker --partitions 0-7"))(worker)
    app.command(epilog=examples("sweeper"))(sweeper)


def up(data: Data = None, port: Port = None, search: Search = None, as_json: AsJson = False) -> None:
    """Run the whole stack on this machine until Ctrl-C: PostgreSQL, Valkey, and all of our processes.

    With --search opensearch also an OpenSearch node, unless FENCEPOST_OPENSEARCH_URL says where one is.
    """
    from fencepost.local import folder, stack

    stack.up(_settings(as_json=as_json, search=search), data or folder.default(), port)


def migrate(as_json: AsJson = False) -> None:
    """Bring the database to the schema of this release, and the search index to its settings and mapping."""
    from fencepost.migrating import migrate

    done = migrate(_settings().needs("database_url"))
    if as_json:
        print_json({"before": done.before, "after": done.after, "index": done.index.name, "begun": done.index.begun})
        return
    was = "" if done.before == done.after else f" (was {done.before or 'empty'})"
    typer.echo(f"the schema is at {done.after}{was}")
    typer.echo(f"documents are searched in {done.index.name}")
    if done.index.begun is not None:
        typer.echo(done.index.sentence)


def api(as_json: AsJson = False) -> None:
    """Run an API process."""
    from fencepost.http import serve

    serve.api(_settings(as_json=as_json))


def relay(as_json: AsJson = False) -> None:
    """Run a relay: it carries what was accepted to the broker."""
    from fencepost import roles

    roles.relay(_settings(as_json=as_json))


def worker(
    partitions: Annotated[str | None, typer.Option(metavar="0-7,12", help="Which partitions it serves.")] = None,
    as_json: AsJson = False,
) -> None:
    """Run a worker: it extracts and publishes."""
    from fencepost import roles
    from pipeline.settings import parse_partitions

    settings = _settings(as_json=as_json)
    if partitions is not None:
        try:
            parse_partitions(partitions, settings.partitions)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--partitions") from None
        chosen = settings.worker.model_copy(update={"partitions": partitions})
        settings = settings.model_copy(update={"worker": chosen})
    roles.worker(settings)


def sweeper(as_json: AsJson = False) -> None:
    """Run a sweeper: it finds what was lost and brings it back."""
    from fencepost import roles

    roles.sweeper(_settings(as_json=as_json))


def _settings(*, as_json: bool = False, search: str | None = None) -> "Settings":
    """The settings; `as_json` makes the log JSON, and `search` is the backend, whatever the environment says."""
    from pipeline.settings import load

    return load(**({"log_json": True} if as_json else {}), **({"search": search} if search else {}))
