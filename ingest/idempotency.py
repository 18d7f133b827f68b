"""Idempotency keys: a request that is repeated, because its answer was lost, gets the answer of the first time."""

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import orjson
from sqlalchemy import Connection, text

from pipeline.caller import Caller
from pipeline.errors import Conflict, Invalid, Refusal

MOST_KEY_BYTES = 255


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """One request under a key. `fingerprint` covers all of the request that matters."""

    key: str
    fingerprint: bytes

    def of(self, caller: Caller) -> "IdempotentRequest":
        """The same as this caller's own: equal keys of two callers know nothing of each other."""
        if caller.key is None:
            return self
        return replace(self, key=hashlib.sha256(f"{caller.key} {self.key}".encode()).hexdigest())


def identify(key: str | None, *parts: object) -> IdempotentRequest | None:
    """The request under its key, None without one; raises a Refusal 400 if the key cannot be one."""
    if key is None:
        return None
    if not key.isprintable() or not 1 <= len(key.encode()) <= MOST_KEY_BYTES:
        raise Refusal(
            "malformed_idempotency_key", f"Idempotency-Key is 1 to {MOST_KEY_BYTES} bytes of printable characters."
        )
    canonical = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS, default=bytes.hex)
    return IdempotentRequest(key, hashlib.sha256(canonical).digest())


def recall(connection: Connection, request: IdempotentRequest, *, hours: float) -> dict[str, Any] | None:
    """The stored answer, or None if this is the first time; until the transaction ends the key is ours.

    Raises Conflict `in_progress` while another transaction has the key, Invalid `idempotency_key_reused` if it was
    used for another request within the last `hours`.
    """
    is_ours = connection.scalar(
        text("SELECT pg_try_advisory_xact_lock(hashtextextended('idempotency ' || :key, 0))"), {"key": request.key}
    )
    if not is_ours:
        raise Conflict("in_progress", "A request with this Idempotency-Key is being worked on. Ask again in a moment.")
    stored = connection.execute(
        text("""
            SELECT fingerprint, answer FROM idempotency_keys
            WHERE key = :key AND created_at > now() - make_interval(secs => :hours * 3600)
        """),
        {"key": request.key, "hours": hours},
    ).one_or_none()
    if stored is None:
        return None
    if stored.fingerprint != request.fingerprint:
        raise Invalid("idempotency_key_reused", "This Idempotency-Key was used for another request. Choose a new key.")
    answer: dict[str, Any] = stored.answer
    return answer


def remember(connection: Connection, request: IdempotentRequest, *, answer: dict[str, Any]) -> None:
    """Stores the answer in the transaction that it tells about."""
    connection.execute(
        text("""
            INSERT INTO idempotency_keys (key, fingerprint, answer)
            VALUES (:key, :fingerprint, CAST(:answer AS jsonb))
            ON CONFLICT (key) DO UPDATE
            SET fingerprint = EXCLUDED.fingerprint, answer = EXCLUDED.answer, created_at = now()
        """),
        {
            "key": request.key,
            "fingerprint": request.fingerprint,
            "answer": orjson.dumps(answer).decode(),
        },
    )
