"""How much text a document may still give."""


class EnoughError(Exception):
    """More text than the limit allows has been read."""


class Quota:
    """What is left of the limit on characters, over all parts of a document."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    def spend(self, characters: int) -> None:
        """Counts text of this length. Raises EnoughError if it was too much."""
        self._left -= characters
        if self._left < 0:
            raise EnoughError
