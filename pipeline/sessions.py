"""Sessions: a person has shown a key to the login page, and the browser keeps a secret that stands for it.

Of that secret, too, only the hash is stored. A session ends with its time, with its key, or by logging out.
"""

import re
import secrets

from sqlalchemy import Connection, text

from pipeline import events, keys
from pipeline.caller import Caller

SECRET = re.compile("[0-9a-f]{64}")


def begin(connection: Connection, token: str, *, hours: float) -> str | None:
    """The secret of a new session with the key of this token; None if that is not usable."""
    caller = keys.find(connection, token)
    if caller is None:
        return None
    secret = secrets.token_hex(32)
    connection.execute(text("DELETE FROM sessions WHERE expires_at < clock_timestamp()"))
    connection.execute(
        text("""
            INSERT INTO sessions (hash, key_id, expires_at)
            SELECT :hash, key_id, clock_timestamp() + make_interval(secs => CAST(:hours AS float8) * 3600)
            FROM api_keys WHERE prefix = :prefix
        """),
        {"hash": keys.hashed(secret), "prefix": caller.key, "hours": hours},
    )
    events.emit("session.began", key=caller.key)
    return secret


def find(connection: Connection, secret: str) -> Caller | None:
    """Whose session this is; None when it has ended, or its key cannot be used any more."""
    if not SECRET.fullmatch(secret):
        return None
    condition = "k.key_id = (SELECT key_id FROM sessions WHERE hash = :hash AND expires_at > clock_timestamp())"
    return keys.usable(connection, condition, {"hash": keys.hashed(secret)})


def end(connection: Connection, secret: str) -> None:
    """Ends a session, if there is one."""
    connection.execute(text("DELETE FROM sessions WHERE hash = :hash"), {"hash": keys.hashed(secret)})
