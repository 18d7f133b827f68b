"""The words of charts and SmartArt, which are parts of their own."""

from collections.abc import Callable

from indexer.extract.ooxml.names import in_full
from indexer.extract.ooxml.package import Package

Words = Callable[[Package, str, str], str]
"""The words of a part; what cannot be read is named by the last argument."""


def chart(package: Package, part: str, called: str) -> str:
    """The titles, the names of the series and the categories of a chart, and what was written over it."""
    words = _Lines(_CHART)
    package.read(part, words, called)
    drawn = [found.target for found in package.relationships(part).values() if found.kind == "chartUserShapes"]
    for shapes in drawn:
        package.read(shapes, words, called)
    return "\n".join(dict.fromkeys(words.lines))


def diagram(package: Package, part: str, called: str) -> str:
    """The words of SmartArt, point by point."""
    words = _Lines(_DIAGRAM)
    package.read(part, words, called)
    return "\n".join(words.lines)


# What holds lines, and what holds words inside of it; a chart's numbers are no words.
_DIAGRAM = in_full({"a:p": "line", "a:t": "words", "a:br": "break"})
_CHART = _DIAGRAM | in_full(
    {"c:cat": "named", "c:tx": "named", "c:strCache": "named", "c:v": "value", "cx:strDim": "named", "cx:pt": "value"}
    | {"cx:txData": "named", "cx:v": "value"}
)


class _Lines:
    def __init__(self, roles: dict[str, str]) -> None:
        self.lines: list[str] = []
        self._roles = roles
        self._named = 0
        self._taking = False
        self._line: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:  # noqa: ARG002 - the protocol has them
        match self._roles.get(name):
            case "words":
                self._taking = True
            case "value":
                self._taking = self._named > 0
            case "named":
                self._named += 1
            case "break":
                self._line.append(" ")

    def end(self, name: str) -> None:
        match self._roles.get(name):
            case "words":
                self._taking = False
            case "value":
                self._taking = False
                self._end_line()
            case "named":
                self._named -= 1
            case "line":
                self._end_line()

    def text(self, text: str) -> None:
        if self._taking:
            self._line.append(text)

    def _end_line(self) -> None:
        if line := "".join(self._line).strip():
            self.lines.append(line)
        self._line.clear()
