"""A server that answers like OpenSearch, as a test scripts it: what a healthy node never says.

    with ScriptedEngine() as engine:
        engine.script(some_items(201, refusal(429, "rejected_execution_exception")), everything_written)

Each call takes the next answer of the script; after its end everything is written. `engine.calls` are the calls so far.
"""

import contextlib
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qs, urlsplit

import orjson


class Call(NamedTuple):
    """A request that came in."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes

    @property
    def actions(self) -> list[dict[str, Any]]:
        """What a bulk call asks for: {_index, _id, version, version_type} of each item."""
        return [orjson.loads(line)["index"] for line in self.body.split(b"\n")[:-1:2]]

    @property
    def sources(self) -> list[dict[str, Any]]:
        """The entries of a bulk call."""
        return [orjson.loads(line) for line in self.body.split(b"\n")[1:-1:2]]


@dataclass(frozen=True)
class Reply:
    """An answer; `drops` closes the connection instead, `waits_for` comes first."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    drops: bool = False
    waits_for: threading.Event | None = None


Answer = Reply | Callable[[Call], Reply]
Item = int | dict[str, Any]


def refusal(status: int, kind: str, reason: str = "") -> dict[str, Any]:
    """The answer to an item that is not written."""
    return {"status": status, "error": {"type": kind, "reason": reason}}


def some_items(*items: Item) -> Reply:
    """The answer to a bulk call, item by item; a number stands for its status."""
    answers = [{"index": {"status": item} if isinstance(item, int) else item} for item in items]
    return Reply(body=orjson.dumps({"errors": True, "items": answers}))


def everything(item: Item) -> Callable[[Call], Reply]:
    """The same answer to all items of a bulk call."""
    return lambda call: some_items(*[item] * len(call.actions))


def failure(status: int, kind: str = "", reason: str = "") -> Reply:
    """The answer to a whole call that fails."""
    return Reply(status, orjson.dumps({"error": {"type": kind, "reason": reason}, "status": status}))


everything_written = everything(201)
DROPPED = Reply(drops=True)


@dataclass
class ScriptedEngine:
    """The server; `largest` bytes of a body are taken, more are answered with 413."""

    largest: int = 2**40
    calls: list[Call] = field(default_factory=list)
    most_at_once: int = 0
    _answers: "deque[Answer]" = field(default_factory=deque)
    _at_once: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def script(self, *answers: Answer) -> None:
        """The answers to the next calls."""
        self._answers.extend(answers)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        engine = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                engine._handle(self)

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = handle_any  # noqa: N815 - names of the base class

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handle(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        body = handler.rfile.read(int(handler.headers.get("content-length", 0)))
        call = Call(handler.command, parts.path, parse_qs(parts.query), dict(handler.headers), body)
        with self._lock:
            self.calls.append(call)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            answer = self._answers.popleft() if self._answers else everything_written
        reply = failure(413) if len(body) > self.largest else answer(call) if callable(answer) else answer
        if reply.waits_for is not None:
            reply.waits_for.wait(10)
        with self._lock:
            self._at_once -= 1
        if reply.drops:
            handler.close_connection = True
            return
        with contextlib.suppress(ConnectionError):  # who asked may have given up
            handler.send_response(reply.status)
            handler.send_header("content-type", reply.content_type)
            handler.send_header("content-length", str(len(reply.body)))
            handler.end_headers()
            handler.wfile.write(reply.body)
