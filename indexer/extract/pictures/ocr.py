"""The words of pictures, by the program Tesseract where somebody has installed it and named the languages.

It reads a picture on its standard input, writes what it recognised to its output, and touches no file. A language that
is not installed gives junk, of which Tesseract itself is not sure: what it doubts is left out.
"""

import ctypes
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import groupby

from indexer.extract.types import Ocr, Spent

DOTS_PER_INCH = 200
"""What Tesseract likes best; the resolution at which pages are drawn for it."""

SURE = 50
"""Percent. Words of which Tesseract is less sure are dropped, and so are pages of which it is on the whole: measured, a
page in a language that was named has 64 to 97, one in another script 12 to 39."""

_PROGRAM = "tesseract"
_ANSWER_SECONDS = 20
_PR_SET_PDEATHSIG = 1
_WORD_LEVEL = "5"
_FIRST_WITHOUT_SPACES = "\u2e80"
_HANGUL = range(0xAC00, 0xD7B0)


class UnreadableError(Exception):
    """Tesseract cannot decode the picture."""


def missing(languages: str) -> str:
    """What must be installed before these languages can be read, as a sentence; empty if nothing is."""
    if shutil.which(_PROGRAM) is None:
        return "Tesseract is not installed (on Debian and Ubuntu: apt-get install tesseract-ocr)."
    answer = subprocess.run(  # noqa: S603 - nothing of it comes from outside
        [_PROGRAM, "--list-langs"], capture_output=True, text=True, check=False, timeout=_ANSWER_SECONDS
    )
    absent = sorted(set(languages.split("+")) - set(answer.stdout.split("\n")[1:]))
    if not absent:
        return ""
    packages = " ".join(f"tesseract-ocr-{name.lower().replace('_', '-')}" for name in absent if name)
    return f"Tesseract has no language {', '.join(absent)} (on Debian and Ubuntu: apt-get install {packages})."


class Recogniser:
    """Recognises one picture after the other of a document, together with all that is inside it, within its time."""

    def __init__(self, ocr: Ocr, spent: Spent) -> None:
        self.pages = 0
        self.failed: list[str] = []
        self.languages = ocr.languages
        self._ocr = ocr
        self._spent = spent

    def text(self, name: str, picture: bytes, page: int | None = None) -> str:
        """The words of a picture, or of one page of it. Raises UnreadableError; what takes too long is named."""
        left = self._ocr.seconds - self._spent.ocr_seconds
        if left <= 0:
            self.failed.append(f"{name}: the time for recognition was over (FENCEPOST_EXTRACT__OCR_SECONDS)")
            return ""
        arguments = [] if page is None else ["-c", f"tessedit_page_number={page}"]
        began = time.monotonic()
        try:
            ran = subprocess.run(  # noqa: S603 - nothing of it comes from a document
                [
                    _PROGRAM,
                    "stdin",
                    "stdout",
                    "-l",
                    self._ocr.languages,
                    "--dpi",
                    str(DOTS_PER_INCH),
                    *arguments,
                    "tsv",
                ],
                input=picture,
                capture_output=True,
                check=False,
                timeout=min(left, self._ocr.page_seconds),
                preexec_fn=_die_with_parent,
            )
        except subprocess.TimeoutExpired:
            self.failed.append(f"{name}: recognition took too long (FENCEPOST_EXTRACT__OCR_PAGE_SECONDS)")
            return ""
        finally:
            self._spent.ocr_seconds += time.monotonic() - began
        if ran.returncode:
            raise UnreadableError
        self.pages += 1
        return words(ran.stdout.decode("utf-8", "replace"))


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
