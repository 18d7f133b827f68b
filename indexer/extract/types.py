"""What goes into an extraction and what comes out of it."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Protocol, TypeVar

from indexer.extract.quota import OutOfTimeError
from indexer.extract.values import value
from pipeline.errors import Permanent
from pipeline.outcomes import TextQuality

Buffer = bytes | mmap
"""The bytes of a document: in memory, or mapped from a file."""

_SHARE_FOR_READING = 0.7
_Piece = TypeVar("_Piece")

TOO_LONG = "it takes too long to be read"
"""Why a member was left out with which the time of an earlier reading ended."""

Fact = str | int | float | bool | list[str]
"""Something worth knowing about a document beside its text; JSON."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one document may use; each is named after its setting in `pipeline.settings.Extract`."""

    characters: int = 20_000_000
    pages: int = 20_000
    member_bytes: int = 128 * 1024 * 1024
    total_bytes: int = 256 * 1024 * 1024
    members: int = 10_000
    ratio: int = 250
    depth: int = 2
    cells: int = 20_000_000
    pixels: int = 100_000_000
    seconds: float = 30

    def exceeded(self, name: str, sentence: str) -> Permanent:
        """The refusal of a document that is over the limit of this name."""
        setting = f"FENCEPOST_EXTRACT__{name.upper()}"
        return Permanent("limit_exceeded", f"{sentence}; the limit is {getattr(self, name):,} ({setting}).")


@dataclass(frozen=True, slots=True)
class Ocr:
    """How the words of pictures are recognised: in which of Tesseract's languages (`eng+deu`), and how long."""

    languages: str
    page_seconds: float = 20
    seconds: float = 240


@dataclass(slots=True)
class Spent:
    """What a document has used up so far, together with all that is inside it.

    `versions` are those of the readers that all this was given to, and of the sniffer where it was in doubt.
    `entered` counts the members of members too, in an order that is the same each time as far as the same are left out.
    `tell` is told which of them is being read from now on, 0 for the document itself; whatever ends the document inside
    a member leaves it at that. `out_of_time` says that something was left out for want of time.
    """

    inflated_bytes: int = 0
    members: int = 0
    ocr_seconds: float = 0
    started: float = field(default_factory=time.monotonic)
    versions: set[str] = field(default_factory=set)
    entered: int = 0
    out_of_time: bool = False
    tell: Callable[[int], None] = lambda _number: None
    _reading: int = 0

    @contextmanager
    def inside(self) -> Iterator[int]:
        """Around the reading of one member: its number, the first of which is 1."""
        self.entered += 1
        around, self._reading = self._reading, self.entered
        self.tell(self._reading)
        yield self._reading
        self._reading = around
        self.tell(around)


@dataclass(frozen=True, slots=True)
class Request:
    """A document to extract: its bytes (in a child they may be mapped), or its file, and what its sender said about it.

    `ocr` is None where pictures are not read. A member of another document has a `depth` and shares what is `spent`.
    Of the `seconds` that there are for this very try, with pictures, the last are left for handing over what was read
    until then. Members whose number is in `left_out` are not read, for the reason that is given there.
    """

    content: Buffer | Path
    filename: str = ""
    declared_media_type: str = ""
    encoding: str = ""
    limits: Limits = Limits()
    ocr: Ocr | None = None
    depth: int = 0
    seconds: float = math.inf
    left_out: Mapping[int, str] = field(default_factory=dict)
    spent: Spent = field(default_factory=Spent, compare=False)

    def time_is_up(self) -> bool:
        """Whether a reader that could stop here with what it has should do so; it is taken at its word.

        Recognition has a bound of its own.
        """
        recognition = self.spent.ocr_seconds
        elapsed = time.monotonic() - self.spent.started
        is_up = elapsed - recognition > _SHARE_FOR_READING * (self.seconds - recognition)
        self.spent.out_of_time = self.spent.out_of_time or is_up
        return is_up

    def check_time(self) -> None:
        """For readers that loop over long content, thousands of characters apart. Raises OutOfTimeError."""
        if self.time_is_up():
            raise OutOfTimeError

    def in_time(self, pieces: Iterable[_Piece]) -> Iterator[_Piece]:
        """The pieces of long content. Raises OutOfTimeError between two of them when the time is up."""
        for number, piece in enumerate(pieces):
            if number:
                self.check_time()
            yield piece


@value
class Block:
    """A stretch of a document's text as a reader finds it: a page, a section or the whole.

    The text ends with the white space that parts it from the next block. `member` is the path of an attachment or of a
    file in an archive (`a.zip/letter.eml/scan.pdf`), `heading` that of a section (see `headings`).
    """

    text: str
    page: int | None = None
    member: str | None = None
    heading: str | None = None


@value
class Reading:
    """What a reader returns. `truncated` says that text is missing at the end, `partial` names what could not be read.

    A name in `partial` is a sentence without its full stop: `page 3: it is damaged`, `scan.pdf: it needs a password`.
    """

    blocks: list[Block]
    facts: dict[str, Fact] = field(default_factory=dict)
    truncated: bool = False
    partial: list[str] = field(default_factory=list)


def reason(refusal: Permanent) -> str:
    """Why something could not be read, as it stands after its name in `partial`."""
    return refusal.message.rstrip(".")


@value
class Passage:
    """A piece of text for the index, with its place.

    Passages of one document joined give its text. A passage that runs over several pages, as in a book of thousands of
    pages, says where each next page begins: `breaks` holds (offset in the text, page).
    """

    text: str
    page: int | None = None
    member: str | None = None
    heading: str | None = None
    breaks: tuple[tuple[int, int], ...] = ()


@value
class Extraction:
    """A document's text, sanitised and cut into passages, and what is known about it."""

    media_type: str
    text_quality: TextQuality
    passages: list[Passage]
    facts: dict[str, Fact]


class Reader(Protocol):
    """One format. Bytes in, blocks and facts out; no state, no files, no network."""

    def __call__(self, content: Buffer, request: Request) -> Reading:
        """Reads the document. Raises Permanent with a code and a sentence about this document."""


def opened(content: Buffer | Path) -> AbstractContextManager[Buffer]:
    """The bytes of a document; those of a file are mapped, so that they fill no memory."""
    return _mapped(content) if isinstance(content, Path) else nullcontext(content)


@contextmanager
def _mapped(path: Path) -> Iterator[Buffer]:
    if path.stat().st_size == 0:
        yield b""
    else:
        with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as mapped:
            yield mapped
