"""Waiting for conditions, with a deadline instead of a sleep."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_never = threading.Event()


def until(condition: Callable[[], T], *, seconds: float = 20, what: str = "the condition") -> T:
    """Asks again and again until the answer is true, and returns it; fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer:
            return answer
        assert time.monotonic() < deadline, f"{what} did not come true within {seconds:g} s; last answer: {answer!r}"
        _never.wait(0.02)
