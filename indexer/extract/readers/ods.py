"""OpenDocument spreadsheets, read as a stream: nobody makes room for the cells that a file only claims to have.

Calamine, which reads all others, leaves out notes and what is drawn on a sheet, and shows no number as people see it.
"""

from indexer.extract.archive import Archive
from indexer.extract.markup import Title, parse
from indexer.extract.opendocument import open_archive
from indexer.extract.quota import EnoughError, Quota
from indexer.extract.types import Block, Buffer, Fact, Reading, Request
from pipeline.errors import Permanent

_OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
_TABLE = "urn:oasis:names:tc:opendocument:xmlns:table:1.0"
_TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
_PROPERTIES = "meta.xml"
_MOST_REPEATS = 100
_IN_A_LINE = {"s": " ", "tab": "\t", "line-break": " "}


def read(content: Buffer, request: Request) -> Reading:
    """One block per sheet, whose page is its number and whose heading its name; facts: pages, title."""
    archive = open_archive(content, request)
    sheets = _Sheets(Quota(request.limits.characters))
    truncated = False
    try:
        parse(archive.pieces("content.xml"), sheets, "content.xml")
    except EnoughError:
        sheets.end_sheet()
        truncated = True
    partial: list[str] = []
    facts: dict[str, Fact] = {"pages": sheets.number}
    if title := _title(archive, partial):
        facts["title"] = title
    return Reading(sheets.blocks, facts, truncated=truncated, partial=partial)


def _title(archive: Archive, partial: list[str]) -> str:
    title = Title()
    try:
        if _PROPERTIES in archive.names():
            parse(archive.pieces(_PROPERTIES), title, _PROPERTIES)
    except Permanent as refusal:
        if refusal.code != "corrupt":
            raise
        partial.append(f"{_PROPERTIES}: it is damaged")
    return title.words


class _Sheets:
    """Collects cells, and what is written in notes and drawings on the sheets."""

    def __init__(self, quota: Quota) -> None:
        self.blocks: list[Block] = []
        self.number = 0
        self._quota = quota
        self._name = ""
        self._lines: list[str] = []
        self._row: list[str] = []
        self._cell: list[str] = []
        self._asides: list[str] = []
        self._value = ""
        self._repeats = self._row_repeats = 1
        self._paragraphs = 0
        self._aside = 0
        self._tables = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        space, _, tag = name.rpartition("}")
        if self._aside:
            self._aside += 1
        if space == _TEXT:
            self._begin_text(tag)
        elif space == _OFFICE and tag == "annotation" and not self._aside:
            self._aside = 1
        elif space == _TABLE:
            self._begin_table(tag, attributes)

    def end(self, name: str) -> None:
        """An element ends."""
        space, _, tag = name.rpartition("}")
        if space == _TEXT and tag in {"p", "h"}:
            self._paragraphs -= 1
        elif space == _TABLE and not self._aside:
            self._end_table(tag)
        if self._aside:
            self._aside -= 1

    def text(self, text: str) -> None:
        """Words, of which only those in paragraphs are the document's."""
        if self._paragraphs:
            self._add(text)

    def end_sheet(self) -> None:
        """What was collected becomes the block of a sheet, with a row that never ended because the quota did."""
        if lines := [*self._lines, *filter(None, (self._row_words(), "".join(self._asides).strip()))]:
            self.blocks.append(Block("\n".join(lines) + "\n\n", self.number, heading=self._name or None))
        self._lines, self._asides = [], []

    def _begin_text(self, tag: str) -> None:
        if tag in {"p", "h"}:
            if self._cell or self._aside:
                self._add("\n" if self._aside else " ")
            self._paragraphs += 1
        elif tag in _IN_A_LINE and self._paragraphs:
            self._add(_IN_A_LINE[tag])

    def _begin_table(self, tag: str, attributes: dict[str, str]) -> None:
        match tag:
            case "table":
                self._tables += 1
                if self._tables == 1:
                    self.number += 1
                    self._name = attributes.get(f"{_TABLE}}}name", "")
            case "table-row":
                self._row_repeats = _repeats(attributes.get(f"{_TABLE}}}number-rows-repeated"))
            case "table-cell" | "covered-table-cell":
                self._repeats = _repeats(attributes.get(f"{_TABLE}}}number-columns-repeated"))
                self._value = _plain_value(attributes)
            case "shapes" if not self._aside:
                self._aside = 1

    def _end_table(self, tag: str) -> None:
        match tag:
            case "table-cell" | "covered-table-cell":
                self._end_cell()
            case "table-row":
                self._end_row()
            case "table":
                self._tables -= 1
                if not self._tables:
                    self.end_sheet()

    def _end_cell(self) -> None:
        words = self._value or "".join(self._cell).strip()
        self._cell = []
        if words:
            self._quota.spend(len(words) * self._repeats)
            self._row += [words] * self._repeats

    def _end_row(self) -> None:
        if words := self._row_words():
            self._lines.append(words)
            self._quota.spend(len(words) * (self._row_repeats - 1))
            self._lines += [words] * (self._row_repeats - 1)

    def _row_words(self) -> str:
        words = "\t".join(self._row).replace("\n", " ")
        self._row = []
        return words

    def _add(self, words: str) -> None:
        (self._asides if self._aside else self._cell).append(words)
        if self._aside:
            self._quota.spend(len(words))


def _repeats(number: str | None) -> int:
    """The same value again and again tells no more to somebody who searches, so it is written down a few times only."""
    return min(int(number[:9]), _MOST_REPEATS) if number and number.isascii() and number.isdigit() else 1


def _plain_value(attributes: dict[str, str]) -> str:
    """An ISO date and time of a cell that shows it in the manner of some country; else what it shows is best."""
    value = attributes.get(f"{_OFFICE}}}date-value", "")
    return value.removesuffix("T00:00:00").replace("T", " ")
