"""Word documents (docx, docm, dotx, dotm): all that a person can read in them, in the order of reading.

Body with tables, then headers, footers, notes and comments. The file does not say where its pages end, but Word leaves
marks where they ended last, so pages are approximate where there are any, and a fact says so.
"""

import re

from indexer.extract.archive import Archive
from indexer.extract.markup import parse
from indexer.extract.types import Block, Buffer, Fact, Limits, Reading, Request
from pipeline.errors import Permanent

_WORD = frozenset(
    {
        "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "http://purl.oclc.org/ooxml/wordprocessingml/main",
        "http://schemas.microsoft.com/office/word/2006/wordml",
    }
)
_COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_MAIN = re.compile(r"word/document\d*\.xml")
_AROUND = re.compile(r"word/(?:header|footer|footnotes|endnotes|comments)\d*\.xml")
_ORDER = ("header", "footer", "footnotes", "endnotes", "comments")
_HEADING_NAMES = ("heading ", "title")


class _EnoughError(Exception):
    """More text than the limit allows has been read."""


def read(content: Buffer, request: Request) -> Reading:
    """Blocks by page and section; facts: title, pages (approximate)."""
    archive = Archive(content, request)
    names = archive.names()
    main = next((name for name in names if _MAIN.fullmatch(name)), None)
    if main is None:
        raise Permanent("corrupt", "The document has no main part (word/document.xml).")
    around = sorted(filter(_AROUND.fullmatch, names), key=lambda name: (_place(name), name))
    story = _Story(request.limits, _heading_styles(archive, names))
    truncated = False
    try:
        parse(archive.pieces(main), story, main)
        story.end_body()
        for part in around:
            parse(archive.pieces(part), story, part)
            story.end_part()
    except _EnoughError:
        story.end_body()
        truncated = True
    facts: dict[str, Fact] = {}
    if title := _title(archive, names):
        facts["title"] = title
    if story.pages > 1:
        facts |= {"pages": story.pages, "pages_approximate": True}
    return Reading(story.blocks, facts, truncated=truncated)


def _place(name: str) -> int:
    return next(n for n, start in enumerate(_ORDER) if name.startswith(f"word/{start}"))


