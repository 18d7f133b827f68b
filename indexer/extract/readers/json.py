"""JSON, also line by line: as it stands, so that its layout stays and damaged files are read, with escapes resolved."""

import re
from dataclasses import replace

from indexer.extract.readers import text as plain
from indexer.extract.types import Buffer, Reading, Request

_ESCAPE = re.compile(r"""\\(?:(u[0-9a-fA-F]{4}(?:\\u[0-9a-fA-F]{4})*+)|(["\\/bfnrt]))""")
_MEANT = {'"': '"', "\\": "\\", "/": "/", "b": " ", "f": "\n", "n": "\n", "r": "\n", "t": "\t"}


def read(content: Buffer, request: Request) -> Reading:
    r"""The text with `\u00e4` and the like as the characters that they mean; facts: encoding."""
    found = plain.read(content, request)
    return replace(found, blocks=[replace(block, text=_resolved(block.text)) for block in found.blocks])


def _resolved(source: str) -> str:
    return _ESCAPE.sub(_meant, source) if "\\" in source else source


def _meant(escape: re.Match[str]) -> str:
    r"""A run of `\u` is UTF-16: characters beyond the first 65,536 are written as two of them."""
    if run := escape[1]:
        return bytes.fromhex(run.replace("\\u", "").removeprefix("u")).decode("utf-16-be", "replace")
    return _MEANT[escape[2]]
