"""The words of pictures, by the program Tesseract where somebody has installed it and named the languages.

It reads a picture on its standard input, writes what it recognised to its output, and touches no file. A language that
is not installed gives junk, of which Tesseract itself is not sure: what it doubts is left out.
"""

import ctypes
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import groupby

from indexer.extract.pictures import program
from indexer.extract.types import Ocr, Spent

DOTS_PER_INCH = 200
"""What Tesseract likes best; the resolution at which pages are drawn for it."""

SURE = 50
"""Percent. Words of which Tesseract is less sure are dropped, and so are pages of which it is on the whole: measured, a
page in a language that was named has 64 to 97, one in another script 12 to 39."""

_OF_A_PAGE = "FENCEPOST_EXTRACT__OCR_PAGE_SECONDS"
_OF_A_DOCUMENT = "FENCEPOST_EXTRACT__OCR_SECONDS"
_NEVER_BEGAN = (126, 127)  # as shells and loaders say it
_KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)  # the latter is how a shell around it says so
_SAID = 300
_PR_SET_PDEATHSIG = 1
_WORD_LEVEL = "5"
_FIRST_WITHOUT_SPACES = "\u2e80"
_HANGUL = range(0xAC00, 0xD7B0)


class UnreadableError(Exception):
    """Tesseract cannot decode the picture."""


class BrokenError(Exception):
    """Tesseract does not work in here, or was killed, whatever the picture is."""


class Recogniser:
    """Recognises one page after the other of a document, together with all that is inside it, within its time."""

    def __init__(self, ocr: Ocr, spent: Spent) -> None:
        self.pages = 0
        self.languages = ocr.languages
        self._ocr = ocr
        self._spent = spent
        self._slow: list[str] = []
        self._left_out: list[int] = []

    def has_time_for(self, page: int) -> bool:
        """To be asked before each page. If there is no time for it, it is named among what failed."""
        if self._left() > 0:
            return True
        self._left_out.append(page)
        return False

    def text(self, page: int, picture: bytes, index: int | None = None) -> str:
        """The words of a picture, or of one of those in it; nothing of one that takes too long, which is named.

        Raises UnreadableError or BrokenError.
        """
        arguments = [] if index is None else ["-c", f"tessedit_page_number={index}"]
        seconds, setting = min((self._ocr.page_seconds, _OF_A_PAGE), (self._left(), _OF_A_DOCUMENT))
        began = time.monotonic()
        try:
            ran = _run([*arguments, "tsv"], picture, self.languages, seconds)
        except subprocess.TimeoutExpired:
            self._slow.append(f"page {page:,}: recognition took too long; {setting} gives more time")
            return ""
        finally:
            self._spent.ocr_seconds += time.monotonic() - began
        self.pages += 1
        return words(ran)

    def failed(self) -> list[str]:
        """The pages that were not recognised for want of time, each row of those that were left out as one."""
        why = f"the time for recognition was over; {_OF_A_DOCUMENT} gives more"
        return self._slow + [f"{which}: {why}" for which in _rows(self._left_out)]

    def _left(self) -> float:
        return self._ocr.seconds - self._spent.ocr_seconds


def _run(arguments: list[str], picture: bytes, languages: str, seconds: float) -> str:
    try:
        ran = subprocess.run(  # noqa: S603 - nothing of it comes from a document
            [program.NAME, "stdin", "stdout", "-l", languages, "--dpi", str(DOTS_PER_INCH), *arguments],
            input=picture,
            capture_output=True,
            check=False,
            timeout=seconds,
            preexec_fn=_die_with_parent,
        )
    except OSError as error:
        raise BrokenError(f"Tesseract cannot be started in the sandbox ({error.strerror})") from None
    said = ran.stderr.decode("utf-8", "replace")
    lacking = [name for name in languages.split("+") if f"Failed loading language '{name}'" in said]
    if lacking or ran.returncode in _NEVER_BEGAN:
        raise BrokenError(f"Tesseract does not work in the sandbox, it says: {' '.join(said.split())[:_SAID]}")
    if ran.returncode in _KILLED:  # by somebody else, so the picture may be good
        raise BrokenError("Tesseract was killed, probably for want of memory")
    if ran.returncode:
        raise UnreadableError
    return ran.stdout.decode("utf-8", "replace")


def _rows(pages: list[int]) -> Iterator[str]:
    """Pages in words, those that follow each other together."""
    for _, row in groupby(enumerate(pages), lambda at: at[1] - at[0]):
        first, *_, last = [page for _, page in row] * 2
        yield f"page {first:,}" if first == last else f"pages {first:,} to {last:,}"


def words(table: str) -> str:
    """The text of Tesseract's table of words, without what it doubts."""
    rows = [
        row for row in (line.split("\t") for line in table.split("\n")) if row[0] == _WORD_LEVEL and row[11].strip()
    ]
    recognised = sum(len(row[11]) for row in rows)
    if sum(float(row[10]) * len(row[11]) for row in rows) < SURE * recognised:
        return ""
    sure = (row for row in rows if float(row[10]) >= SURE)
    return "".join(_paragraphs(sure)).strip()


def _paragraphs(rows: Iterator[list[str]]) -> Iterator[str]:
    for _, paragraph in groupby(rows, lambda row: row[1:4]):
        for _, line in groupby(paragraph, lambda row: row[4]):
            yield _line([row[11] for row in line]) + "\n"
        yield "\n"


def _line(found: Sequence[str]) -> str:
    """Words with spaces between them, except between signs of scripts that have none."""
    pieces = [""]
    for word in found:
        if not (_needs_no_space(pieces[-1][-1:]) and _needs_no_space(word[0])):
            pieces.append(" ")
        pieces.append(word)
    return "".join(pieces).strip()


def _needs_no_space(sign: str) -> bool:
    return sign >= _FIRST_WITHOUT_SPACES and ord(sign) not in _HANGUL


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
