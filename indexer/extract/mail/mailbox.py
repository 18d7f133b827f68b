"""Mailboxes of the Unix kind: one message after the other, each behind a line that begins with `From `."""

import re

_DAY = rb"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_POSTMARK = rb"(?>From [^\r\n]{0,300}?\b" + _DAY + rb"\b[^\r\n]{1,40}?\d:\d\d)[^\r\n]*+\r?\n(?=[!-9;-~]+:)"
_FIRST = re.compile(_POSTMARK)
_POSTMARKS = re.compile(rb"(?:\A|\n\r?\n)(" + _POSTMARK + rb")")
_MASKED = re.compile(rb"^>(>*From )", re.MULTILINE)


def is_mailbox(start: bytes) -> bool:
    """Whether a file that begins so holds messages behind postmarks."""
    return _FIRST.match(start) is not None


def messages(data: bytes) -> list[bytes] | None:
    """The messages of a mailbox, None if there is but one."""
    marks = list(_POSTMARKS.finditer(data)) if is_mailbox(data) else []
    if len(marks) < 2:
        return None
    ends = [*(mark.start() for mark in marks[1:]), len(data)]
    return [_MASKED.sub(rb"\1", data[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)]
