"""Plain text, and everything that reads well as such: CSV, JSON, logs, source code."""

import re

from indexer.extract.encodings import declared_inside, decode
from indexer.extract.types import Block, Buffer, Reading, Request

_CHARSET = re.compile(r"charset=\"?([\w.:-]+)", re.IGNORECASE)


def read(content: Buffer, request: Request) -> Reading:
    """The text as it stands, with line ends of one kind."""
    data = bytes(content)
    declared = charset(request.declared_media_type) or (declared_inside(data) if data.startswith(b"<?xml") else "")
    decoded = decode(data, declared, request.encoding)
    text = decoded.text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in decoded.text else decoded.text
    return Reading([Block(text)], {"encoding": decoded.encoding, "encoding_confidence": decoded.confidence})


def charset(media_type: str) -> str:
    """The charset that a media type such as `text/plain; charset=koi8-r` names, '' if none."""
    found = _CHARSET.search(media_type)
    return found[1] if found else ""
