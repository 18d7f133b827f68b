"""Excel workbooks (xlsx, xlsm, xlsb, xls) by calamine, one sheet after the other, hidden ones too.

Calamine unpacks by itself and makes room for whole rectangles. So it is given an archive of our own making that holds
only what has passed the limits, unpacked. It is native: this runs in a child process only.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import BytesIO
from typing import TypeVar
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from python_calamine import CalamineError, CalamineWorkbook, PasswordError, load_workbook

from indexer.extract.archive import Archive
from indexer.extract.markup import parse
from indexer.extract.sheets import extent
from indexer.extract.sheets.cells import line
from indexer.extract.sheets.shared import PART, Strings
from indexer.extract.types import Block, Buffer, Fact, Limits, Reading, Request
from pipeline.errors import Permanent

_T = TypeVar("_T")

_ROWS_AT_ONCE = 1000
_LEEWAY = 2  # a sheet is cut by its strings only behind the place where its text is
_COMPOUND_FILE = b"\xd0\xcf\x11\xe0"
_NOT_CELLS = re.compile(
    r"xl/(?:media|drawings|charts|theme|embeddings|printerSettings|ctrlProps|activeX|externalLinks|pivotCache|"
    r"pivotTables|customProperty|vbaProject)|customXml|docProps|.*(?<!\.xml)(?<!\.rels)(?<!\.bin)$",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"xl/(?:comments|threadedComments/|drawings/drawing|charts/chart)[^/]*\.xml", re.IGNORECASE)
_BINARY_SHEET = re.compile(r".*sheets/[^/]*\.bin", re.IGNORECASE)


def read(content: Buffer, request: Request) -> Reading:
    """One block per sheet, whose page is its number and whose heading its name; facts: pages, title."""
    if content[:4] == _COMPOUND_FILE:
        workbook = bytes(content)
        _check_extent(extent.of_old_workbook(workbook), "A sheet", request.limits)
        return _sheets(workbook, request, Reading([]))
    archive = Archive(content, request)
    around = Reading([])
    workbook, cut = _unpacked(archive, request.limits, around)
    if title := _words(archive, "docProps/core.xml", frozenset({"title"}), around):
        around.facts["title"] = " ".join(title.split())
    reading = _sheets(workbook, request, around)
    for name in sorted(filter(_ASIDE.fullmatch, archive.names())):
        if words := _words(archive, name, frozenset({"t", "text"}), around):
            reading.blocks.append(Block(f"{words}\n\n"))
    return replace(reading, truncated=reading.truncated or cut)


def _unpacked(archive: Archive, limits: Limits, around: Reading) -> tuple[bytes, bool]:
    """The parts that calamine needs, within the limits, and whether sheets had to be cut for that.

    What cannot be unpacked is named and left out.
    """
    parts = dict(_parts(archive, around))
    strings = Strings([part for name, part in parts.items() if PART.fullmatch(name)])
    out = BytesIO()
    cut = False
    with ZipFile(out, "w", ZIP_STORED) as target:
        for name in list(parts):
            part, was_cut = _within_limits(name, parts.pop(name), strings, limits)
            target.writestr(ZipInfo(name), part)
            cut = cut or was_cut
    return out.getvalue(), cut


def _parts(archive: Archive, around: Reading) -> Iterator[tuple[str, bytes]]:
    for name in dict.fromkeys(archive.names()):
        if _NOT_CELLS.match(name):
            continue
        try:
            yield name, b"".join(archive.pieces(name))
        except Permanent as refusal:
            if refusal.code != "corrupt":
                raise
            around.partial.append(f"{name}: it cannot be unpacked")


def _within_limits(name: str, part: bytes, strings: Strings, limits: Limits) -> tuple[bytes, bool]:
    _check_extent(_extent(part, name, limits.cells), name, limits)
    if PART.fullmatch(name):
        return part, False
    return strings.cut(part, _LEEWAY * limits.characters, binary=name.lower().endswith(".bin"))


def _extent(part: bytes, name: str, most: int) -> int:
    if _BINARY_SHEET.fullmatch(name):
        return extent.of_binary(part)
    return extent.of_xml(part, name, most) if name.lower().endswith(".xml") else 0


def _check_extent(cells: int, name: str, limits: Limits) -> None:
    if cells > limits.cells:
        raise limits.exceeded("cells", f"{name} spans {cells:,} cells")


def _sheets(workbook: bytes, request: Request, around: Reading) -> Reading:
    blocks: list[Block] = []
    failed: list[str] = []
    left = request.limits.characters
    with _opened(workbook) as book:
        names = book.sheet_names
        for number, name in enumerate(names, 1):
            if request.time_is_up():  # a part may be thousands of sheets
                failed.append(f"{name}: the time was up before it was read")
                continue
            try:
                lines, left = _lines(book, number - 1, left, request)
            except CalamineError:
                failed.append(f"{name}: it is damaged")
                continue
            if lines:
                blocks.append(Block("\n".join(lines) + "\n\n", number, heading=name or None))
            if left < 0:
                break
    if names and len(failed) == len(names) and not request.time_is_up():
        raise Permanent("corrupt", "None of the sheets can be read.")
    facts: dict[str, Fact] = around.facts | {"pages": len(names)}
    return Reading(blocks, facts, truncated=left < 0, partial=around.partial + failed)


def _lines(book: CalamineWorkbook, index: int, left: int, request: Request) -> tuple[list[str], int]:
    """The rows of a sheet that are not empty, and how many characters are left after them; below zero is too many.

    A time that is up leaves none.
    """
    lines: list[str] = []
    for number, row in enumerate(_carefully(lambda: book.get_sheet_by_index(index)).iter_rows(), start=1):
        if number % _ROWS_AT_ONCE == 0 and request.time_is_up():
            return lines, -1
        if words := line(row):
            lines.append(words)
            left -= len(words) + 1
            if left < 0:
                break
    return lines, left


def _opened(workbook: bytes) -> CalamineWorkbook:
    try:
        return _carefully(lambda: load_workbook(BytesIO(workbook)))
    except PasswordError:
        raise Permanent("password_required", "The workbook is encrypted with a password.") from None
    except CalamineError as error:
        raise Permanent("corrupt", f"The workbook cannot be read: {error}.") from None


def _carefully(work: Callable[[], _T]) -> _T:
    """What calamine did not expect ends it in two other ways, of which one is no Exception; neither does harm."""
    try:
        return work()
    except BaseException as error:
        if isinstance(error, OSError) or type(error).__name__ == "PanicException":
            raise CalamineError(str(error)) from None
        raise


def _words(archive: Archive, name: str, elements: frozenset[str], around: Reading) -> str:
    """The words of these elements of a part beside the sheets; a part that is damaged is named."""
    if name not in archive.names():
        return ""
    words = _Words(elements)
    try:
        parse(archive.pieces(name), words, name)
    except Permanent as refusal:
        if refusal.code != "corrupt":
            raise
        around.partial.append(f"{name}: it is damaged")
    return "".join(words.pieces).strip()


class _Words:
    """Collects the words of comments, text boxes, chart titles and properties; each paragraph is a line."""

    def __init__(self, elements: frozenset[str]) -> None:
        self.pieces: list[str] = []
        self._elements = elements
        self._inside = False

    def start(self, name: str, attributes: dict[str, str]) -> None:  # noqa: ARG002 - the protocol has them
        """An element begins."""
        self._inside = name.rpartition("}")[2] in self._elements

    def end(self, name: str) -> None:
        """An element ends."""
        self._inside = False
        if name.rpartition("}")[2] in {"p", "comment", "text"} and self.pieces and self.pieces[-1] != "\n":
            self.pieces.append("\n")

    def text(self, text: str) -> None:
        """Words, perhaps in several pieces."""
        if self._inside:
            self.pieces.append(text)
