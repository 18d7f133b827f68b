"""The HTTP application of a test: a real server on a port of its own, in a thread of the test process."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import uvicorn
from pydantic import SecretStr

from fencepost.http.app import create_app
from pipeline.settings import Settings
from tests.support.servers import Database

DEADLINE = 30.0


@contextmanager
def serving(database: Database, settings: Settings | None = None) -> Iterator[httpx.Client]:
    """A client of an application on this database."""
    tree = (settings or Settings()).model_copy(update={"database_url": SecretStr(database.url)})
    app = create_app(tree, engine=database.engine)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, ws="none", server_header=False))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="api", daemon=True)
        thread.start()
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=DEADLINE) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join(DEADLINE)
