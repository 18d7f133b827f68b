"""XML read as a stream: no tree, no entities, nothing fetched from anywhere."""

from collections.abc import Iterable
from typing import Protocol
from xml.parsers import expat

from pipeline.errors import Permanent


class Handler(Protocol):
    """What a format does with the elements; names are `namespace}local`."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """An element ends."""

    def text(self, text: str) -> None:
        """Words between two tags, perhaps in several pieces."""


def parse(pieces: Iterable[bytes], handler: Handler, part: str) -> None:
    """Reads one XML part. Raises Permanent corrupt; an office file that declares entities is a bomb, and refused."""
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.text

    def refuse(*_declaration: object) -> None:
        raise Permanent("corrupt", f"{part} declares XML entities, which no office program writes.")

    parser.EntityDeclHandler = refuse
    try:
        for piece in pieces:
            parser.Parse(piece, False)
        parser.Parse(b"", True)
    except (expat.ExpatError, LookupError, ValueError) as error:  # the latter two: encodings that expat does not read
        raise Permanent("corrupt", f"{part} is not well-formed XML: {error}.") from None
