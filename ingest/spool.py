"""Where an upload stays until all of it is here: in memory while it is small, then in a file that has no name."""

import hashlib
import tempfile
from collections.abc import AsyncIterator
from types import TracebackType
from typing import IO, Protocol, Self

from starlette.concurrency import run_in_threadpool

from pipeline.errors import TooLarge
from pipeline.settings import Upload

MEMORY = 256 * 1024
"""Bytes up to which an upload never touches the disk, nor needs a thread."""


class Sink(Protocol):
    """What takes the bytes of a request's body."""

    def write(self, data: bytes) -> None:
        """Takes the next bytes; raises a Refusal when they cannot be taken."""


class Spool:
    """Takes bytes, counts and hashes them; a context manager that forgets them in every case."""

    def __init__(self, upload: Upload) -> None:
        self._most = upload.most_bytes
        self._hash = hashlib.sha256()
        self.size = 0
        folder = str(upload.spool_folder) if upload.spool_folder is not None else None
        self.file: IO[bytes] = tempfile.SpooledTemporaryFile(MEMORY, dir=folder)  # noqa: SIM115 - closed by __exit__

    def write(self, data: bytes) -> None:
        """Takes the next bytes; raises TooLarge."""
        self.size += len(data)
        self.check(self.size)
        self._hash.update(data)
        self.file.write(data)

    def check(self, size: int) -> None:
        """Raises TooLarge if an upload of this size is over the limit."""
        if size > self._most:
            raise TooLarge(
                "too_large",
                f"The upload is larger than {self._most} bytes, the limit FENCEPOST_UPLOAD__MOST_BYTES.",
                limit_bytes=self._most,
            )

    @property
    def sha256(self) -> bytes:
        """The digest of what has been taken."""
        return self._hash.digest()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.file.close()


async def pour(body: AsyncIterator[bytes], sink: Sink) -> None:
    """Pours a body into a sink. From `MEMORY` on it is written in threads, so that a slow disk delays nobody else."""
    taken = 0
    async for chunk in body:
        taken += len(chunk)
        if taken <= MEMORY:
            sink.write(chunk)
        else:
            await run_in_threadpool(sink.write, chunk)
