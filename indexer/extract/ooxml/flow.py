"""The words of one part in the order of reading: paragraphs, tables, and what stands beside a paragraph.

Text boxes, descriptions of pictures, the addresses of links, charts and SmartArt follow the paragraph they hang on, so
that its sentences stay whole. All work is counted in elements: depth costs nothing.
"""

from indexer.extract.ooxml import drawing
from indexer.extract.ooxml.names import in_full, local, relationship
from indexer.extract.ooxml.package import Package, Related
from indexer.extract.quota import Quota

_STARTS = {
    "a:p": "begin_paragraph",
    "a:t": "begin_text",
    "a:br": "break_line",
    "m:t": "begin_text",
    "m:sub": "lower",
    "m:sup": "raise_",
    "m:den": "divide",
    "m:chr": "operator",
    "a:tc": "begin_cell",
    "mc:AlternateContent": "begin_alternatives",
    "mc:Choice": "begin_alternative",
    "mc:Fallback": "begin_alternative",
    "wp:docPr": "describe",
    "pic:cNvPr": "describe",
    "wps:cNvPr": "describe",
    "p:cNvPr": "describe",
    "a:hlinkClick": "link",
    "a:hlinkHover": "link",
    "a:hlinkMouseOver": "link",
    "c:chart": "show_chart",
    "cx:chart": "show_chart",
    "dgm:relIds": "show_diagram",
}
_ENDS = {
    "a:p": "end_paragraph",
    "a:t": "end_text",
    "m:t": "end_text",
    "a:tc": "end_cell",
    "a:tr": "end_row",
    "mc:AlternateContent": "end_alternatives",
}

_LONGEST_ADDRESS = 2000  # a longer one holds the picture or page itself


