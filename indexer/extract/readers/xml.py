"""XML of any vocabulary: the words of its elements, without the tags, and the attributes that are written for people.

Nothing is expanded and nothing fetched. A file that declares entities or breaks the rules is read as plain text.
"""

import html
import re
from collections.abc import Iterable, Iterator
from xml.parsers import expat

from indexer.extract.encodings import declared_inside, decode
from indexer.extract.quota import EnoughError, Quota
from indexer.extract.readers.html import tidy
from indexer.extract.readers.text import charset
from indexer.extract.types import Block, Buffer, Fact, Reading, Request

_FOR_PEOPLE = frozenset({"title", "alt", "label", "caption", "summary", "description", "text"})
_SHORT = 256
_PIECE = 1 << 20  # characters; a parser begins each anew with the token that it was in
_ENCODED = re.compile(r"\s*+(?:[A-Za-z0-9+/]{60,}+\s++)*+[A-Za-z0-9+/]*+=*+\s*+")  # a picture or a program, as base64


class _EntitiesError(Exception):
    """The file declares entities: those inside it may grow without bound, those outside are none of ours."""


def read(content: Buffer, request: Request) -> Reading:
    """One block; facts: encoding. In `partial` stands why the file was read as plain text, if it was."""
    data = bytes(content)
    decoded = decode(data, charset(request.declared_media_type) or declared_inside(data), request.encoding)
    facts: dict[str, Fact] = {"encoding": decoded.encoding, "encoding_confidence": decoded.confidence}
    words = _Words(Quota(request.limits.characters))
    try:
        words.parse(request.in_time(_pieces(decoded.text.lstrip())))
    except _EntitiesError:
        return _as_it_stands(decoded.text, facts, "it declares XML entities, which are not expanded")
    except expat.ExpatError as error:
        return _as_it_stands(decoded.text, facts, f"it is not well-formed XML (line {error.lineno})")
    except EnoughError:
        return Reading([Block(words.text())], facts, truncated=True)
    return Reading([Block(words.text())], facts)


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))


def _as_it_stands(text: str, facts: dict[str, Fact], why: str) -> Reading:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return Reading([Block(text)], facts, partial=[f"the markup: {why}"])


class _Words:
    """Collects the words. Tags beside words belong to a sentence, as bold type does; tags beside tags part lines."""

    def __init__(self, quota: Quota) -> None:
        self._quota = quota
        self._pieces: list[str] = []
        self._between_tags: list[str] = []
        self._after_end_tag = False

    def parse(self, pieces: Iterable[str]) -> None:
        """Raises _EntitiesError, EnoughError or ExpatError."""
        parser = expat.ParserCreate("utf-8", namespace_separator="}")  # whatever the file declares: it is decoded
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._between_tags.append
        parser.EntityDeclHandler = self._entity
        parser.SkippedEntityHandler = self._skipped
        for piece in pieces:
            parser.Parse(piece.encode("utf-8", "replace"), False)
        parser.Parse(b"", True)

    def text(self) -> str:
        """What was collected."""
        return tidy("".join(self._pieces))

    def _start(self, _name: str, attributes: dict[str, str]) -> None:
        self._end_text()
        if self._after_end_tag:
            self._end_line()
        self._after_end_tag = False
        for name, value in attributes.items():
            if name.rpartition("}")[2].lower() in _FOR_PEOPLE and value.strip():
                self._end_line()
                self._add(value)
                self._end_line()

    def _end(self, _name: str) -> None:
        self._end_text()
        if self._after_end_tag:
            self._end_line()
        self._after_end_tag = True

    def _end_text(self) -> None:
        text = "".join(self._between_tags)
        self._between_tags.clear()
        if not text or (len(text) > _SHORT and _ENCODED.fullmatch(text)):
            return
        if "\n" in text and text.isspace():
            self._end_line()
        else:
            self._after_end_tag = False
            self._add(text)

    def _end_line(self) -> None:
        if self._pieces[-1:] != ["\n"]:
            self._pieces.append("\n")

    def _add(self, text: str) -> None:
        self._pieces.append(text)
        self._quota.spend(len(text))

    def _skipped(self, name: str, is_parameter: bool) -> None:  # noqa: FBT001 - as expat calls it
        if not is_parameter:  # of a DTD that is not read; its names are mostly those of HTML
            self._between_tags.append(html.unescape(f"&{name};"))

    def _entity(self, *_declaration: object) -> None:
        raise _EntitiesError
