"""Cursors of lists: opaque to clients, in truth the sort key of the last row that was seen."""

import base64
import binascii

import orjson

from pipeline.errors import Refusal


def encode(*key: str | int) -> str:
    """The cursor after the row with this sort key."""
    return base64.urlsafe_b64encode(orjson.dumps(key)).decode().rstrip("=")


def decode(cursor: str, *kinds: type) -> list[str | int]:
    """The sort key in a cursor, one value of each kind; raises a Refusal 400 if it is not one of ours."""
    try:
        key = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, orjson.JSONDecodeError, ValueError):
        key = None
    if (
        not isinstance(key, list)
        or [type(value) for value in key] != list(kinds)
        or any(isinstance(value, int) and abs(value) >= 2**63 for value in key)
    ):
        raise Refusal("malformed_cursor", "The cursor is not one that this list gave out.")
    return key
