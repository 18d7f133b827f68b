"""What travels between the pool and its children: frames of JSON, never pickles.

A child that a document has taken over can hand its parent nothing but text.
"""

import math
import socket
import time
from dataclasses import asdict
from pathlib import Path

import orjson

from indexer.extract.types import Extraction, Limits, Ocr, Passage, Request
from pipeline.outcomes import TextQuality

_LENGTH_BYTES = 8
_PIECE = 1024 * 1024


class ClosedError(Exception):
    """The other side is gone."""


def send(channel: socket.socket, *parts: bytes, deadline: float | None = None) -> None:
    """Sends one frame until a monotonic deadline. Raises ClosedError or TimeoutError."""
    for part in (sum(map(len, parts)).to_bytes(_LENGTH_BYTES, "big"), *parts):
        _wait_until(channel, deadline)
        try:
            channel.sendall(part)
        except (BrokenPipeError, ConnectionResetError):
            raise ClosedError from None


def receive(channel: socket.socket, most: int, deadline: float | None = None) -> bytearray:
    """One frame of at most so many bytes, until a monotonic deadline. Raises ClosedError or TimeoutError."""
    length = int.from_bytes(_exactly(channel, _LENGTH_BYTES, deadline), "big")
    if length > most:
        raise ClosedError  # nobody honest sends so much
    return _exactly(channel, length, deadline)


def _exactly(channel: socket.socket, length: int, deadline: float | None) -> bytearray:
    data = bytearray()
    while len(data) < length:
        _wait_until(channel, deadline)
        try:
            piece = channel.recv(min(_PIECE, length - len(data)))
        except ConnectionResetError:
            raise ClosedError from None
        if not piece:
            raise ClosedError
        data += piece
    return data


def _wait_until(channel: socket.socket, deadline: float | None) -> None:
    channel.settimeout(None if deadline is None else max(0.001, deadline - time.monotonic()))


def pack_request(request: Request, kind: str) -> tuple[bytes, bytes]:
    """A request as two parts of a frame: a line that describes it, and the content unless that lies in a file."""
    head = {
        "kind": kind,
        "path": "" if isinstance(request.content, bytes) else str(request.content.absolute()),
        "filename": request.filename,
        "declared_media_type": request.declared_media_type,
        "encoding": request.encoding,
        "limits": asdict(request.limits),
        "ocr": None if request.ocr is None else asdict(request.ocr),
        "seconds": request.seconds,
    }
    return orjson.dumps(head) + b"\n", request.content if isinstance(request.content, bytes) else b""


def unpack_request(frame: bytearray) -> tuple[Request, str]:
    """The request of a frame, and the name of its kind."""
    end = frame.index(b"\n")
    head = orjson.loads(frame[:end])
    content = Path(head["path"]) if head["path"] else bytes(memoryview(frame)[end + 1 :])
    limits = Limits(**head["limits"])
    ocr = None if head["ocr"] is None else Ocr(**head["ocr"])
    request = Request(
        content,
        head["filename"],
        head["declared_media_type"],
        head["encoding"],
        limits,
        ocr,
        seconds=math.inf if head["seconds"] is None else head["seconds"],  # JSON has no infinity
    )
    return request, head["kind"]


def pack_extraction(extraction: Extraction) -> dict[str, object]:
    """An extraction as a JSON value."""
    return {
        "media_type": extraction.media_type,
        "text_quality": extraction.text_quality,
        "passages": [[p.text, p.page, p.member, p.heading, p.breaks] for p in extraction.passages],
        "facts": extraction.facts,
    }


def unpack_extraction(value: dict[str, object]) -> Extraction:
    """The extraction of a JSON value."""
    passages = [
        Passage(text, page, member, heading, tuple((offset, number) for offset, number in breaks))
        for text, page, member, heading, breaks in value["passages"]  # type: ignore[attr-defined] # checked by use
    ]
    return Extraction(
        str(value["media_type"]),
        TextQuality(str(value["text_quality"])),
        passages,
        value["facts"],  # type: ignore[arg-type] # a JSON object
    )
