import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexer.extract import Limits, Request, wire

MOST = 1 << 26


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, its = socket.socketpair()
    with ours, its:
        yield ours, its


@pytest.mark.parametrize(
    "request_",
    [
        Request(b"\n\x00 bytes \n", "a.txt", "text/plain", "koi8-r", Limits(characters=7)),
        Request(b""),
        Request(b"", seconds=7.5),
        Request(Path("/tmp/a document")),  # noqa: S108 - a name only
    ],
)
def test_a_request_arrives_as_it_was(pair: tuple[socket.socket, socket.socket], request_: Request):
    wire.send(pair[0], *wire.pack_request(request_, "text"))
    assert wire.unpack_request(wire.receive(pair[1], MOST)) == (request_, "text")


def test_a_frame_larger_than_the_pipe(pair: tuple[socket.socket, socket.socket]):
    sender = threading.Thread(target=wire.send, args=(pair[0], b"x" * 5_000_000))
    sender.start()
    assert len(wire.receive(pair[1], MOST)) == 5_000_000
    sender.join()


def test_a_frame_over_the_bound_is_refused_unread(pair: tuple[socket.socket, socket.socket]):
    wire.send(pair[0], b"twelve bytes")
    with pytest.raises(wire.ClosedError):
        wire.receive(pair[1], 11)


def test_a_side_that_hangs_up_is_noticed(pair: tuple[socket.socket, socket.socket]):
    pair[0].sendall(b"half")
    pair[0].close()
    with pytest.raises(wire.ClosedError):
        wire.receive(pair[1], MOST)
    with pytest.raises(wire.ClosedError):
        wire.send(pair[1], b"x")


def test_a_side_that_is_silent_is_waited_for_until_the_deadline(pair: tuple[socket.socket, socket.socket]):
    pair[0].settimeout(10)
    pair[1].settimeout(10)
    started = time.monotonic()
    with pytest.raises(TimeoutError):
        wire.receive(pair[1], MOST, deadline=time.monotonic() + 0.05)
    with pytest.raises(TimeoutError):
        wire.send(pair[0], b"x" * 10_000_000, deadline=time.monotonic() + 0.05)
    assert time.monotonic() - started < 5
