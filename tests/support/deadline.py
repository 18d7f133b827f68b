"""Waiting for a condition instead of for a time."""

from collections.abc import Callable

from fencepost.local import processes


def wait_for(condition: Callable[[], object], seconds: float = 10) -> None:
    """Returns once `condition` holds; fails the test when it does not within `seconds`."""
    assert processes.wait_until(lambda: bool(condition()), seconds), f"not within {seconds:g} s"
