"""What `make prove` takes away, and who must miss it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Guard:
    """One guard: where it stands, what it is replaced by, and the test that must go red then."""

    name: str
    file: str
    code: str
    without: str
    test: str
