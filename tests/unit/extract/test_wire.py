import socket
import threading
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from indexer.extract import Limits, Request
from indexer.extract.isolation import wire

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
    ],
)
def test_a_request_arrives_as_it_was(pair: tuple[socket.socket, socket.socket], request_: Request):
    wire.send_request(pair[0], request_, "text", time.monotonic() + 5)
    with wire.receive_request(pair[1]) as received:
        assert received == (request_, "text")


@pytest.mark.parametrize("content", [b"the bytes of a file", b""])
def test_a_document_in_a_file_arrives_mapped(pair: tuple[socket.socket, socket.socket], tmp_path: Path, content: bytes):
    document = tmp_path / "a document"
    document.write_bytes(content)
    wire.send_request(pair[0], Request(document, "a.txt"), "text", time.monotonic() + 5)
    document.unlink()
    with wire.receive_request(pair[1]) as (received, kind):
        assert kind == "text"
        assert received.filename == "a.txt"
        assert not isinstance(received.content, Path)
        assert received.content[:] == content


def test_what_a_request_says_is_cleaned(pair: tuple[socket.socket, socket.socket]):
    wire.send_request(pair[0], Request(b"x", "a\udcff\0.txt"), "text", time.monotonic() + 5)
    with wire.receive_request(pair[1]) as (received, _):
        assert received.filename == "a\ufffd.txt"


def test_half_a_request_is_noticed(pair: tuple[socket.socket, socket.socket]):
    pair[0].sendall(bytes(7) + b"\x09" + b"half")
    pair[0].close()
    with pytest.raises(wire.ClosedError), wire.receive_request(pair[1]):
        pass


def test_a_frame_larger_than_the_pipe(pair: tuple[socket.socket, socket.socket]):
    sender = threading.Thread(target=wire.send, args=(pair[0], b"x" * 5_000_000))
    sender.start()
    assert len(wire.receive(pair[1], MOST)) == 5_000_000
    sender.join()


def test_a_frame_over_the_bound_is_refused_unread(pair: tuple[socket.socket, socket.socket]):
    wire.send(pair[0], b"twelve bytes")
    with pytest.raises(wire.TooLongError):
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


@pytest.mark.parametrize(
    "piece", [b"[]", b"{}", b'""', b"1000", b'{"a":1}', b'["a\\"b"]', b"[[[[[]]]]]"], ids=lambda piece: piece.decode()
)
def test_an_answer_of_very_many_values_is_refused_before_they_are_made(piece: bytes):
    frame = bytearray(b"[" + (piece + b",") * 1_000_001 + b"0]")
    tracemalloc.start()
    with pytest.raises(wire.TooLongError):
        wire.loads(frame)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000


def test_a_text_may_have_as_many_signs_as_it_likes():
    text = '[1, {2}: "3\\", ' * 300_000
    assert wire.loads(bytearray(orjson.dumps([text, 1, text]))) == [text, 1, text]


def test_an_answer_that_is_no_json_is_refused():
    for frame in (b"", b'"' + b"," * 2_000_000, b"[" * 900_000):
        with pytest.raises((ValueError, wire.TooLongError)):
            wire.loads(bytearray(frame))
