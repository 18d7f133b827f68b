"""Metadata as the engine indexes it: every value as text, none so long that the engine would refuse the document."""

from collections.abc import Mapping
from hashlib import sha256

import orjson

MOST_NAME = 255
MOST_VALUE = 1000


def metadata_text(value: str | float | bool) -> str:  # noqa: FBT001 - a value of JSON
    """A value as it is indexed, and looked for: numbers without a needless fraction, long text cut and hashed."""
    if isinstance(value, str):
        return _short(value, MOST_VALUE)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        value = int(value)
    return orjson.dumps(value).decode()


def metadata_name(name: str) -> str:
    """A name as it is indexed, and looked for."""
    return _short(name, MOST_NAME)


def indexed(metadata: Mapping[str, object]) -> dict[str, object]:
    """The metadata of an entry as the engine gets it."""
    return {metadata_name(name): _value(value) for name, value in metadata.items()}


def _value(value: object) -> object:
    match value:
        case str() | bool() | int() | float():
            return metadata_text(value)
        case list():
            return [_value(item) for item in value]
        case dict():
            return indexed(value)
        case _:
            return None


def _short(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return text[: most - 64] + sha256(text.encode()).hexdigest()
