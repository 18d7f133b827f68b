"""What comes with a document besides its bytes: checked, sanitised and named once, for all doors."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from pipeline.acceptance import Submission
from pipeline.collections import collection_name
from pipeline.errors import Refusal, invalid
from pipeline.sanitise import clean_json, clean_text

FIELDS = ("collection", "key", "title", "filename", "media_type", "metadata")
MOST_METADATA_BYTES = 64 * 1024
MOST_METADATA_DEPTH = 16
MOST_KEY_BYTES = 1024
MOST_CHARACTERS = {"title": 1000, "filename": 1000, "media_type": 255}


@dataclass(frozen=True, slots=True)
class Description:
    """The names and metadata of one upload; None is what the caller did not say."""

    collection: str = "default"
    key: str | None = None
    title: str | None = None
    filename: str | None = None
    media_type: str | None = None
    metadata: dict[str, Any] | None = None

    def submission(self, **more: Any) -> Submission:  # noqa: ANN401 - the fields of a Submission
        """The same as a wanted change; `more` names the content and the conditions."""
        return Submission(
            collection=self.collection,
            key=self.key,
            title=self.title,
            filename=self.filename,
            media_type=self.media_type,
            metadata=self.metadata,
            **more,
        )


def describe(fields: Mapping[str, object]) -> Description:
    """Checks the fields of one upload, given as text or JSON values; raises Invalid, which names the field."""
    texts = {name: _text(name, fields.get(name)) for name in FIELDS if name != "metadata"}
    filename = _last_segment(texts["filename"]) if texts["filename"] is not None else None
    for name, most in MOST_CHARACTERS.items():
        if len(texts[name] or "") > most:
            raise invalid(name, f"is longer than {most:,} characters")
    return Description(
        collection=collection_name(texts["collection"]) if texts["collection"] is not None else "default",
        key=_key(texts["key"]),
        title=texts["title"],
        filename=filename,
        media_type=texts["media_type"],
        metadata=_metadata(fields.get("metadata")),
    )


def titled(description: Description) -> Description:
    """The same, with the filename as title if it has none."""
    if description.title is not None or description.filename is None:
        return description
    return replace(description, title=description.filename)


def parse_json(data: bytes | str, *, what: str) -> object:
    """Parses JSON; raises a Refusal 400 that says where it is malformed."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise Refusal("malformed_json", f"{what} is not JSON: {error}.") from None


def _text(name: str, value: object) -> str | None:
    if value is None or isinstance(value, str):
        return clean_text(value) if value is not None else None
    raise invalid(name, "is text")


def _key(key: str | None) -> str | None:
    if key is not None and not 1 <= len(key.encode()) <= MOST_KEY_BYTES:
        raise invalid("key", f"is 1 to {MOST_KEY_BYTES:,} bytes long")
    return key


def _last_segment(filename: str) -> str:
    """The name without folders, of either kind of system."""
    return filename.replace("\\", "/").rstrip("/").rpartition("/")[2]


def _metadata(value: object) -> dict[str, Any] | None:
    if value is None:
        return None
    if isinstance(value, str | bytes):
        value = parse_json(value, what="metadata")
    if not isinstance(value, dict):
        raise invalid("metadata", "is a JSON object")
    if _depth(value, MOST_METADATA_DEPTH) < 0:
        raise invalid("metadata", f"is nested deeper than {MOST_METADATA_DEPTH} levels")
    if len(orjson.dumps(value)) > MOST_METADATA_BYTES:
        raise invalid("metadata", f"is larger than {MOST_METADATA_BYTES:,} bytes")
    cleaned = clean_json(value)
    assert isinstance(cleaned, dict)  # noqa: S101 - a clean object is an object
    return cleaned


def _depth(value: object, allowed: int) -> int:
    """What remains of the allowed levels below this value; negative when there are more."""
    if not isinstance(value, dict | list) or allowed < 0:
        return allowed
    inner = value.values() if isinstance(value, dict) else value
    return min((_depth(item, allowed - 1) for item in inner), default=allowed - 1)
