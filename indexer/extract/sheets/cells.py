"""The cells of a sheet as lines of text, each value as people read it."""

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from typing import Any

_NUMBER = "{:.15g}".format  # as many digits as spreadsheets show


def line(row: Iterable[Any]) -> str:
    """The values of a row with tabs between them; empty cells are left out."""
    words = "\t".join(
        [
            cell if (kind := type(cell)) is str else _NUMBER(cell) if kind is float else shown(cell)
            for cell in row
            if cell != ""
        ]
    )
    if "\n" in words or "\r" in words:
        words = words.replace("\r", "\n").replace("\n", " ")
    return words.strip()


def shown(value: object) -> str:
    """One value: 5 rather than 5.0, ISO dates, no midnight."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return _NUMBER(value)
    return _moment(value) if isinstance(value, date | time | timedelta) else str(value)


def _moment(value: date | time | timedelta) -> str:
    if isinstance(value, timedelta):
        return _duration(value)
    if isinstance(value, time):
        return _clock(value)
    if isinstance(value, datetime):
        day, clock = value.date().isoformat(), value.time()
        return day if clock == time() else f"{day} {_clock(clock)}"
    return value.isoformat()


def _clock(value: time) -> str:
    return value.strftime("%H:%M:%S" if value.second else "%H:%M")


def _duration(value: timedelta) -> str:
    minutes, seconds = divmod(round(abs(value.total_seconds())), 60)
    hours, minutes = divmod(minutes, 60)
    sign = "-" if value < timedelta() else ""
    return f"{sign}{hours}:{minutes:02}" + (f":{seconds:02}" if seconds else "")
