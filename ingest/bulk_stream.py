"""Streams lines in and answers out at the same time, in constant memory, whatever the client reads and when."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from ingest.bulk import GROUP_BYTES, GROUP_LINES, MOST_LINE_BYTES, BadLine, Line, accept_group, read_line
from ingest.intake import Intake

PATIENCE_SECONDS = 0.02
"""How long an open group waits for more lines to arrive."""
MEMORY = 1024 * 1024


class LineSplitter:
    """Cuts chunks into numbered lines. Blank ones are passed over, one that is too long comes out as None."""

    def __init__(self, most: int = MOST_LINE_BYTES) -> None:
        self._most = most
        self._rest = bytearray()
        self._is_too_long = False
        self._number = 0

    def feed(self, chunk: bytes) -> Iterator[tuple[int, bytes | None]]:
        """The lines that this chunk completes."""
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            self._add(part)
            yield from self.end()
        self._add(rest)

    def end(self) -> Iterator[tuple[int, bytes | None]]:
        """The line that ends here."""
        self._number += 1
        line = None if self._is_too_long else bytes(self._rest)
        self._rest.clear()
        self._is_too_long = False
        if line is None or line.strip():
            yield self._number, line

    def _add(self, part: bytes) -> None:
        self._is_too_long = self._is_too_long or len(self._rest) + len(part) > self._most
        if self._is_too_long:
            self._rest.clear()
        else:
            self._rest += part


class Answers:
    """Answers on their way out. They wait in a file, so that a client that only reads at the end blocks nobody."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(MEMORY)  # noqa: SIM115 - closed by `taken`
        self._read = 0
        self._written = 0
        self._news = asyncio.Event()
        self._ended = False

    def put(self, data: bytes) -> None:
        """Adds answers."""
        self._file.seek(self._written)
        self._written += self._file.write(data)
        self._news.set()

    def end(self) -> None:
        """Says that no more will come."""
        self._ended = True
        self._news.set()

    async def taken(self) -> AsyncGenerator[bytes, None]:
        """The answers in order, as soon as they are there."""
        with self._file:
            while self._read < self._written or not self._ended:
                self._news.clear()
                self._file.seek(self._read)
                if data := self._file.read(64 * 1024):
                    self._read += len(data)
                    yield data
                elif not self._ended:
                    await self._news.wait()


class DuplexResponse(StreamingResponse):
    """A response that is sent while the request still arrives: it leaves the receiving to its own content."""

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Sends all of it."""
        await self.stream_response(send)


async def answers(body: AsyncIterator[bytes], intake: Intake) -> AsyncIterator[bytes]:
    """The answers to the lines of a body, while it arrives."""
    out = Answers()
    work = asyncio.create_task(_work(body, intake, out))
    try:
        async with aclosing(out.taken()) as taken:
            async for data in taken:
                yield data
        await work
    finally:
        work.cancel()


async def _work(body: AsyncIterator[bytes], intake: Intake, out: Answers) -> None:
    """Accepts group by group. A client that leaves ends it: what was accepted stays accepted."""
    try:
        async with aclosing(_groups(body)) as groups:
            async for group in groups:
                told = await run_in_threadpool(accept_group, intake, group)
                out.put(b"".join(orjson.dumps(answer, option=orjson.OPT_APPEND_NEWLINE) for answer in told))
    except ClientDisconnect:
        return
    finally:
        out.end()


async def _groups(body: AsyncIterator[bytes]) -> AsyncGenerator[list[Line | BadLine], None]:
    """Full groups, and what there is when nothing more arrives for a moment."""
    splitter = LineSplitter()
    group: list[Line | BadLine] = []
    size = 0
    async with aclosing(_with_pauses(body)) as chunks:
        async for chunk in chunks:
            for number, data in splitter.end() if chunk is None else splitter.feed(chunk):
                group.append(read_line(number, data))
                size += len(data or b"")
                if len(group) >= GROUP_LINES or size >= GROUP_BYTES:
                    yield group
                    group, size = [], 0
            if not chunk and group:
                yield group
                group, size = [], 0


async def _with_pauses(body: AsyncIterator[bytes]) -> AsyncGenerator[bytes | None, None]:
    """The chunks of a body, b"" for each pause in it, and None at its end."""
    pending = asyncio.ensure_future(anext(body, None))
    try:
        while True:
            await asyncio.wait({pending}, timeout=PATIENCE_SECONDS)
            if not pending.done():
                yield b""
                await asyncio.wait({pending})
            chunk = pending.result()
            if chunk is None:
                break
            pending = asyncio.ensure_future(anext(body, None))
            yield chunk
        yield None
    finally:
        pending.cancel()
