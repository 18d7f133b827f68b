"""The words of a slide, of its notes and of what people commented on it."""

from indexer.extract.markup import Beginnings
from indexer.extract.ooxml.flow import Flow
from indexer.extract.ooxml.names import in_full, relationship
from indexer.extract.ooxml.package import Package, Related
from indexer.extract.quota import Quota

_TITLES = frozenset({"title", "ctrTitle"})
_MARGINS = frozenset({"hdr", "ftr", "dt"})


class SlideFlow(Flow):
    """The shapes of a slide, or of the page with its notes, in their order; the title comes first.

    Headers and footers repeat, and are kept where they were not `said` before. Numbers of slides are no words.
    """

    starts = Flow.starts | in_full(
        {"p:sp": "begin_shape", "p:ph": "place", "p:txBody": "begin_shape_text", "a:fld": "begin_field"}
    )
    ends = Flow.ends | in_full({"p:txBody": "end_shape_text", "a:tbl": "end_table"})

    def __init__(self, package: Package, related: Related, quota: Quota, said: set[str]) -> None:
        super().__init__(package, related, quota)
        self.title = ""
        self._said = said
        self._place = ""
        self._text_from = 0

    def begin_shape(self, _attributes: dict[str, str]) -> None:
        """A shape begins."""
        self._place = ""

    def place(self, attributes: dict[str, str]) -> None:
        """What the shape is for, by the layout of the slide."""
        self._place = attributes.get("type", "")

    def begin_shape_text(self, attributes: dict[str, str]) -> None:
        """The text of a shape begins."""
        self._text_from = len(self._section)
        if self._place == "sldNum":
            self.ignore(attributes)

    def end_shape_text(self) -> None:
        """The text of a shape ends."""
        text = "".join(self._section[self._text_from :]).strip()
        is_title = self._place in _TITLES and not self.title
        if is_title:
            self.title = text
        if is_title or self._repeats(text):
            del self._section[self._text_from :]
        elif text:
            self._section.append("\n")
        self._text_from = len(self._section)

    def begin_field(self, attributes: dict[str, str]) -> None:
        """A field, such as the number of the slide."""
        if attributes.get("type") == "slidenum":
            self.ignore(attributes)

    def end_table(self) -> None:
        """A table ends."""
        self._section.append("\n")

    def finish(self) -> str:
        """All words, the title first."""
        text = super().finish()
        return f"{self.title}\n\n{text}" if self.title else text

    def _repeats(self, text: str) -> bool:
        if self._place not in _MARGINS:
            return False
        repeats = text in self._said
        self._said.add(text)
        return repeats


class CommentsFlow(Flow):
    """Comments, in the form of 2007 and in that of 2018 with replies."""

    starts = Flow.starts | in_full({"p:text": "begin_comment"})
    ends = Flow.ends | in_full({"p:text": "end_comment"})

    def begin_comment(self, attributes: dict[str, str]) -> None:
        """A comment of one paragraph begins."""
        self.begin_paragraph(attributes)
        self.begin_text(attributes)

    def end_comment(self) -> None:
        """It ends."""
        self.end_text()
        self.end_paragraph()


class SlideList(Beginnings):
    """The slides of a presentation in their order, hidden ones as well, and the sections that they are in."""

    _actions = in_full({"p:sldId": "slide", "p14:section": "section", "p14:sldId": "inside"})

    def __init__(self) -> None:
        self.slides: list[tuple[str, str]] = []
        self._sections: dict[str, str] = {}
        self._section = ""

    def section(self, slide: str) -> str:
        """The name of the section that a slide is in, '' if in none."""
        return self._sections.get(slide, "")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        match self._actions.get(name):
            case "slide":
                self.slides.append((attributes.get("id", ""), relationship(attributes)))
            case "section":
                self._section = attributes.get("name", "")
            case "inside":
                self._sections[attributes.get("id", "")] = self._section
