"""OpenDocument texts and presentations (odt, ott, fodt, odp, otp, fodp): all that a person can read in them.

Body with tables, notes, comments, descriptions of pictures and targets of links, then headers and footers. A slide is a
page. A text does not say where its pages end, but programs leave marks where they ended last, so pages are approximate
where there are any, and a fact says so.
"""

import re

from indexer.extract.headings import Outline
from indexer.extract.markup import parse
from indexer.extract.opendocument import parts, qualified
from indexer.extract.quota import EnoughError, Quota
from indexer.extract.types import Block, Buffer, Fact, Limits, Reading, Request
from pipeline.errors import Permanent

_UNREAD = frozenset(
    {"text:tracked-changes", "text:note-citation", "text:index-title-template", "office:binary-data", "office:scripts"}
    | {"office:settings", "office:event-listeners", "draw:object", "draw:object-ole"}
    | {"text:page-number", "presentation:header", "presentation:footer", "presentation:date-time"}
    | {"dc:creator", "dc:date", "meta:creator-initials", "meta:date-string", "loext:sender-initials"}  # of a comment
)
_PARAGRAPHS = frozenset({"text:p", "text:h", "text:ruby-text", "svg:title", "svg:desc", "presentation:footer-decl"})
_AROUND = frozenset(
    {"style:header", "style:header-left", "style:header-first", "style:footer", "style:footer-left"}
    | {"style:footer-first", "style:master-page", "style:handout-master", "presentation:footer-decl"}
)
_SOFT_HYPHEN = "\xad"  # nobody sees it, and nobody would find the word
_WHITE_SPACE = re.compile(r"[ \t\r\n]+")
_MOST_SPACES = 100
_MOST_LEVELS = 10
_DIGITS = re.compile(r"[0-9]{1,9}")
_LINKS = ("http:", "https:", "mailto:")


def read(content: Buffer, request: Request) -> Reading:
    """Blocks by page and section; facts: title, pages (those of a text are approximate)."""
    story = _Story(request.limits)
    partial: list[str] = []
    truncated = False
    try:
        for part, pieces, needed in parts(content, request):
            try:
                parse(pieces, story, part)
            except Permanent as refusal:
                if needed or refusal.code != "corrupt":
                    raise
                partial.append(f"{part}: it is damaged")
                story.forget_what_is_open()
    except EnoughError:
        truncated = True
    return Reading(story.finish(), story.facts(), truncated=truncated, partial=partial)


def _number(value: str | None, most: int) -> int:
    """A number of at least 1, which is also what a missing or senseless one means."""
    return min(max(1, int(value)), most) if value and _DIGITS.fullmatch(value) else 1


def _is_placeholder(values: dict[str, str]) -> bool:
    """Frames of a master page that show where words of the slides will stand."""
    return values.get("presentation:class", "footer") not in {"header", "footer"}


