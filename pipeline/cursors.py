"""Cursors of lists: opaque text that says behind which row the next page begins."""

import base64
import binascii
from collections.abc import Sequence

import orjson

from pipeline.errors import Invalid


def encode(*values: object) -> str:
    """The cursor behind a row with these sort values (times, ids, numbers)."""
    return base64.urlsafe_b64encode(orjson.dumps(values)).decode().rstrip("=")


def decode(cursor: str | None, kinds: Sequence[type]) -> tuple[str | int, ...] | None:
    """The sort values of a cursor, as JSON has them; None for the first page. Raises Invalid `bad_cursor`."""
    if cursor is None:
        return None
    try:
        values = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError):
        values = None
    if not isinstance(values, list) or [type(value) for value in values] != list(kinds):
        raise Invalid("bad_cursor", "The cursor is not one that this list gave out. Begin again without one.")
    return tuple(values)
