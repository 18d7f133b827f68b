"""The commands that look whether this installation can work: doctor and config."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fencepost.cli.options import AsJson, Url, server
from fencepost.cli.output import FAILED, examples, print_json, print_table
from pipeline.errors import FencepostError

if TYPE_CHECKING:
    from pydantic import SecretStr

    from pipeline.settings import Settings

OLDEST_OPENSEARCH = (2, 7)  # has the field type in which metadata is kept
MIB, GIB = 1024**2, 1024**3
OURS = ("pipeline", "ingest", "indexer", "fencepost")


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found; `ok` None means that it had nothing to look at."""

    check: str
    ok: bool | None
    finding: str


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command(epilog=examples("doctor"))(doctor)
    app.command(epilog=examples("config"))(config)


def doctor(url: Url = None, as_json: AsJson = False) -> None:
    """Check settings, packages, sandbox, OCR, database, broker, OpenSearch if used, server, workers and breakers."""
    from pipeline.settings import load

    settings = load()
    checks: tuple[Callable[[], Finding], ...] = (
        _packages,
        _sandbox,
        lambda: _database(settings),
        lambda: _broker(settings),
        lambda: _ocr(settings),
        *([lambda: _opensearch(settings)] if settings.search_backend == "opensearch" else []),
        lambda: _server(url),
        lambda: _workers(url),
        lambda: _breakers(url),
    )
    findings = [Finding("settings", ok=True, finding="every variable is known and in range"), *(c() for c in checks)]
    if as_json:
        print_json([{"check": f.check, "ok": f.ok, "finding": f.finding} for f in findings])
    else:
        words = {True: "ok", False: "FAILED", None: "-"}
        print_table(["check", "", "finding"], ((f.check, words[f.ok], f.finding) for f in findings))
    if any(finding.ok is False for finding in findings):
        raise typer.Exit(FAILED)


def config(as_json: AsJson = False) -> None:
    """Print every setting with its value and where that comes from; passwords are hidden."""
    from pipeline.settings import load

    rows = list(_settings(load()))
    if as_json:
        print_json([{"name": name, "value": value, "source": source} for name, value, source in rows])
    else:
        print_table(["setting", "value", "source"], rows)


def foreign(distributions: dict[str, list[str]], name: str) -> str | None:
    """What is wrong with one of our package names: another distribution, or a stray folder, provides it."""
    import importlib.util

    others = sorted(set(distributions.get(name, [])) - {"fencepost"})
    if others:
        return f"{name} also comes with {', '.join(others)}"
    spec, home = importlib.util.find_spec(name), Path(__file__).parents[2]
    if spec is None or spec.origin is None or Path(spec.origin).parents[1] != home:
        return f"{name} is imported from {spec.origin if spec else 'nowhere'} instead of {home}"
    return None


def _packages() -> Finding:
    from importlib.metadata import packages_distributions

    distributions = {name: list(found) for name, found in packages_distributions().items()}
    wrong = [trouble for name in OURS if (trouble := foreign(distributions, name))]
    return Finding("packages", not wrong, "; ".join(wrong) or f"{', '.join(OURS)} are ours alone")


def _sandbox() -> Finding:
    from indexer.extract.isolation import sandbox

    found = sandbox.summary()
    return Finding("extraction sandbox", None if found == sandbox.NONE else True, found)


def _database(settings: "Settings") -> Finding:
    from sqlalchemy.exc import DBAPIError

    from fencepost.starting import engine_for
    from pipeline import schema
    from pipeline.database import reason

    if not settings.database_url.get_secret_value():
        return Finding("database", None, "FENCEPOST_DATABASE_URL is not set; `fencepost up` sets it for its processes")
    engine = engine_for(settings, "doctor", size=1)
    try:
        revision = schema.current(engine)
    except DBAPIError as error:
        return Finding("database", ok=False, finding=f"PostgreSQL does not answer: {reason(error)}")
    finally:
        engine.dispose()
    if revision != schema.newest():
        return Finding("database", ok=False, finding=f"the schema is at {revision}, not {schema.newest()}: run migrate")
    return Finding("database", ok=True, finding=f"answers, and the schema is at {revision}")


def _broker(settings: "Settings") -> Finding:
    from pipeline import broker

    address = settings.broker_url.get_secret_value()
    if not address:
        return Finding("broker", None, "FENCEPOST_BROKER_URL is not set; `fencepost up` sets it for its processes")
    try:
        with broker.client(address) as connection:
            broker.check(connection)
    except FencepostError as error:
        return Finding("broker", ok=False, finding=str(error))
    return Finding("broker", ok=True, finding="answers, and drops no messages")