class _Story:
    """Collects the words of one part after the other."""

    def __init__(self, limits: Limits, heading_styles: frozenset[str]) -> None:
        self.blocks: list[Block] = []
        self.pages = 1
        self._limits = limits
        self._heading_styles = heading_styles
        self._characters = 0
        self._page: int | None = 1
        self._page_is_fresh = True
        self._heading: str | None = None
        self._section: list[str] = []
        self._paragraphs: list[list[str]] = []  # the inner ones are those of text boxes
        self._asides: list[str] = []
        self._said: set[str] = set()
        self._is_heading = False
        self._taking = False
        self._ignored = 0
        self._cells = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        space, _, tag = name.rpartition("}")
        if self._ignored or (space == _COMPATIBILITY and tag == "Fallback"):
            self._ignored += 1  # the same text box again, for programs before 2010
        elif space in _WORD:
            self._begin(tag, attributes)

    def end(self, name: str) -> None:
        """An element ends."""
        space, _, tag = name.rpartition("}")
        if self._ignored:
            self._ignored -= 1
        elif space in _WORD:
            self._finish(tag)

    def text(self, text: str) -> None:
        """Words, of which only those of `w:t` are the document's."""
        if self._taking and not self._ignored:
            self._add(text)
            self._page_is_fresh = self._page_is_fresh and text.isspace()

    def end_body(self) -> None:
        """What follows belongs to no page. Where nothing marked a page's end, the pages are unknown."""
        while self._paragraphs:  # open ones, if the limit on characters ended the reading
            self._end_paragraph("".join(self._paragraphs.pop()))
        self._flush()
        if self.pages == 1:
            self.blocks = [Block(block.text, None, None, block.heading) for block in self.blocks]
        self._page = self._heading = None

    def end_part(self) -> None:
        """A header, footer or note ends; headers repeat, and are kept once."""
        text = "".join(self._section)
        if text in self._said:
            self._section.clear()
        self._said.add(text)
        self._flush()
        self._heading = None

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        match tag:
            case "p":
                self._paragraphs.append([])
                self._is_heading = False
            case "pStyle":
                self._is_heading = _local(attributes).get("val", "") in self._heading_styles
            case "t":
                self._taking = True
            case "br":
                self._break(page=_local(attributes).get("type") == "page")
            case "lastRenderedPageBreak" if not self._page_is_fresh:  # else it repeats an explicit break
                self._next_page()
            case "tab" if not attributes:  # with attributes it is a tab stop
                self._add("\t")
            case "cr":
                self._add("\n")
            case "noBreakHyphen":
                self._add("\u2011")
            case "tc":
                self._cells += 1

    def _finish(self, tag: str) -> None:
        match tag:
            case "p" if self._paragraphs:
                self._end_paragraph("".join(self._paragraphs.pop()))
            case "t":
                self._taking = False
            case "tc":
                self._cells -= 1
                self._section[-1:] = [*(last.rstrip(" ") for last in self._section[-1:]), "\t"]
            case "tr":
                self._section.append("\n")

    def _add(self, text: str) -> None:
        self._characters += len(text)
        (self._paragraphs[-1] if self._paragraphs else self._section).append(text)
        if self._characters > self._limits.characters:
            raise _EnoughError

    def _end_paragraph(self, text: str) -> None:
        if self._paragraphs:
            self._asides.append(text)
            return
        if self._is_heading and text.strip():
            self._flush()
            self._heading = text.strip()
        for paragraph in (text, *self._asides):
            if paragraph:
                self._section.append(paragraph + (" " if self._cells else "\n\n"))
        self._asides.clear()

    def _break(self, *, page: bool) -> None:
        if page:
            self._next_page()
        else:
            self._add("\n")

    def _next_page(self) -> None:
        if self._page is None:
            return
        for paragraph in self._paragraphs:
            self._section.append("".join(paragraph))
            paragraph.clear()
        self._flush()
        self.pages += 1
        self._page = self.pages
        self._page_is_fresh = True
        if self.pages > self._limits.pages:
            raise self._limits.exceeded("pages", "The document has too many pages")

    def _flush(self) -> None:
        text = "".join(self._section)
        self._section.clear()
        if text.strip():
            self.blocks.append(Block(text, self._page, None, self._heading))


def _local(attributes: dict[str, str]) -> dict[str, str]:
    return {name.rpartition("}")[2]: value for name, value in attributes.items()}


class _Styles:
    """The ids of the styles that Word calls headings, whatever the language of the document."""

    def __init__(self) -> None:
        self.headings: set[str] = set()
        self._id = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition("}")[2]
        values = _local(attributes)
        if tag == "style":
            self._id = values.get("styleId", "")
        elif tag == "name" and values.get("val", "").lower().startswith(_HEADING_NAMES):
            self.headings.add(self._id)

    def end(self, name: str) -> None:
        pass

    def text(self, text: str) -> None:
        pass


class _Title:
    """The title among the core properties."""

    def __init__(self) -> None:
        self.title = ""
        self._inside = False

    def start(self, name: str, attributes: dict[str, str]) -> None:  # noqa: ARG002 - the protocol has them
        self._inside = name.endswith("}title")

    def end(self, name: str) -> None:
        self._inside = self._inside and not name.endswith("}title")

    def text(self, text: str) -> None:
        if self._inside:
            self.title += text


def _heading_styles(archive: Archive, names: list[str]) -> frozenset[str]:
    styles = _Styles()
    if "word/styles.xml" in names:
        parse(archive.pieces("word/styles.xml"), styles, "word/styles.xml")
    return frozenset(styles.headings)


def _title(archive: Archive, names: list[str]) -> str:
    properties = _Title()
    if "docProps/core.xml" in names:
        parse(archive.pieces("docProps/core.xml"), properties, "docProps/core.xml")
    return properties.title.strip()
