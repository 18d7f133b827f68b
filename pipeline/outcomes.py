"""How an attempt ends: exactly one of five outcomes, and the codes that a failure may carry."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TypeGuard


@dataclass(frozen=True, slots=True)
class Published:
    """The version is in the index. `result_id` names the stored extraction (None for a delete)."""

    result_id: int | None = None


@dataclass(frozen=True, slots=True)
class Superseded:
    """The index already has a newer version and refused this one."""


@dataclass(frozen=True, slots=True)
class RetryLater:
    """A passing trouble. `delay` overrides the backoff; `refund` gives the attempt back (a hand-back at shutdown)."""

    code: str
    message: str
    delay: timedelta | None = None
    refund: bool = False


@dataclass(frozen=True, slots=True)
class Rejected:
    """The document cannot be processed as it is; a person must look."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class LeaseLost:
    """The holder went silent or died (said by the sweeper), or somebody else owns the job now (found by the holder)."""

    code: str = "lease_expired"
    message: str = "The lease ran out."


OUTAGE = "index_unavailable"
"""The code of an attempt that met an index in trouble: neither an attempt nor time is spent, unless it may be why."""

Outcome = Published | Superseded | RetryLater | Rejected | LeaseLost


def outage(message: str) -> RetryLater:
    """The outcome of every publish while the index is in trouble as a whole."""
    return RetryLater(OUTAGE, message, refund=True)


def is_outage(outcome: Outcome) -> TypeGuard[RetryLater]:
    """Whether this outcome is about the index and not about the document."""
    return isinstance(outcome, RetryLater) and outcome.code == OUTAGE


class TextQuality(StrEnum):
    """What a published document's text is like; none of these is a failure."""

    OK = "ok"
    NO_TEXT = "no_text"
    TRUNCATED = "truncated"
    PARTIAL = "partial"
    TEXT_UNRELIABLE = "text_unreliable"


QUALITY_SENTENCES: dict[TextQuality, str] = {
    TextQuality.OK: "Its text was read.",
    TextQuality.NO_TEXT: "Nothing to read was found. It is found by its title, key and metadata.",
    TextQuality.TRUNCATED: "Its text was cut: what comes after is not found.",
    TextQuality.PARTIAL: "Some parts of it could not be read; all others are found.",
    TextQuality.TEXT_UNRELIABLE: "Much of its text means nothing: words that can be seen in it may not be found.",
}
"""What each quality means for those who search, in one sentence."""

QUALITY_HINTS: dict[TextQuality, str] = {
    TextQuality.NO_TEXT: (
        "If words can be seen in it, OCR was off when it was read. To turn it on, install Tesseract and set"
        " FENCEPOST_EXTRACT__OCR_LANGUAGES (such as eng+deu) where the workers run; then reindex it."
    ),
    TextQuality.TRUNCATED: "Split the document, or raise FENCEPOST_EXTRACT__CHARACTERS and reindex it.",
    TextQuality.PARTIAL: "Mend the parts that are named, or upload them by themselves.",
    TextQuality.TEXT_UNRELIABLE: "Save it anew with another program; of plain text, reindex it with its encoding.",
}
"""What a person can do about a quality, if anything."""

OUT_OF_TIME_HINT = "Split the document, or raise FENCEPOST_EXTRACT__SECONDS and reindex it."
"""What a person can do where the time was up before all of it was read."""

HINTS: dict[str, str] = {
    "empty_file": "Upload it again from where it is complete.",
    "password_required": "Save a copy without the password and upload that as a new version.",
    "corrupt": "Open and save the file with the program that made it, then upload it again.",
    "unsupported_format": "Convert it to one of the formats in docs/extraction.md, such as PDF, DOCX or HTML.",
    "limit_exceeded": "Split the document, or raise the limit that the message names and replay.",
    "extractor_crashed": "The file crashes its reader. Save it anew with another program and upload that.",
    "extractor_timeout": "Split the document, or raise FENCEPOST_EXTRACT__SECONDS and replay.",
    "index_payload_too_large": "Split the document, or give the search engine more memory, then replay.",
    "index_refused": "The search engine refuses this entry. The message says why; replay when that is mended.",
    "index_unavailable": "The search engine fails whenever it is sent this. Split it, or give the engine more memory.",
    "index_overloaded": "The search engine had no room for it each time. Give it more memory, then replay.",
    "index_ahead": "The index is newer than the database, as after restoring a backup. Verify the index.",
    "lease_expired": "Workers went silent while they held it. Look at the workers, then replay.",
    "worker_lost": "Its worker died each time, also while it was alone. Watch the worker's log and replay.",
    "deadline": "It takes too long. Split it, or raise FENCEPOST_BUDGET__ATTEMPT_SECONDS and replay.",
    "handler_error": "A fault in Fencepost or its surroundings. The history has the message; replay when it is mended.",
}
"""Every failure code with the hint that people see beside it."""

FAILURES = frozenset(HINTS)


def failure(code: str, message: str) -> dict[str, str]:
    """{code, message, hint}: what people are told of a failure."""
    return {"code": code, "message": message, "hint": HINTS[code]}
