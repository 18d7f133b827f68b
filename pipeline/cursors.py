"""Cursors of lists: opaque text that says behind which row the next page begins."""

import base64
import binascii
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import RowMapping

from pipeline.database import MOST_BIGINT
from pipeline.errors import Invalid

_PARSERS: dict[type, Callable[[str], Any]] = {str: str, datetime: datetime.fromisoformat, UUID: UUID}


def encode(*values: object) -> str:
    """The cursor behind a row with these sort values: times, ids, texts and integers."""
    return base64.urlsafe_b64encode(orjson.dumps(values)).decode().rstrip("=")


def decode(cursor: str | None, kinds: Sequence[type]) -> tuple[Any, ...] | None:
    """The sort values of a cursor, one of each kind; None for the first page. Raises Invalid `bad_cursor`."""
    if cursor is None:
        return None
    try:
        values = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return tuple(_value(value, kind) for value, kind in zip(values, kinds, strict=True))
    except (binascii.Error, TypeError, ValueError):
        raise bad() from None


def page(rows: Sequence[RowMapping], limit: int, *order: str) -> tuple[Sequence[RowMapping], str | None]:
    """The first `limit` of rows, and the cursor of the next page if there are more; `order` names the sort columns."""
    shown = rows[:limit]
    return shown, encode(*(shown[-1][name] for name in order)) if len(rows) > limit else None


def bad() -> Invalid:
    """The refusal of a cursor that the list did not give out."""
    return Invalid("bad_cursor", "The cursor is not one that this list gave out. Begin again without one.")


def _value(value: object, kind: type) -> object:
    if kind is int:
        if type(value) is not int or abs(value) > MOST_BIGINT:
            raise ValueError
        return value
    if not isinstance(value, str):
        raise TypeError
    return _PARSERS[kind](value)