def _ocr(settings: "Settings") -> Finding:
    from indexer.extract.isolation.trial import tried_ocr

    try:
        reading = tried_ocr(settings.extract)
    except FencepostError as error:
        return Finding("ocr", ok=False, finding=str(error))
    if reading is None:
        return Finding("ocr", None, "off; FENCEPOST_EXTRACT__OCR_LANGUAGES turns it on")
    return Finding("ocr", ok=True, finding=f"Tesseract reads {reading.languages}")


def _opensearch(settings: "Settings") -> Finding:
    from indexer.search.backends import backend

    if not settings.opensearch_url.get_secret_value():
        said = "FENCEPOST_OPENSEARCH_URL is not set; `fencepost up` sets it for its processes"
        return Finding("opensearch", None, said)
    try:
        backend(settings)  # which says what to install
        from indexer.search.opensearch.connection import connect, explaining

        with explaining():
            client = connect(settings)
            version = client.info()["version"]
            status = client.cluster.health()["status"]
            nodes = client.nodes.stats(metric="jvm,fs")["nodes"].values()
    except FencepostError as error:
        return Finding("opensearch", ok=False, finding=str(error))
    number, product = version["number"], version.get("distribution", "another product")
    if product != "opensearch" or tuple(int(part) for part in number.split(".")[:2]) < OLDEST_OPENSEARCH:
        needed = "OpenSearch {}.{} or newer is needed".format(*OLDEST_OPENSEARCH)
        return Finding("opensearch", ok=False, finding=f"{product} {number} answers; {needed}")
    return Finding("opensearch", status != "red", f"{number} answers and is {status}; {_room(list(nodes))}")


def _room(nodes: list[dict[str, Any]]) -> str:
    used, most = (sum(node["jvm"]["mem"][f"heap_{which}_in_bytes"] for node in nodes) for which in ("used", "max"))
    free = sum(node["fs"]["total"]["available_in_bytes"] for node in nodes)
    return (
        f"nodes: {len(nodes)}, heap: {used / MIB:,.0f} of {most / MIB:,.0f} MiB used, disk: {free / GIB:,.1f} GiB free"
    )


def _server(url: str | None) -> Finding:
    try:
        with server(url) as client:
            client.get("/health/live")
            return Finding("server", ok=True, finding=f"answers at {client.url}")
    except FencepostError as error:
        return Finding("server", ok=False, finding=str(error))


def _workers(url: str | None) -> Finding:
    from fencepost.client import Answered

    try:
        with server(url) as client:
            answer = client.get("/v1/workers")
    except Answered as error:
        return Finding("processes", None, str(error))
    except FencepostError:
        return Finding("processes", None, "cannot be asked for without a server")
    alive = [process["kind"] for process in answer["items"] if process["alive"]]
    missing = [kind for kind in ("relay", "worker", "sweeper") if kind not in alive]
    if missing:
        return Finding("processes", ok=False, finding=f"no {', no '.join(missing)} is running")
    if answer["warnings"]:
        return Finding("processes", ok=False, finding=" ".join(answer["warnings"]))
    workers = alive.count("worker")
    told = f"{workers} worker{'' if workers == 1 else 's'}, relay and sweeper are alive"
    return Finding("processes", ok=True, finding=told)


def _breakers(url: str | None) -> Finding:
    from fencepost.client import Answered
    from pipeline.wording import clause

    try:
        with server(url) as client:
            breakers = client.get("/v1/overview")["breakers"]
    except Answered as error:
        return Finding("breakers", None, str(error))
    except FencepostError:
        return Finding("breakers", None, "cannot be asked for without a server")
    names = {"broker": "sending", "index": "publishing"}
    paused = [f"{names[b['name']]} is paused for {b['age_seconds']:.0f} s: {clause(b['reason'])}" for b in breakers]
    return Finding("breakers", not paused, "; ".join(paused) or "broker and index take what they are given")


def _settings(settings: Any, path: str = "FENCEPOST_") -> Iterator[tuple[str, Any, str]]:  # noqa: ANN401 - any group
    """(variable, value, source) of each setting, secrets hidden."""
    from pydantic import BaseModel, SecretStr

    for name in type(settings).model_fields:
        value, variable = getattr(settings, name), f"{path}{name.upper()}"
        if isinstance(value, BaseModel):
            yield from _settings(value, f"{variable}__")
            continue
        source = "environment" if name in settings.model_fields_set else "default"
        shown = _hidden(value) if isinstance(value, SecretStr) else value
        yield variable, shown, source


def _hidden(secret: "SecretStr") -> str:
    """An address without its password, a key by its public part; whatever else it is, stars."""
    from pipeline.logs import hide_secrets

    value = secret.get_secret_value()
    return hide_secrets(value) if "://" in value or hide_secrets(value) != value or not value else "***"
