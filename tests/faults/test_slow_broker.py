"""A broker that takes the connection and then says nothing: the relay waits for it, and PostgreSQL for nobody."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.faults.test_worker_faults import all_succeeded
from tests.support.stack import Stack
from tests.support.waiting import until
from tests.support.world import World


@pytest.fixture
def silent() -> Iterator[tuple[str, threading.Event]]:
    """The address of a broker that never answers, and the event of its having been asked something."""
    asked, connections = threading.Event(), []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    connections.append(connection)
                    if connection.recv(1):
                        asked.set()

        thread = threading.Thread(target=accept, name="silent broker", daemon=True)
        thread.start()
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}", asked
        listener.shutdown(socket.SHUT_RDWR)
        for connection in connections:
            connection.close()
        thread.join(10)


def test_no_transaction_is_open_while_the_broker_is_asked(
    world: World, stack: Stack, silent: tuple[str, threading.Event]
) -> None:
    address, asked = silent
    world.upload("words")
    stack.start("relay", FENCEPOST_BROKER_URL=address)
    assert asked.wait(30)
    assert world.row("SELECT claim FROM outbox")["claim"] is not None, "it is about to send"
    sessions = world.rows("""
        SELECT state, xact_start FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'fencepost relay'
    """)
    assert sessions, "the relay is connected"
    assert [dict(row) for row in sessions if row["state"] != "idle" or row["xact_start"]] == []
    stack.start("relay")  # has the true broker
    stack.start("worker")
    world.upload("other words")
    until(all_succeeded(world, 2), seconds=30, what="the way past the one that hangs")
    world.check()
