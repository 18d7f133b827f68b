"""The words of a part of a Word document: fields, links, revisions, boxes and forms as a person sees them."""

import re

from indexer.extract.ooxml.flow import Flow
from indexer.extract.ooxml.names import in_full, local, relationship
from indexer.extract.ooxml.package import Package, Related
from indexer.extract.quota import Quota

_HYPERLINK = re.compile(r'\s*HYPERLINK\s+(?:"([^"]*)"|([^\s"\\]+))', re.IGNORECASE)
_PRIVATE_USE = range(0xE000, 0xF900)  # what a symbol font shows there, only its own table tells


class WordFlow(Flow):
    """The words of a header, a note, a comment, or of the body."""

    paragraph_end = "\n\n"
    starts = Flow.starts | in_full(
        {
            "w:p": "begin_paragraph",
            "w:t": "begin_text",
            "w:br": "break_line",
            "w:cr": "break_line",
            "w:tab": "tabulate",
            "w:ptab": "jump",
            "w:noBreakHyphen": "hyphenate",
            "w:sym": "add_symbol",
            "w:tc": "begin_cell",
            "w:txbxContent": "begin_box",
            "w:del": "ignore",
            "w:moveFrom": "ignore",
            "w:pPrChange": "ignore",
            "w:hyperlink": "link",
            "w:fldSimple": "refer",
            "w:fldChar": "mark_field",
            "w:instrText": "begin_apart",
            "w:rt": "begin_apart",
            "w:ddList": "begin_choices",
            "w:result": "choose",
            "w:listEntry": "offer",
            "v:shape": "describe_shape",
            "v:textpath": "add_shape_words",
        }
    )
    ends = Flow.ends | in_full(
        {
            "w:p": "end_paragraph",
            "w:t": "end_text",
            "w:tc": "end_cell",
            "w:tr": "end_row",
            "w:txbxContent": "end_box",
            "w:instrText": "end_instruction",
            "w:rt": "end_reading",
            "w:ddList": "end_choices",
        }
    )

    def __init__(self, package: Package, related: Related, quota: Quota) -> None:
        super().__init__(package, related, quota)
        self._cells_around: list[int] = []
        self._fields: list[list[str]] = []  # the instructions of open fields
        self._readings: list[str] = []
        self._choices: list[str] = []
        self._chosen = "0"

    def end_paragraph(self) -> None:
        """A paragraph ends; the readings of its characters follow, so that its words stay whole."""
        if self._readings and len(self._paragraphs) == 1:
            self._asides.append("".join(self._readings) + self._paragraph_end())
            self._readings.clear()
        super().end_paragraph()

    def tabulate(self, attributes: dict[str, str]) -> None:
        """A tab; with attributes it is a tab stop."""
        if not attributes:
            self.add("\t")

    def jump(self, _attributes: dict[str, str]) -> None:
        """A jump to a place on the line."""
        self.add("\t")

    def hyphenate(self, _attributes: dict[str, str]) -> None:
        """A hyphen that breaks no line."""
        self.add("\u2011")

    def add_symbol(self, attributes: dict[str, str]) -> None:
        """A character of a certain font."""
        try:
            code = int(local(attributes).get("char", ""), 16)
            if code not in _PRIVATE_USE:
                self.add(chr(code))
        except (ValueError, OverflowError):
            return

    def begin_box(self, _attributes: dict[str, str]) -> None:
        """A text box begins; it is in no cell, wherever it hangs."""
        self._cells_around.append(self._cells)
        self._cells = 0

    def end_box(self) -> None:
        """A text box ends."""
        self._cells = self._cells_around.pop()

    def link(self, attributes: dict[str, str]) -> None:
        """The address of a link, with the place on its page."""
        found = self._related.get(relationship(attributes))
        if found and found.external:
            anchor = local(attributes).get("anchor", "")
            self.add_address(f"{found.target}#{anchor}" if anchor else found.target)

    def refer(self, attributes: dict[str, str]) -> None:
        """A field whose instruction is an attribute."""
        self._follow(local(attributes).get("instr", ""))

    def mark_field(self, attributes: dict[str, str]) -> None:
        """A field begins, shows its result from here on, or ends."""
        match local(attributes).get("fldCharType"):
            case "begin":
                self._fields.append([])
            case "separate" if self._fields:
                self._follow("".join(self._fields[-1]))
                self._fields[-1].clear()
            case "end" if self._fields:
                self._follow("".join(self._fields.pop()))

    def begin_apart(self, attributes: dict[str, str]) -> None:
        """Words begin that are no part of the paragraph."""
        self._paragraphs.append([])
        self.begin_text(attributes)

    def end_instruction(self) -> None:
        """The instruction of a field ends, or a piece of it."""
        self.end_text()
        instruction = self._paragraphs.pop()
        if self._fields:
            self._fields[-1] += instruction

    def end_reading(self) -> None:
        """The reading of a character ends, as it stands above it in small letters."""
        self._readings += self._paragraphs.pop()

    def begin_choices(self, _attributes: dict[str, str]) -> None:
        """A field of a form with a list to choose from."""
        self._choices.clear()
        self._chosen = "0"

    def choose(self, attributes: dict[str, str]) -> None:
        """The number of what was chosen."""
        self._chosen = local(attributes).get("val", "0")

    def offer(self, attributes: dict[str, str]) -> None:
        """One of the choices."""
        self._choices.append(local(attributes).get("val", ""))

    def end_choices(self) -> None:
        """Only what was chosen can be seen."""
        at = int(self._chosen) if self._chosen.isdecimal() and len(self._chosen) < len("1000") else 0
        self.add("".join(self._choices[at : at + 1]))

    def describe_shape(self, attributes: dict[str, str]) -> None:
        """A shape as Word drew them before 2010."""
        self.describe({"descr": attributes.get("alt", "")})
        if address := attributes.get("href"):
            self.add_address(address)

    def add_shape_words(self, attributes: dict[str, str]) -> None:
        """WordArt."""
        self.add_aside(attributes.get("string", ""))

    def _follow(self, instruction: str) -> None:
        if found := _HYPERLINK.match(instruction):
            self.add_address(found[1] or found[2] or "")
