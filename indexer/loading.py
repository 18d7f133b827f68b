"""Load: the bytes of each member, the kind of document they are, and the result that may be stored already."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine

from indexer import results, scratch
from indexer.extract import Limits, Ocr, Request, choose_kind, extractor, fingerprint
from indexer.results import Key
from indexer.underway import Attempt, failed
from pipeline import contents
from pipeline.errors import Permanent
from pipeline.loop import patiently
from pipeline.outcomes import Rejected


@contextmanager
def loaded(engine: Engine, attempts: list[Attempt], limits: Limits, ocr: Ocr | None) -> Iterator[None]:
    """Reads the bytes: small ones into memory, all at once; large ones piece by piece into a file for the block."""
    indexing = [attempt for attempt in attempts if not attempt.deletes]
    with ExitStack() as files:
        patiently(lambda: _load(engine, indexing, limits, ocr, files))
        yield


def _load(engine: Engine, attempts: list[Attempt], limits: Limits, ocr: Ocr | None, files: ExitStack) -> None:
    started = time.monotonic()
    with engine.connect() as connection:
        is_small = [a.lease.sha256 for a in attempts if a.lease.sha256 and (a.lease.size or 0) <= contents.PIECE]
        small = contents.small(connection, is_small)
        for attempt in attempts:
            sha256 = attempt.lease.sha256
            assert sha256 is not None  # noqa: S101 - the table's CHECK: only a delete has none
            content = small[sha256] if sha256 in small else _copied(connection, sha256, files)
            attempt.request = _request(attempt, content, limits, ocr)
            _identify(attempt, attempt.request, sha256)
            attempt.stages.load_ms = round((time.monotonic() - started) * 1000)
        found = results.find(connection, {a.key for a in attempts if a.key is not None})
    for attempt in attempts:
        result = found.get(attempt.key) if attempt.key is not None else None
        attempt.result = result if result and result.serves(attempt.lease.accepted_at) else None


def _copied(connection: Connection, sha256: bytes, files: ExitStack) -> Path:
    path = files.enter_context(scratch.folder()) / "content"
    with path.open("wb") as file:
        file.writelines(contents.pieces(connection, sha256))
    return path


def _request(attempt: Attempt, content: bytes | Path, limits: Limits, ocr: Ocr | None) -> Request:
    encoding = attempt.lease.metadata.get("encoding", "")
    return Request(
        content=content,
        filename=attempt.lease.filename,
        declared_media_type=attempt.lease.media_type,
        encoding=encoding if isinstance(encoding, str) else "",
        limits=limits,
        ocr=ocr,
    )


def _identify(attempt: Attempt, request: Request, sha256: bytes) -> None:
    """Decides the kind of document, and with it the key under which its result is stored."""
    try:
        attempt.kind = choose_kind(request.content, request.filename, request.declared_media_type)
    except Permanent as error:
        attempt.outcome = Rejected(error.code, error.message)
    except Exception as error:  # noqa: BLE001 - a fault of ours must not take the batch along
        attempt.outcome = failed(attempt, error)
    else:
        attempt.key = Key(sha256, extractor(attempt.kind), fingerprint(attempt.kind, request))
