"""Numbers as people say them, for the sentences and pages that operators read."""

from datetime import datetime


def duration(seconds: float) -> str:
    """A span of time in its largest sensible unit: "4 s", "12 min", "3 h", "9 d"."""
    seconds = max(seconds, 0)
    for length, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * length:
            return f"{seconds // length:.0f} {unit}"
    return f"{seconds:.0f} s"


def ordinal(n: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 112th."""
    suffix = "th" if n % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n:,}{suffix}"


def counted(n: int, cap: int) -> str:
    """A count that was taken only up to `cap`: "14", or "1,000+" when there are more."""
    return f"{n:,}" if n <= cap else f"{cap:,}+"


def moment(at: datetime, now: datetime) -> str:
    """A time of day in UTC, with its date when that is not today's: "12:03 UTC"."""
    return f"{at:%H:%M} UTC" if at.date() == now.date() else f"{at:%Y-%m-%d %H:%M} UTC"


def clause(sentence: str) -> str:
    """A sentence as the end of another one: "The index is read-only." becomes "the index is read-only"."""
    first, space, rest = sentence.removesuffix(".").partition(" ")
    return f"{first.lower() if first in {'A', 'An', 'The'} else first}{space}{rest}"
