"""What travels between the pool and its children: frames of JSON, never pickles.

A child that a document has taken over can hand its parent nothing but text. A document that lies in a file travels as
its open descriptor, for the child may open no files.
"""

import contextlib
import math
import os
import re
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import orjson

from indexer.extract.types import Buffer, Extraction, Fact, Limits, Ocr, Passage, Request
from pipeline.outcomes import TextQuality
from pipeline.sanitise import clean_text

_LENGTH_BYTES = 8
_PIECE = 1024 * 1024
_MOST = 2**31
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"')
_SIGNS = (b",", b":", b"[", b"{")  # each comes with a value, where it stands in no string

MOST_VALUES = 1_000_000
"""Values of an answer, of which each may take ten times as much memory as it has bytes."""


class ClosedError(Exception):
    """The other side is gone."""


class TooLongError(Exception):
    """The other side wants to send more than is taken."""


def send(channel: socket.socket, *parts: Buffer, deadline: float | None = None) -> None:
    """Sends one frame until a monotonic deadline. Raises ClosedError or TimeoutError."""
    for part in (_length(parts), *parts):
        _wait_until(channel, deadline)
        with _closed_if_broken():
            channel.sendall(part)


def receive(channel: socket.socket, most: int, deadline: float | None = None) -> bytearray:
    """A frame of at most so many bytes, until a deadline. Raises ClosedError, TooLongError or TimeoutError."""
    length = int.from_bytes(_exactly(channel, _LENGTH_BYTES, deadline), "big")
    if length > most:
        raise TooLongError
    return _exactly(channel, length, deadline)


def loads(frame: bytearray) -> Any:  # noqa: ANN401 - whatever it is
    """The value of a frame that may come from a stranger. Raises TooLongError or ValueError."""
    if sum(map(frame.count, _SIGNS)) > MOST_VALUES:
        _refuse_more_values(frame)
    return orjson.loads(frame)


def _refuse_more_values(frame: bytearray) -> None:
    values = at = 0
    for string in _STRING.finditer(frame):
        values += 1 + sum(frame.count(sign, at, string.start()) for sign in _SIGNS)
        at = string.end()
        if values > MOST_VALUES:
            raise TooLongError
    if values + sum(frame.count(sign, at) for sign in _SIGNS) > MOST_VALUES:
        raise TooLongError


def send_request(channel: socket.socket, request: Request, kind: str, deadline: float) -> None:
    """Sends what is to be read, until a monotonic deadline. Raises ClosedError or TimeoutError."""
    content = request.content
    if isinstance(content, Path) and content.stat().st_size == 0:
        content = b""
    head = orjson.dumps(_description(request, kind) | {"mapped": isinstance(content, Path)}) + b"\n"
    if not isinstance(content, Path):
        send(channel, head, content, deadline=deadline)
        return
    _wait_until(channel, deadline)
    with content.open("rb") as file, _closed_if_broken():
        socket.send_fds(channel, [_length([head])], [file.fileno()])
        channel.sendall(head)


@contextlib.contextmanager
def receive_request(channel: socket.socket) -> Iterator[tuple[Request, str]]:
    """What is to be read, and the name of its kind; a mapped document is let go at the end. Raises ClosedError."""
    with _closed_if_broken():
        length, descriptors, _, _ = socket.recv_fds(channel, _LENGTH_BYTES, 1)
    if len(length) < _LENGTH_BYTES:
        raise ClosedError
    with contextlib.ExitStack() as stack:
        mapped = [stack.enter_context(_mapped(descriptor)) for descriptor in descriptors]
        frame = _exactly(channel, int.from_bytes(length, "big"), None)
        end = frame.index(b"\n")
        head = orjson.loads(frame[:end])
        content = mapped[0] if head["mapped"] else bytes(memoryview(frame)[end + 1 :])
        del frame
        yield _request(head, content), head["kind"]


def _length(parts: Sequence[Buffer]) -> bytes:
    return sum(map(len, parts)).to_bytes(_LENGTH_BYTES, "big")


def _mapped(descriptor: int) -> mmap:
    try:
        return mmap(descriptor, 0, access=ACCESS_READ)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _closed_if_broken() -> Iterator[None]:
    try:
        yield
    except (BrokenPipeError, ConnectionResetError):
        raise ClosedError from None


def _exactly(channel: socket.socket, length: int, deadline: float | None) -> bytearray:
    data = bytearray()
    while len(data) < length:
        _wait_until(channel, deadline)
        with _closed_if_broken():
            piece = channel.recv(min(_PIECE, length - len(data)))
        if not piece:
            raise ClosedError
        data += piece
    return data


def _wait_until(channel: socket.socket, deadline: float | None) -> None:
    channel.settimeout(None if deadline is None else max(0.001, deadline - time.monotonic()))


def _description(request: Request, kind: str) -> dict[str, object]:
    return {
        "kind": kind,
        "filename": clean_text(request.filename),
        "declared_media_type": clean_text(request.declared_media_type),
        "encoding": clean_text(request.encoding),
        "limits": asdict(request.limits),
        "ocr": None if request.ocr is None else asdict(request.ocr),
        "seconds": request.seconds,
        "left_out": list(request.left_out.items()),
    }


def _request(head: dict[str, Any], content: Buffer) -> Request:
    limits = Limits(**head["limits"])
    ocr = None if head["ocr"] is None else Ocr(**head["ocr"])
    return Request(
        content,
        head["filename"],
        head["declared_media_type"],
        head["encoding"],
        limits,
        ocr,
        seconds=math.inf if head["seconds"] is None else head["seconds"],  # JSON has no infinity
        left_out=dict(head["left_out"]),
    )


def pack_extraction(extraction: Extraction) -> dict[str, object]:
    """An extraction as a JSON value."""
    return {
        "text_quality": extraction.text_quality,
        "passages": [[p.text, p.page, p.member, p.heading, p.breaks] for p in extraction.passages],
        "facts": extraction.facts,
    }


def unpack_extraction(value: dict[str, Any], media_type: str) -> Extraction:
    """The extraction of a JSON value, which may come from a stranger. Raises LookupError, TypeError or ValueError."""
    passages = [_passage(*row) for row in value["passages"]]
    facts = {clean_text(name): _fact(fact) for name, fact in dict(value["facts"]).items()}
    return Extraction(media_type, TextQuality(value["text_quality"]), passages, facts)


def _passage(
    text: object, page: object, member: object, heading: object, breaks: list[tuple[object, object]]
) -> Passage:
    numbers = tuple((number(offset), number(page_)) for offset, page_ in breaks)
    place = None if page is None else number(page)
    return Passage(_text(text), place, _text_or_none(member), _text_or_none(heading), numbers)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return clean_text(value)


def _text_or_none(value: object) -> str | None:
    return None if value is None else _text(value)


def number(value: object) -> int:
    """A number that may come from a stranger. Raises ValueError."""
    if not isinstance(value, int) or not 0 <= value < _MOST:
        raise ValueError
    return value


def _fact(value: object) -> Fact:
    if isinstance(value, list):
        return [_text(item) for item in value]
    return value if isinstance(value, (int, float)) else _text(value)
