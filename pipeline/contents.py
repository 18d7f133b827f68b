"""The bytes of documents, kept once per SHA-256 in pieces of at most 1 MiB."""

from collections.abc import Iterable, Iterator, Mapping
from typing import IO

from sqlalchemy import Connection, text

PIECE = 1024 * 1024

_CLAIM = text("""
    INSERT INTO contents (sha256, size)
    SELECT * FROM unnest(CAST(:hashes AS bytea[]), CAST(:sizes AS bigint[]))
    ON CONFLICT (sha256) DO UPDATE SET created_at = now()
    RETURNING sha256, xmax = 0 AS is_new
""")
_ADD = text("INSERT INTO content_pieces (sha256, n, bytes) VALUES (:sha256, :n, :bytes)")
_ADD_MANY = text("""
    INSERT INTO content_pieces (sha256, n, bytes)
    SELECT hash, 0, bytes FROM unnest(CAST(:hashes AS bytea[]), CAST(:pieces AS bytea[])) AS p (hash, bytes)
""")


def store(connection: Connection, sha256: bytes, size: int, file: IO[bytes]) -> None:
    """Copies a file in, piece by piece, unless its bytes are already there.

    The row is touched either way, which keeps the purge of unused contents away until the caller has committed.
    """
    (row,) = connection.execute(_CLAIM, {"hashes": [sha256], "sizes": [size]})
    if row.is_new:
        file.seek(0)
        for n, piece in enumerate(iter(lambda: file.read(PIECE), b"")):
            connection.execute(_ADD, {"sha256": sha256, "n": n, "bytes": piece})


def store_small(connection: Connection, contents: Mapping[bytes, bytes]) -> None:
    """Stores many contents of at most one piece each; the mapping goes from SHA-256 to bytes."""
    hashes = sorted(contents)
    rows = connection.execute(_CLAIM, {"hashes": hashes, "sizes": [len(contents[h]) for h in hashes]})
    new = [row.sha256 for row in rows if row.is_new and contents[row.sha256]]
    if new:
        connection.execute(_ADD_MANY, {"hashes": new, "pieces": [contents[h] for h in new]})


def pieces(connection: Connection, sha256: bytes) -> Iterator[bytes]:
    """The bytes of one content in order, one piece in memory at a time."""
    n = 0
    while (found := piece(connection, sha256, n)) is not None:
        yield found
        n += 1


def piece(connection: Connection, sha256: bytes, n: int) -> bytes | None:
    """One piece of a content; None behind the last one."""
    find = text("SELECT bytes FROM content_pieces WHERE sha256 = :sha256 AND n = :n")
    found: bytes | None = connection.scalar(find, {"sha256": sha256, "n": n})
    return found


def small(connection: Connection, hashes: Iterable[bytes]) -> dict[bytes, bytes]:
    """The bytes of contents of one piece, many at once. An empty content has no piece and is b""."""
    wanted = list(hashes)
    rows = connection.execute(
        text("SELECT sha256, bytes FROM content_pieces WHERE sha256 = ANY(CAST(:hashes AS bytea[])) AND n = 0"),
        {"hashes": wanted},
    )
    return dict.fromkeys(wanted, b"") | {row.sha256: row.bytes for row in rows}
