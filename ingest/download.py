"""Gives the bytes of a document back, without a chance to act as a page of this server."""

import re
from collections.abc import Iterator
from urllib.parse import quote

from sqlalchemy import Engine, RowMapping
from starlette.responses import StreamingResponse

from pipeline import contents

MEDIA_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]{1,100}/[A-Za-z0-9!#$&^_.+-]{1,100}")
UNQUOTABLE = re.compile(r'[^ -~]|["\\%]')


def download(engine: Engine, content: RowMapping) -> StreamingResponse:
    """Streams a content piece by piece; no connection is held while the client reads."""
    declared = content["media_type"].partition(";")[0].strip()
    return StreamingResponse(
        _pieces(engine, content["sha256"]),
        media_type=declared if MEDIA_TYPE.fullmatch(declared) else "application/octet-stream",
        headers={
            "Content-Length": str(content["size"]),
            "Content-Disposition": disposition(content["filename"] or "document"),
            "Content-Security-Policy": "sandbox; default-src 'none'",
            "ETag": f'"{content["sha256"].hex()}"',
        },
    )


def disposition(filename: str) -> str:
    """An attachment under this name: a plain form for old clients, the exact one for all others (RFC 6266)."""
    plain = UNQUOTABLE.sub("_", filename)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(filename, safe='')}"


def _pieces(engine: Engine, sha256: bytes) -> Iterator[bytes]:
    n = 0
    while (piece := _piece(engine, sha256, n)) is not None:
        yield piece
        n += 1


def _piece(engine: Engine, sha256: bytes, n: int) -> bytes | None:
    with engine.connect() as connection:
        return contents.piece(connection, sha256, n)
