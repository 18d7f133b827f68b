"""The composition root of the API process."""

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import uvicorn
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from fencepost.http.app import THREADS, create_app
from fencepost.starting import engine_for, prepare
from pipeline import events, keys
from pipeline.errors import SettingsError
from pipeline.processes import Presence
from pipeline.settings import Settings

GRACE_SECONDS = 5


def api(settings: Settings) -> None:
    """Serves HTTP until SIGTERM; also while PostgreSQL is away, with 503. Raises SettingsError."""
    settings.needs("database_url")
    listener = listen(settings.host, settings.port)
    prepare(settings)
    engine = engine_for(settings, "api", size=THREADS // 2)  # may grow to twice that: a connection for each thread
    server = _Server(
        uvicorn.Config(
            create_app(settings, engine=engine),
            log_config=None,
            access_log=False,
            server_header=False,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
    )
    presence, stopping = Presence(settings, kind="api"), threading.Event()

    def arrive() -> None:
        presence.start(stopping)
        if settings.asks_for_keys and not stopping.is_set():
            _say_without_keys(engine)

    threading.Thread(target=arrive, name="presence", daemon=True).start()
    host, port = listener.getsockname()[:2]
    events.emit("api.listening", url=f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}")
    server.run(sockets=[listener])
    stopping.set()
    presence.stop()
    engine.dispose()
    events.emit("process.stopped")


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; raises SettingsError for a port that is taken."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise SettingsError(
            f"FENCEPOST_HOST and FENCEPOST_PORT: cannot listen on port {port} of {host}: {error.strerror}."
        ) from None


def _say_without_keys(engine: Engine) -> None:
    """Tells how the first key is made, where nobody can do anything without one."""
    with suppress(DBAPIError), engine.connect() as connection:  # a schema that is too old is told by /health/ready
        if not keys.is_there_any(connection):
            make = "fencepost keys create NAME --scope admin"
            events.emit(
                "keys.missing",
                hint=f"nobody can come in; make a key: {make} (with the --data of `fencepost up`, if any)",
            )


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stops on a signal, and does not die of it afterwards as uvicorn's own would."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.handle_exit)
        yield
