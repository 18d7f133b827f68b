"""Where in a document's outline a section stands."""

PARTED_BY = " › "  # noqa: RUF001 - the sign that is meant
_MOST_CHARACTERS = 500


class Outline:
    """The headings above the place where a reader is."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, words: str) -> str | None:
        """A heading of this level begins a section; returns the path to it, None if there is none."""
        self._open = [(above, heading) for above, heading in self._open if above < level]
        if name := " ".join(words.split()):
            self._open.append((level, name))
        return PARTED_BY.join(heading for _, heading in self._open)[:_MOST_CHARACTERS] or None