class Flow:
    """Collects the words of a part. A format adds its own elements and says what ends a paragraph."""

    starts = in_full(_STARTS)
    ends = in_full(_ENDS)
    paragraph_end = "\n"

    def __init__(self, package: Package, related: Related, quota: Quota) -> None:
        self._package = package
        self._related = related
        self._quota = quota
        self._section: list[str] = []
        self._paragraphs: list[list[str]] = []  # the inner ones are those of text boxes
        self._asides: list[str] = []
        self._addresses: list[str] = []
        self._described = ""
        self._taking = False
        self._ignored = 0
        self._cells = 0
        self._told = 0
        self._alternatives: list[int] = []  # what had been told when each began
        self._starts = {name: getattr(self, method) for name, method in self.starts.items()}
        self._ends = {name: getattr(self, method) for name, method in self.ends.items()}

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        if self._ignored:
            self._ignored += 1
        elif action := self._starts.get(name):
            action(attributes)

    def end(self, name: str) -> None:
        """An element ends."""
        if self._ignored:
            self._ignored -= 1
        elif action := self._ends.get(name):
            action()

    def text(self, text: str) -> None:
        """Words, of which only those of texts are the document's."""
        if self._taking and not self._ignored:
            self.add(text)

    def finish(self) -> str:
        """All that was collected; a paragraph that never ended, because the part or the quota did, ends now."""
        self._addresses.clear()  # there is no quota for them, or no telling where they end
        while self._paragraphs:
            self.end_paragraph()
        text = "".join(self._section)
        self._section.clear()
        return text

    def add(self, text: str) -> None:
        """Adds words to the paragraph. Raises EnoughError if there are too many by now."""
        (self._paragraphs[-1] if self._paragraphs else self._section).append(text)
        if not text.isspace():
            self._told += 1
        self._quota.spend(len(text))

    def add_aside(self, text: str) -> None:
        """Adds a text of its own that follows the paragraph."""
        self._told += 1
        if text := text.strip():
            self._beside().append(text + self._paragraph_end())
            self._quota.spend(len(text))

    def ignore(self, _attributes: dict[str, str]) -> None:
        """Passes over an element with all that is in it."""
        self._ignored = 1

    def begin_paragraph(self, _attributes: dict[str, str]) -> None:
        """A paragraph begins, perhaps one of a text box inside another."""
        self._paragraphs.append([])

    def end_paragraph(self) -> None:
        """A paragraph ends; what hangs on it follows."""
        if not self._paragraphs:
            return
        text = "".join(self._paragraphs.pop())
        if text:
            self._beside().append(text + self._paragraph_end())
        if not self._paragraphs:
            self._section += self._asides
            self._asides.clear()
            self._add_addresses(text)

    def begin_text(self, _attributes: dict[str, str]) -> None:
        """Words begin."""
        self._taking = True

    def end_text(self) -> None:
        """Words end."""
        self._taking = False

    def break_line(self, _attributes: dict[str, str]) -> None:
        """A line ends inside a paragraph."""
        self.add("\n")

    def lower(self, _attributes: dict[str, str]) -> None:
        """The index of a formula."""
        self.add("_")

    def raise_(self, _attributes: dict[str, str]) -> None:
        """The exponent of a formula."""
        self.add("^")

    def divide(self, _attributes: dict[str, str]) -> None:
        """The lower part of a fraction."""
        self.add("/")

    def operator(self, attributes: dict[str, str]) -> None:
        """The sign of a sum or an integral."""
        self.add(local(attributes).get("val", ""))

    def begin_cell(self, _attributes: dict[str, str]) -> None:
        """A cell of a table begins."""
        self._cells += 1

    def end_cell(self) -> None:
        """A cell of a table ends."""
        self._cells = max(0, self._cells - 1)
        pieces = self._beside()
        pieces[-1:] = [*(last.rstrip(" ") for last in pieces[-1:]), "\t"]

    def end_row(self) -> None:
        """A row of a table ends."""
        self._beside().append("\n")

    def begin_alternatives(self, _attributes: dict[str, str]) -> None:
        """The same thing in several forms, for newer and older programs."""
        self._alternatives.append(self._told)

    def begin_alternative(self, attributes: dict[str, str]) -> None:
        """One of the forms: the first that says anything is read, so that nothing is told twice."""
        if self._alternatives and self._told > self._alternatives[-1]:
            self.ignore(attributes)

    def end_alternatives(self) -> None:
        """All forms have passed."""
        if self._alternatives:
            self._alternatives.pop()

    def describe(self, attributes: dict[str, str]) -> None:
        """The title and the description of a picture or shape; a picture often repeats those of its frame."""
        words = dict.fromkeys(attributes.get(name, "").strip() for name in ("title", "descr"))
        described = "\n".join(filter(None, words))
        if described and described != self._described:
            self.add_aside(described)
        self._described = described

    def link(self, attributes: dict[str, str]) -> None:
        """The address of a link."""
        found = self._related.get(relationship(attributes))
        if found and found.external:
            self.add_address(found.target)

    def add_address(self, address: str) -> None:
        """Keeps the address of a link until its paragraph ends, where it is not repeated if it stands there anyway."""
        if len(address) > _LONGEST_ADDRESS:
            return
        if self._paragraphs:
            self._addresses.append(address)
        else:
            self.add_aside(_readable(address))

    def show_chart(self, attributes: dict[str, str]) -> None:
        """A chart stands here."""
        self._show(relationship(attributes), "chart", drawing.chart)

    def show_diagram(self, attributes: dict[str, str]) -> None:
        """SmartArt stands here."""
        self._show(relationship(attributes, "dm"), "SmartArt", drawing.diagram)

    def _show(self, id_: str, called: str, words: drawing.Words) -> None:
        found = self._related.get(id_)
        if found and not found.external and self._package.first_time(found.target):
            self.add_aside(words(self._package, found.target, called))

    def _beside(self) -> list[str]:
        return self._asides if self._paragraphs else self._section

    def _paragraph_end(self) -> str:
        return " " if self._cells else self.paragraph_end

    def _add_addresses(self, text: str) -> None:
        if not self._addresses:
            return
        said = set(text.split())
        for address in dict.fromkeys(map(_readable, self._addresses)):
            if address and address not in said:
                self.add_aside(address)
        self._addresses.clear()


def _readable(address: str) -> str:
    return address.strip().removeprefix("mailto:")
