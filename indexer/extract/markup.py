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


class Beginnings(Handler):
    """Looks at names and attributes only: what it wants to know stands where elements begin."""

    def end(self, name: str) -> None:
        """An element ends."""

    def text(self, text: str) -> None:
        """Words are not wanted."""


class Title:
    """The title among the properties of an office file; all formats have the same element for it."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._inside = False

    @property
    def words(self) -> str:
        """The title in one line, '' if there is none."""
        return " ".join("".join(self._pieces).split())

    def start(self, name: str, attributes: dict[str, str]) -> None:  # noqa: ARG002 - the protocol has them
        """An element begins."""
        self._inside = name.endswith("}title")

    def end(self, name: str) -> None:
        """An element ends."""
        self._inside = self._inside and not name.endswith("}title")

    def text(self, text: str) -> None:
        """Words, perhaps in several pieces."""
        if self._inside:
            self._pieces.append(text)


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
