"""The whole of Fencepost on this machine: servers, schema, processes, and the address of the page."""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import httpx
from pydantic import SecretStr

from fencepost.local import folder, ports, processes
from fencepost.local.log import Log
from fencepost.local.opensearch import LocalOpenSearch
from fencepost.local.processes import StartError
from fencepost.local.servers import LocalServers
from fencepost.local.supervisor import Program, Supervisor
from fencepost.migrating import migrate
from indexer import scratch
from pipeline.settings import Settings, environment

READY_SECONDS = 30
HEAP_OF_AN_ENTRY = 32
"""How much heap a node wants for the largest entry: 40 MB of words that are all different end one of 512 MB."""
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - where to look for who listens everywhere
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Stack:
    """A running stack."""

    url: str
    data: Path
    servers: LocalServers
    log: Log

    def wait(self) -> None:
        """Blocks until Ctrl-C or SIGTERM, which raise KeyboardInterrupt here."""
        Event().wait()


def programs(workers: int | None = None) -> list[Program]:
    """Our own processes, in the order in which they are stopped; one worker per two cores unless said otherwise."""
    count = workers or max(1, (os.cpu_count() or 1) // 2)
    names = ["api", "relay", *(f"worker-{number}" for number in range(1, count + 1)), "sweeper"]
    return [Program(name, [sys.executable, "-P", "-m", "fencepost", name.partition("-")[0]]) for name in names]


def up(settings: Settings, data: Path, port: int | None = None, log: Log | None = None) -> None:
    """Runs the stack until Ctrl-C or SIGTERM and prints where the page is.

    Raises StartError, or Unreachable for a database elsewhere that does not answer.
    """
    with suppress(KeyboardInterrupt), running(settings, data, port, log=log) as stack:
        stack.log.say("fencepost", f"ready at {stack.url} with its data in {data}; Ctrl-C stops it")
        stack.wait()


@contextmanager
def running(
    settings: Settings,
    data: Path,
    port: int | None = None,
    *,
    children: Sequence[Program] | None = None,
    log: Log | None = None,
) -> Iterator[Stack]:
    """Starts everything, yields once /health/ready answers, and stops everything at the end.

    `port` None is the port of the settings, or a free one if that is only the default and is taken. Call it from the
    main thread: meanwhile SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt. Raises the same errors as `up`.
    """
    log = log or Log()
    heeded = [each for each in STOP_SIGNALS if signal.getsignal(each) is not signal.SIG_IGN]  # nohup has its way
    before = {each: signal.signal(each, signal.default_int_handler) for each in heeded}
    try:
        with ExitStack() as parts:
            try:
                yield _start(parts, settings, data.absolute(), port, programs() if children is None else children, log)
            finally:
                for each in heeded:
                    signal.signal(each, signal.SIG_IGN)  # the end is near, and a second Ctrl-C must not tear it
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _start(
    parts: ExitStack, settings: Settings, data: Path, port: int | None, children: Sequence[Program], log: Log
) -> Stack:
    settings = _with_search(settings, data, log)
    servers = LocalServers(
        data,
        database_url=settings.database_url.get_secret_value(),
        broker_url=settings.broker_url.get_secret_value(),
        opensearch=_opensearch(settings, data, log),
    )
    parts.enter_context(servers)
    if servers.opensearch:
        log.say("opensearch", f"{servers.opensearch.url} asks for no password: all users of this machine can use it")
    settings = _with_addresses(settings, servers)
    adopted = migrate(settings).index
    if adopted.begun is not None:
        log.say("fencepost", adopted.sentence)
    url = f"http://{_bracketed(settings.host)}:{_choose_port(settings, port, log)}"
    parts.callback(scratch.remove_left)  # of workers that were killed
    supervisor = Supervisor(data, _environment(settings, url), log, grace=settings.worker.stop_grace_seconds + 0.5)
    parts.enter_context(supervisor)
    for server in servers.started:
        supervisor.watch(server)
    for child in children:
        supervisor.run(child)
    _wait_until_ready(url)
    folder.remember_search_backend(data, settings.search_backend)
    parts.enter_context(folder.announced(data, url))
    return Stack(url, data, servers, log)


def _with_search(settings: Settings, data: Path, log: Log) -> Settings:
    """The settings with the search backend: the one that they name, or else the one of the folder's last start."""
    before = folder.search_backend(data)
    if settings.names_search:
        if before not in (None, settings.search_backend):
            log.say("fencepost", f"search moves from {before} to {settings.search_backend}")
        return settings
    if before == "opensearch":
        log.say("fencepost", "search is in opensearch, as at the last start; --search postgres moves it")
    return settings.model_copy(update={"search": before})


def _opensearch(settings: Settings, data: Path, log: Log) -> LocalOpenSearch | None:
    if settings.search_backend != "opensearch" or settings.opensearch_url.get_secret_value():
        return None
    return LocalOpenSearch(data, settings.local_opensearch, say=lambda line: log.say("opensearch", line))


def _choose_port(settings: Settings, port: int | None, log: Log) -> int:
    asked = port if port is not None else settings.port
    if asked == 0:
        return ports.free_port()
    if ports.is_free(asked, settings.host):
        return asked
    if port is not None or "port" in settings.model_fields_set:
        raise StartError(f"Port {asked} is taken by another program; choose another one.")
    chosen = ports.free_port()
    log.say("fencepost", f"port {asked} is taken by another program; using {chosen}")
    return chosen


def _with_addresses(settings: Settings, servers: LocalServers) -> Settings:
    found = {"database_url": servers.database_url, "broker_url": servers.broker_url}
    if servers.opensearch:
        found["opensearch_url"] = servers.opensearch.url
        if "entry_bytes" not in settings.opensearch.model_fields_set:
            most = settings.local_opensearch.heap_bytes // HEAP_OF_AN_ENTRY
            ours = settings.opensearch.model_copy(update={"entry_bytes": most})
            settings = settings.model_copy(update={"opensearch": ours})
    return settings.model_copy(update={name: SecretStr(address) for name, address in found.items()})


def _environment(settings: Settings, url: str) -> dict[str, str]:
    inherited = {name: value for name, value in environment().items() if name != "FENCEPOST_KEY"}
    return {
        **inherited,
        "PYTHONSAFEPATH": "1",
        "PYTHONUNBUFFERED": "1",
        "FENCEPOST_DATABASE_URL": settings.database_url.get_secret_value(),
        "FENCEPOST_BROKER_URL": settings.broker_url.get_secret_value(),
        "FENCEPOST_SEARCH": settings.search_backend,
        "FENCEPOST_OPENSEARCH_URL": settings.opensearch_url.get_secret_value(),
        "FENCEPOST_OPENSEARCH__ENTRY_BYTES": str(settings.opensearch.entry_bytes),
        "FENCEPOST_HOST": settings.host,
        "FENCEPOST_PORT": url.rpartition(":")[2],
        "FENCEPOST_URL": url,
        "FENCEPOST_LOG_JSON": str(settings.log_json),
    }


def _wait_until_ready(url: str) -> None:
    with httpx.Client(trust_env=False, timeout=2) as client:

        def ready() -> bool:
            try:
                return client.get(f"{url}/health/ready").status_code == httpx.codes.OK
            except httpx.TransportError:
                return False

        if not processes.wait_until(ready, READY_SECONDS, every=0.05):
            raise StartError(f"{url} did not become ready within {READY_SECONDS} s; the lines above say why.")


def _bracketed(host: str) -> str:
    host = EVERYWHERE.get(host, host)
    return f"[{host}]" if ":" in host else host
