"""HTML: words in reading order, blocks apart, no scripts and styles.

A tree would need memory and depth that hostile pages choose; a stream of tags needs neither.
"""

import re

from indexer.extract import hypertext
from indexer.extract.encodings import declared_inside, decode
from indexer.extract.headings import Outline
from indexer.extract.quota import EnoughError
from indexer.extract.readers.text import charset
from indexer.extract.types import Block, Buffer, Fact, Reading, Request

_SKIPPED = frozenset({"script", "style", "template", "iframe", "noembed", "noframes", "rp"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_PARAGRAPHS = frozenset(
    {"address", "article", "aside", "blockquote", "dl", "fieldset", "figure", "footer", "form", "header", "hr"}
    | {"main", "nav", "ol", "p", "pre", "section", "table", "ul"}
)
_LINES = frozenset(
    {"br", "button", "caption", "dd", "div", "dt", "figcaption", "legend", "li", "option", "summary", "textarea", "tr"}
)
_CELLS = frozenset({"td", "th"})
_PARTINGS = dict.fromkeys(_PARAGRAPHS, "\n\n") | dict.fromkeys(_LINES, "\n") | dict.fromkeys(_CELLS, "\t")
_EMPTY = frozenset({"br", "hr"})
_WITH_ITS_LINES = frozenset({"pre", "textarea"})
_AT_START = {tag: parting for tag, parting in _PARTINGS.items() if tag not in _WITH_ITS_LINES}
_AT_END = {tag: parting for tag, parting in _AT_START.items() if tag not in _EMPTY}
_PICTURES = frozenset({"img", "area", "input"})
_SOFT_HYPHEN = "\xad"  # nobody sees it, and nobody would find the word
_WHITE_SPACE = re.compile(r"[ \t\n\r\f]+")
_MORE_THAN_A_SPACE = re.compile(r"[ \t\n\r\f]{2,}|[\t\n\r\f]")


def read(content: Buffer, request: Request) -> Reading:
    """One block per section; facts: title and encoding."""
    data = bytes(content)
    decoded = decode(data, charset(request.declared_media_type) or declared_inside(data), request.encoding)
    page = _Page(request)
    truncated = False
    try:
        hypertext.parse(decoded.text, page)
    except EnoughError:
        truncated = True
    page.end_section()
    facts: dict[str, Fact] = {"encoding": decoded.encoding, "encoding_confidence": decoded.confidence}
    if title := _WHITE_SPACE.sub(" ", "".join(page.title)).strip():
        facts["title"] = title
    return Reading(page.blocks, facts, truncated=truncated)


class _Page:
    """Collects the words. Depth costs nothing: only the open skipped element is remembered."""

    with_attributes = _PICTURES

    def __init__(self, request: Request) -> None:
        self.blocks: list[Block] = []
        self.title: list[str] = []
        self._pieces: list[str] = []
        self._readings: list[str] = []
        self._heading: str | None = None
        self._outline = Outline()
        self._heading_level: int | None = None
        self._skipping = ""
        self._skipped_depth = 0
        self._in_title = False
        self._in_reading = False
        self._as_it_stands = 0
        self._request = request
        self._characters = 0  # at least so many, whatever white space is taken away later

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """A start tag."""
        if (parting := _AT_START.get(tag)) and self._is_in_plain_text():  # as nearly all do
            self._pieces.append(parting)
        elif self._skipping:
            self._skipped_depth += tag == self._skipping
        elif tag in _SKIPPED:
            self._skipping, self._skipped_depth = tag, 1
        elif tag == "title":
            self._in_title = not self.title  # drawings inside the page have titles too
        elif tag in _PICTURES:
            self._pieces.append(f" {attributes['alt']} " if attributes.get("alt") else "")
        elif tag in _HEADINGS:
            self.end_section()
            self._heading_level = int(tag[1])
        else:
            self._in_title = False  # it was never closed
            self._in_reading = tag == "rt"
            self._as_it_stands += tag in _WITH_ITS_LINES
            self._boundary(tag)

    def end(self, tag: str) -> None:
        """An end tag."""
        if (parting := _AT_END.get(tag)) and self._is_in_plain_text():
            self._pieces.append(parting)
        elif self._skipping:
            self._skipped_depth -= tag == self._skipping
            if self._skipped_depth == 0:
                self._skipping = ""
        elif tag == "title":
            self._in_title = False
        elif tag in _HEADINGS:
            self._end_heading()
        else:
            self._in_reading = False
            self._as_it_stands = max(0, self._as_it_stands - (tag in _WITH_ITS_LINES))
            self._boundary("" if tag in _EMPTY else tag)

    def text(self, text: str) -> None:
        """Words between two tags."""
        if self._in_title:
            self.title.append(text)
        elif self._in_reading:
            self._readings.append(text.strip())
        elif not self._skipping:
            text = text.replace(_SOFT_HYPHEN, "")
            if not self._as_it_stands:
                text = _MORE_THAN_A_SPACE.sub(" ", text)
                self._characters += len(text.strip())
            self._pieces.append(text)

    def pause(self) -> None:
        """Ends the reading once there is enough, or no time any more."""
        self._request.check_time()
        if self._characters > self._request.limits.characters:
            raise EnoughError

    def end_section(self) -> None:
        """What was collected since the last heading becomes a block."""
        self._end_heading()
        if text := tidy("".join(self._pieces)):
            self.blocks.append(Block(f"{text}\n\n", heading=self._heading))
        self._pieces.clear()
        self._heading = None

    def _is_in_plain_text(self) -> bool:
        return not (self._skipping or self._in_title or self._in_reading)

    def _end_heading(self) -> None:
        if self._heading_level is not None:
            self._heading = self._outline.enter(self._heading_level, "".join(self._pieces))
            self._heading_level = None
            self._pieces.append("\n\n")

    def _boundary(self, tag: str) -> None:
        if tag == "ruby":
            self._pieces += [f" {''.join(self._readings)} "] if self._readings else []
            self._readings.clear()
        elif parting := _PARTINGS.get(tag):
            self._pieces.append(parting)


_SPACES = re.compile(r"[ \t]{2,}")
_SPACE_AT_LINE_END = re.compile(r"[ \t]\n[ \t]?|\n[ \t]")
_EMPTY_LINES = re.compile(r"\n{3,}")


def tidy(text: str) -> str:
    """Each step is linear: long runs are gone before a pattern looks at their ends."""
    text = _SPACES.sub(lambda run: "\t" if "\t" in run[0] else " ", text)
    return _EMPTY_LINES.sub("\n\n", _SPACE_AT_LINE_END.sub("\n", text)).strip()