class _Story:
    """Collects the words of one part after the other; what an element means does not depend on the part."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._quota = Quota(limits.characters)
        self._blocks: list[Block] = []
        self._around: dict[str, None] = {}  # headers and footers repeat, and are kept once
        self._title: list[str] = []
        self._page = 1
        self._page_is_fresh = True
        self._slides = 0
        self._outline = Outline()
        self._heading: str | None = None
        self._style = ""
        self._breaking_styles: set[str] = set()
        self.forget_what_is_open()

    def forget_what_is_open(self) -> None:
        """A part has ended in the middle."""
        self._section: list[str] = []
        self._paragraphs: list[list[str]] = []  # the inner ones are those of notes, comments and text boxes
        self._asides: list[str] = []
        self._level = 0
        self._ignored = 0
        self._cells = 0
        self._in_master = self._in_title = self._in_slide_title = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        tag = qualified(name)
        values = {qualified(key): value for key, value in attributes.items()}
        if self._ignored or tag in _UNREAD or (self._in_master and _is_placeholder(values)):
            self._ignored += 1
        elif tag in _PARAGRAPHS:
            self._begin_paragraph(tag, values)
        else:
            self._begin(tag, values)

    def end(self, name: str) -> None:
        """An element ends."""
        tag = qualified(name)
        if self._ignored:
            self._ignored -= 1
            return
        if tag in _PARAGRAPHS and self._paragraphs:
            self._end_paragraph("".join(self._paragraphs.pop()))
        if tag in _AROUND:
            self._end_around()
        self._finish(tag)

    def text(self, text: str) -> None:
        """Words, of which only those in paragraphs are the document's; line ends of the file mean nothing."""
        if self._in_title:
            self._title.append(text)
        elif self._paragraphs and not self._ignored:
            self._add(_WHITE_SPACE.sub(" ", text.replace(_SOFT_HYPHEN, "")))

    def finish(self) -> list[Block]:
        """All blocks. Where nothing marked a page's end, the pages of a text are unknown."""
        while self._paragraphs:  # open ones, if the limit on characters ended the reading
            self._end_paragraph("".join(self._paragraphs.pop()))
        self._flush()
        if not self._slides and self._page == 1:
            self._blocks = [Block(block.text, None, None, block.heading) for block in self._blocks]
        return [*self._blocks, *map(Block, self._around)]

    def facts(self) -> dict[str, Fact]:
        """What is known beside the text."""
        facts: dict[str, Fact] = {}
        if title := " ".join("".join(self._title).split()):
            facts["title"] = title
        if self._slides:
            facts["pages"] = self._slides
        elif self._page > 1:
            facts |= {"pages": self._page, "pages_approximate": True}
        return facts

    def _begin(self, tag: str, values: dict[str, str]) -> None:
        match tag:
            case "text:s":
                self._add(" " * _number(values.get("text:c"), _MOST_SPACES))
            case "text:tab":
                self._add("\t")
            case "text:line-break":
                self._add("\n")
            case "text:soft-page-break":
                self._next_page()
            case "text:a" if values.get("xlink:href", "").startswith(_LINKS):
                self._asides.append(values["xlink:href"])
            case "table:table-cell":
                self._cells += 1
            case "draw:page":
                self._begin_slide()
            case "draw:frame":
                self._in_slide_title = values.get("presentation:class") == "title"
            case "dc:title":
                self._in_title = True
                self._title.clear()
            case _:
                self._begin_style(tag, values)

    def _begin_style(self, tag: str, values: dict[str, str]) -> None:
        match tag:
            case "office:master-styles":
                self._in_master = True
            case "style:style":
                self._style = values.get("style:name", "")
                if values.get("style:master-page-name"):
                    self._breaking_styles.add(self._style)
            case "style:paragraph-properties" if values.get("fo:break-before") == "page":
                self._breaking_styles.add(self._style)

    def _finish(self, tag: str) -> None:
        match tag:
            case "table:table-cell":
                self._cells -= 1
                self._section[-1:] = [*(last.rstrip(" ") for last in self._section[-1:]), "\t"]
            case "table:table-row":
                self._section.append("\n")
            case "office:master-styles":
                self._in_master = False
            case "draw:frame":
                self._in_slide_title = False
            case "dc:title":
                self._in_title = False

    def _begin_paragraph(self, tag: str, values: dict[str, str]) -> None:
        outermost = not self._paragraphs
        if outermost and values.get("text:style-name") in self._breaking_styles and not self._cells:
            self._next_page()
        if outermost:
            is_heading = tag == "text:h" or self._in_slide_title
            self._level = _number(values.get("text:outline-level"), _MOST_LEVELS) if is_heading else 0
        self._paragraphs.append([])

    def _add(self, text: str) -> None:
        (self._paragraphs[-1] if self._paragraphs else self._section).append(text)
        self._page_is_fresh = self._page_is_fresh and text.isspace()
        self._quota.spend(len(text))

    def _end_paragraph(self, text: str) -> None:
        text = text.strip(" ")
        if self._paragraphs:
            self._asides.append(text)
            return
        if self._level and text:
            self._flush()
            self._heading = self._outline.enter(self._level, text)
        for paragraph in (text, *self._asides):
            if paragraph:
                self._section.append(paragraph + (" " if self._cells else "\n\n"))
        self._asides.clear()

    def _end_around(self) -> None:
        if text := "".join(self._section).strip():
            self._around[f"{text}\n\n"] = None
        self._section.clear()
        self._page_is_fresh = True

    def _begin_slide(self) -> None:
        self._flush()
        self._heading = None
        self._slides += 1
        self._check_pages(self._slides)

    def _next_page(self) -> None:
        if self._page_is_fresh or self._slides:
            return
        for paragraph in self._paragraphs:
            self._section.append("".join(paragraph))
            paragraph.clear()
        self._flush()
        self._page += 1
        self._page_is_fresh = True
        self._check_pages(self._page)

    def _check_pages(self, count: int) -> None:
        if count > self._limits.pages:
            raise self._limits.exceeded("pages", "The document has too many pages")

    def _flush(self) -> None:
        text = "".join(self._section)
        self._section.clear()
        if text.strip():
            self._blocks.append(Block(text, self._slides or self._page, None, self._heading))
