"""What a reading that ended without an answer means: for the document, or for the member that was being read."""

import signal

from indexer.extract.isolation import wire
from indexer.extract.isolation.nursery import Death
from indexer.extract.types import TOO_LONG
from pipeline.errors import Permanent, Transient
from pipeline.settings import Extract

CRASHED = "extractor_crashed"

_TOO_MUCH = "reading it needs too much memory"


class Crashed(Transient):
    """The child died or its reader failed. Once it may be chance: try again alone; twice, it is the document.

    Or it is the `member` that was being read then, if its number is not 0.
    """

    why = "its reader crashed"

    def __init__(self, message: str, member: int = 0) -> None:
        super().__init__(CRASHED, message)
        self.member = member


class ExhaustedError(Permanent):
    """Reading the document, or the `member` if its number is not 0, takes more of something than there is."""

    def __init__(self, code: str, message: str, member: int, why: str) -> None:
        super().__init__(code, message)
        self.member = member
        self.why = why


class StarvedError(Exception):
    """The child says that there was not enough memory."""


def cause(end: Exception, death: Death | None, seconds: float, settings: Extract) -> Crashed | ExhaustedError:
    """What it was, by how the talk with the child ended and how it died; it had so many `seconds`."""
    exit_code, member = death or (None, 0)
    match end:
        case StarvedError():
            message = f"Reading the document needs more memory; the limit is {_memory(settings)}."
            return ExhaustedError("limit_exceeded", message, member, _TOO_MUCH)
        case TimeoutError():
            message = f"Reading the document took longer than {_time(seconds, settings)}."
            return ExhaustedError("extractor_timeout", message, member, TOO_LONG)
        case wire.ClosedError() if exit_code == -signal.SIGXCPU:
            most = _time(settings.seconds_with_ocr, settings)
            message = f"Reading the document took more processor time than {most}."
            return ExhaustedError("extractor_timeout", message, member, TOO_LONG)
        case wire.ClosedError():
            return Crashed(f"The process that read the document {_how_it_died(exit_code, settings)}.", member)
        case _:
            return Crashed("The process that read the document gave an answer that makes no sense.", member)


def _how_it_died(exit_code: int | None, settings: Extract) -> str:
    if exit_code is None:
        return "died with the one that had made it"
    if exit_code == -signal.SIGKILL:  # by somebody else, since it was dead before we ended it
        return "was killed, probably for want of memory"
    if exit_code == -signal.SIGABRT:  # what native code does when it asks for memory and gets none
        return f"gave up (SIGABRT), probably for want of memory; it has {_memory(settings)}"
    return f"died: signal {signal.Signals(-exit_code).name}" if exit_code < 0 else f"died: exit code {exit_code}"


def _memory(settings: Extract) -> str:
    return f"{settings.memory_bytes:,} bytes (FENCEPOST_EXTRACT__MEMORY_BYTES)"


def _time(seconds: float, settings: Extract) -> str:
    with_ocr = " + FENCEPOST_EXTRACT__OCR_SECONDS" if seconds > settings.seconds else ""
    return f"{seconds:g} s (FENCEPOST_EXTRACT__SECONDS{with_ocr})"
