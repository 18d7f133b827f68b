"""The body of a Word document, with its pages and headings."""

from indexer.extract.headings import Outline
from indexer.extract.ooxml.names import in_full, local
from indexer.extract.ooxml.package import Package, Related
from indexer.extract.ooxml.styles import Styles, outline_level
from indexer.extract.ooxml.word import WordFlow
from indexer.extract.quota import Quota
from indexer.extract.types import Block, Limits

_OFF = frozenset({"0", "false", "off"})


class Body(WordFlow):
    """The body: its blocks lie on pages, as far as Word has left marks where they ended last, and under headings."""

    starts = WordFlow.starts | in_full(
        {
            "w:pStyle": "style",
            "w:outlineLvl": "set_level",
            "w:pageBreakBefore": "begin_page",
            "w:lastRenderedPageBreak": "pass_mark",
        }
    )

    def __init__(self, package: Package, related: Related, quota: Quota, styles: Styles, limits: Limits) -> None:
        super().__init__(package, related, quota)
        self.pages = 1
        self._blocks: list[Block] = []
        self._styles = styles
        self._limits = limits
        self._outline = Outline()
        self._heading: str | None = None
        self._level: int | None = None
        self._page_is_fresh = True
        self._cell = 0
        self._breaking_cell = 0

    def blocks(self) -> list[Block]:
        """What was read. Where nothing marked a page's end, the pages are unknown."""
        self._flush(self.finish())
        if self.pages > 1:
            return self._blocks
        return [Block(block.text, None, None, block.heading) for block in self._blocks]

    def add(self, text: str) -> None:
        """Adds words; with the first of them a page is no longer fresh."""
        self._page_is_fresh = self._page_is_fresh and text.isspace()
        super().add(text)

    def begin_paragraph(self, attributes: dict[str, str]) -> None:
        """A paragraph begins; what a style makes of it is not known yet."""
        if not self._paragraphs:
            self._level = None
        super().begin_paragraph(attributes)

    def end_paragraph(self) -> None:
        """A paragraph ends; if it is a heading, it begins a section."""
        if self._level is not None and len(self._paragraphs) == 1:
            words = "".join(self._paragraphs[0])
            if words.strip():
                self._flush()
                self._heading = self._outline.enter(self._level, words)
        super().end_paragraph()

    def style(self, attributes: dict[str, str]) -> None:
        """The style of a paragraph."""
        if len(self._paragraphs) == 1:
            self._level = self._styles.level(local(attributes).get("val", ""))

    def set_level(self, attributes: dict[str, str]) -> None:
        """The level of a paragraph, whatever its style."""
        if len(self._paragraphs) == 1:
            self._level = outline_level(attributes)

    def break_line(self, attributes: dict[str, str]) -> None:
        """A line ends, or a page."""
        if local(attributes).get("type") == "page":
            self._end_page()
        else:
            super().break_line(attributes)

    def begin_page(self, attributes: dict[str, str]) -> None:
        """A paragraph that begins a page."""
        if local(attributes).get("val") not in _OFF:
            self.pass_mark(attributes)

    def pass_mark(self, _attributes: dict[str, str]) -> None:
        """Where a page began last; after an explicit break that says nothing new."""
        if not self._page_is_fresh:
            self._end_page()

    def begin_cell(self, attributes: dict[str, str]) -> None:
        """A cell begins."""
        super().begin_cell(attributes)
        self._cell += self._cells == 1

    def end_row(self) -> None:
        """A row ends."""
        super().end_row()
        if not self._cells:
            self._breaking_cell = 0

    def _end_page(self) -> None:
        if len(self._paragraphs) > 1 or not self._is_first_to_break():
            return
        for paragraph in self._paragraphs:
            self._section += paragraph
            paragraph.clear()
        self._flush()
        self.pages += 1
        self._page_is_fresh = True
        if self.pages > self._limits.pages:
            raise self._limits.exceeded("pages", "The document has too many pages")

    def _is_first_to_break(self) -> bool:
        """A row that runs over a page's end is marked in each of its cells."""
        if self._cells and not self._breaking_cell:
            self._breaking_cell = self._cell
        return not self._cells or self._breaking_cell == self._cell

    def _flush(self, text: str = "") -> None:
        text = text or "".join(self._section)
        self._section.clear()
        if text.strip():
            self._blocks.append(Block(text, self.pages, None, self._heading))
