"""Vertical writing in a PDF: its columns go from right to left.

PDFium sorts what begins at the same height from left to right, as is right for lines.
"""

import pypdfium2 as pdfium
from pypdfium2.raw import FPDFText_GetCharIndexFromTextIndex

_BREAK = "\r\n"
_SHORTEST = 2  # signs of which the direction can be seen
_FIRST_OF_EAST_ASIA = "\u2e80"

_Place = tuple[float, float, float]
"""Where the first sign of a column stands: from the left, its upper edge, its size."""


def in_order(textpage: pdfium.PdfTextPage, text: str) -> str:
    """The text of a page, in which columns that begin at the same height are turned around."""
    if text.isascii() or max(text) < _FIRST_OF_EAST_ASIA:
        return text
    ordered: list[str] = []
    row, before, at = 0, None, 0
    for line in text.split(_BREAK):
        place = _column(textpage, line, at)
        row = row + 1 if before and place and _is_right_beside(before, place) else 0
        ordered.insert(len(ordered) - row, line)
        before, at = place, at + _units(line) + len(_BREAK)
    return _BREAK.join(ordered)


def _column(textpage: pdfium.PdfTextPage, line: str, at: int) -> _Place | None:
    """The place of a line that runs downwards; None of any other."""
    line = line.rstrip()
    if len(line) < _SHORTEST:
        return None
    ends = (at, at + _units(line) - 1)
    first, last = (textpage.get_charbox(FPDFText_GetCharIndexFromTextIndex(textpage, end), loose=True) for end in ends)
    size = first[3] - first[1]
    is_column = abs(first[0] - last[0]) < size / 2 and first[3] - last[3] > size / 2
    return (first[0], first[3], size) if is_column else None


def _is_right_beside(before: _Place, place: _Place) -> bool:
    return place[0] > before[0] and abs(place[1] - before[1]) < place[2] / 2


def _units(text: str) -> int:
    """The length of a text as PDFium counts it, in UTF-16."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
