"""How much text a document may still give, and what ends its reading early."""

from pipeline.errors import Permanent


class EnoughError(Exception):
    """More text than the limit allows has been read: what there is will be handed over as truncated."""


class OutOfTimeError(EnoughError, Permanent):
    """The time is up in the middle. What there is will be handed over; where there is nothing, this is the refusal."""

    def __init__(self) -> None:
        super().__init__("extractor_timeout", "The time was up before all of it was read.")


class Quota:
    """What is left of the limit on characters, over all parts of a document."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    def spend(self, characters: int) -> None:
        """Counts text of this length. Raises EnoughError if it was too much."""
        self._left -= characters
        if self._left < 0:
            raise EnoughError
