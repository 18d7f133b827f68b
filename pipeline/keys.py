"""API keys: made, listed, revoked, and found again by their token.

A token is fp_PREFIX_SECRET. The prefix is public: by it people know a key again in lists and logs. The token itself is
shown once and never stored: its secret has 256 random bits, so that a plain SHA-256 of it tells nobody anything, and
looking that up compares no secret byte by byte.
"""

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, text

from pipeline import events
from pipeline.caller import Caller, Scope
from pipeline.collections import collection_ids, collection_name
from pipeline.database import query
from pipeline.errors import NotFound, invalid
from pipeline.sanitise import clean_text
from pipeline.settings import TOKEN

MOST_COLLECTIONS = 100
MOST_DAYS = 36_500
MOST_SHOWN = 1_000

_USABLE = """
    SELECT k.key_id, k.prefix, k.name, k.scope,
           CASE WHEN k.collections IS NOT NULL THEN coalesce(
               (SELECT json_object_agg(c.name, c.collection_id) FROM collections c
                WHERE c.collection_id = ANY(k.collections)), '{}')
           END AS collections,
           coalesce(k.last_used_at < clock_timestamp() - interval '1 minute', true) AS is_unnoted
    FROM api_keys k
    WHERE k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
"""
_LIST = """
    SELECT k.key_id, k.prefix, k.name, k.scope, k.created_at, k.expires_at, k.last_used_at, k.revoked_at,
           (SELECT array_agg(c.name ORDER BY c.name) FROM collections c WHERE c.collection_id = ANY(k.collections))
               AS collections,
           CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked' WHEN k.expires_at <= clock_timestamp() THEN 'expired'
                ELSE 'usable' END AS state
    FROM api_keys k
"""


@dataclass(frozen=True, slots=True)
class Key:
    """A key as people see it. `collections` None: all, also those to come; `state` is usable, expired or revoked."""

    key_id: int
    prefix: str
    name: str
    scope: str
    collections: list[str] | None
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    state: str


def create(
    connection: Connection,
    name: str,
    scope: Scope,
    collections: Sequence[str] | None = None,
    *,
    days: float | None = None,
) -> tuple[str, Key]:
    """Makes a key; returns its token, which is nowhere else, and what is known of it. Raises Invalid."""
    name = _checked(name, collections, days)
    token = f"fp_{secrets.token_hex(4)}_{secrets.token_hex(32)}"
    ids = sorted(collection_ids(connection, set(collections)).values()) if collections is not None else None
    connection.execute(
        text("""
            INSERT INTO api_keys (name, prefix, hash, scope, collections, expires_at)
            VALUES (:name, :prefix, :hash, :scope, :collections,
                    clock_timestamp() + make_interval(secs => CAST(:days AS float8) * 86400))
        """),
        {
            "name": name,
            "prefix": prefix_of(token),
            "hash": hashed(token),
            "scope": scope,
            "collections": ids,
            "days": days,
        },
    )
    (key,) = _rows(connection, "WHERE k.prefix = :prefix", {"prefix": prefix_of(token)})
    events.emit("key.created", prefix=key.prefix, title=name, scope=scope, collections=key.collections)
    return token, key


def listing(connection: Connection) -> list[Key]:
    """All keys, the newest first, also those that are of no use any more."""
    return _rows(connection, "ORDER BY k.key_id DESC LIMIT :most", {"most": MOST_SHOWN})


def revoke(connection: Connection, name: str) -> Key:
    """Makes the key with this prefix (or id, or whole token) useless from now on. Raises NotFound."""
    wanted = prefix_of(name) or name.removeprefix("fp_")
    revoked = connection.scalar(
        text("""
            UPDATE api_keys SET revoked_at = coalesce(revoked_at, clock_timestamp())
            WHERE prefix = :wanted OR CAST(key_id AS text) = :wanted RETURNING key_id
        """),
        {"wanted": clean_text(wanted)},
    )
    if revoked is None:
        raise NotFound("key_not_found", "There is no such key. Name it by its prefix, the eight characters behind fp_.")
    (key,) = _rows(connection, "WHERE k.key_id = :key_id", {"key_id": revoked})
    events.emit("key.revoked", prefix=key.prefix, title=key.name)
    return key


def find(connection: Connection, token: str) -> Caller | None:
    """Whose token this is; None if it is nobody's, was revoked or has expired."""
    if not TOKEN.fullmatch(token):
        return None
    return usable(connection, "k.hash = :hash", {"hash": hashed(token)})


def is_there_any(connection: Connection) -> bool:
    """Whether somebody has a key that can be used."""
    return bool(connection.scalar(text(f"SELECT EXISTS ({_USABLE})")))


def usable(connection: Connection, condition: str, values: Mapping[str, object]) -> Caller | None:
    """Who has the usable key that meets a condition on `k`; its use is noted, at most once a minute."""
    row = connection.execute(text(f"{_USABLE} AND {condition}"), dict(values)).one_or_none()
    if row is None:
        return None
    if row.is_unnoted:
        connection.execute(text("SET LOCAL synchronous_commit = off"))  # nobody waits for the disk because of it
        connection.execute(query("note_key_use"), {"key_id": row.key_id})
    return Caller(Scope(row.scope), row.collections, row.prefix, row.name)


def hashed(secret: str) -> bytes:
    """What is stored instead of a random secret."""
    return hashlib.sha256(secret.encode()).digest()


def prefix_of(token: str) -> str | None:
    """The public part of a token; None if it cannot be one."""
    match = TOKEN.fullmatch(token)
    return match["prefix"] if match else None


def _checked(name: str, collections: Sequence[str] | None, days: float | None) -> str:
    """The name, clean; raises Invalid if anything about the wanted key cannot be."""
    name = clean_text(name).strip()
    if not 1 <= len(name) <= 200:
        raise invalid("name", "is 1 to 200 characters long")
    if collections is not None and not 1 <= len(set(collections)) <= MOST_COLLECTIONS:
        raise invalid("collections", f"names 1 to {MOST_COLLECTIONS} collections; leave it out for all")
    for collection in collections or ():
        collection_name(collection)
    if days is not None and not 0 < days <= MOST_DAYS:
        raise invalid("days", f"is more than 0 and at most {MOST_DAYS:,}")
    return name


def _rows(connection: Connection, rest: str, values: dict[str, Any]) -> list[Key]:
    return [Key(**row) for row in connection.execute(text(f"{_LIST} {rest}"), values).mappings()]
