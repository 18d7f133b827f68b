"""What every message has in common, whoever wrote its file: who, to whom, when, about what, and what is attached."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from indexer.extract.members import Members
from indexer.extract.types import Block, Fact, Reading

BODY = "the message"
"""How the body is named in `partial`."""

_FACT_CHARACTERS = 1000
_NAME_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Letter:
    """The head of a message; '' and None where it does not say. `date` is as it was written, `moment` what it means."""

    sender: str = ""
    to: str = ""
    cc: str = ""
    bcc: str = ""
    date: str = ""
    moment: datetime | None = None
    subject: str = ""


def letter_reading(letter: Letter, body: Sequence[Block], attached: Sequence[str], members: Members) -> Reading:
    """A block of the head, so that people and files are found, then the body, then what is attached."""
    lines = [f"{name}: {value}" for name, value in _lines(letter, attached) if value]
    head = [Block("\n".join(lines) + "\n\n")] if lines else []
    return Reading(
        [*head, *body, *members.blocks], _facts(letter), truncated=members.truncated, partial=members.partial
    )


def attachment_name(name: str, number: int) -> str:
    """The name of an attachment without the folder it came from, one that counts if it has none."""
    last = " ".join(name.replace("\\", "/").rpartition("/")[2].split())
    return last[-_NAME_CHARACTERS:] or f"attachment {number}"


def _lines(letter: Letter, attached: Sequence[str]) -> list[tuple[str, str]]:
    return [
        ("Subject", letter.subject),
        ("From", letter.sender),
        ("To", letter.to),
        ("Cc", letter.cc),
        ("Bcc", letter.bcc),
        ("Date", letter.date),
        ("Attachments", ", ".join(attached)),
    ]


def _facts(letter: Letter) -> dict[str, Fact]:
    values = {
        "title": letter.subject,
        "subject": letter.subject,
        "from": letter.sender,
        "to": letter.to,
        "cc": letter.cc,
        "date": letter.moment.isoformat() if letter.moment else "",
    }
    return {name: value[:_FACT_CHARACTERS] for name, value in values.items() if value}
