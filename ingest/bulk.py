"""Many small documents in one request: NDJSON in, NDJSON out, many lines a transaction.

    lines ─▶ read each ─▶ group (LINES or BYTES, or nothing more has arrived) ─▶ one transaction ─▶ answers

A bad line is answered with a problem and stops no other. If a whole group fails, its lines are tried one by one.
"""

import binascii
import hashlib
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy.exc import DBAPIError

from ingest.description import FIELDS, describe, parse_json, titled
from ingest.intake import Intake
from pipeline import contents, problems
from pipeline.acceptance import Acceptance, Submission
from pipeline.database import AWAY
from pipeline.errors import Refusal, TooLarge, invalid

GROUP_LINES = 200
GROUP_BYTES = 4 * 1024 * 1024
MOST_LINE_BYTES = 4 * 1024 * 1024
MOST_CONTENT_BYTES = contents.PIECE
LINE_FIELDS = frozenset({*FIELDS, "text", "base64"})


@dataclass(frozen=True, slots=True)
class Line:
    """One line that can be accepted."""

    number: int
    submission: Submission
    content: bytes


@dataclass(frozen=True, slots=True)
class BadLine:
    """One line that cannot, with the problem to answer."""

    number: int
    error: dict[str, Any]


def read_line(number: int, data: bytes | None) -> Line | BadLine:
    """Reads one line; None stands for a line that was too long to keep."""
    try:
        return _line(number, data)
    except Refusal as refusal:
        return BadLine(number, problems.of_refusal(refusal))


def accept_group(intake: Intake, lines: Sequence[Line | BadLine]) -> list[dict[str, Any]]:
    """Accepts a group in one transaction; returns the answers in the order of the lines."""
    good = [line for line in lines if isinstance(line, Line)]
    answers = {line.number: {"line": line.number, "error": line.error} for line in lines if isinstance(line, BadLine)}
    answers |= {answer["line"]: answer for answer in _accept(intake, good)}
    return [answers[line.number] for line in lines]


def _line(number: int, data: bytes | None) -> Line:
    if data is None:
        raise TooLarge("line_too_long", f"A line may have {MOST_LINE_BYTES:,} bytes.", limit_bytes=MOST_LINE_BYTES)
    fields = parse_json(data, what="The line")
    if not isinstance(fields, dict):
        raise Refusal("malformed_line", "A line is a JSON object.")
    if unknown := fields.keys() - LINE_FIELDS:
        raise invalid(min(unknown), "is not a field; known are " + ", ".join(sorted(LINE_FIELDS)))
    content = _content(fields)
    submission = titled(describe(fields)).submission(sha256=hashlib.sha256(content).digest(), size=len(content))
    return Line(number, submission, content)


def _accept(intake: Intake, lines: Sequence[Line]) -> list[dict[str, Any]]:
    if not lines:
        return []
    try:
        accepted = intake.accept_many(
            [line.submission for line in lines],
            {line.submission.sha256: line.content for line in lines if line.submission.sha256},
        )
    except AWAY:
        accepted = [Unavailable() for _ in lines]
    except DBAPIError:
        if len(lines) > 1:
            return [answer for line in lines for answer in _accept(intake, [line])]
        accepted = [Refusal("not_storable", "PostgreSQL cannot store this line.")]
    return [_answer(line, outcome) for line, outcome in zip(lines, accepted, strict=True)]


class Unavailable(Refusal):
    """The line was not accepted because PostgreSQL did not answer: send it again."""

    status = 503

    def __init__(self) -> None:
        super().__init__("database_unavailable", "PostgreSQL does not answer just now; send this line again.")


def _answer(line: Line, outcome: Acceptance | Refusal) -> dict[str, Any]:
    if isinstance(outcome, Refusal):
        return {"line": line.number, "error": problems.of_refusal(outcome)}
    return {"line": line.number, **asdict(outcome)}


def _content(fields: dict[str, Any]) -> bytes:
    text, encoded = fields.get("text"), fields.get("base64")
    if text is None and encoded is None:
        raise invalid("text", "is missing, and so is base64")
    if text is not None and encoded is not None:
        raise invalid("text", "cannot be given together with base64")
    if not isinstance(text if encoded is None else encoded, str):
        raise invalid("text" if encoded is None else "base64", "is text")
    try:
        content = text.encode() if text is not None else b64decode(str(encoded), validate=True)
    except (binascii.Error, ValueError):
        raise invalid("base64", "is not Base64") from None
    if len(content) > MOST_CONTENT_BYTES:
        raise TooLarge(
            "too_large",
            f"A document in a line may have {MOST_CONTENT_BYTES:,} bytes; upload larger ones by POST /v1/documents.",
            limit_bytes=MOST_CONTENT_BYTES,
        )
    return content
