"""The words of a slide, of its notes and of what people commented on it."""

from indexer.extract.ooxml.budget import Budget
from indexer.extract.ooxml.flow import Flow
from indexer.extract.ooxml.names import in_full, relationship
from indexer.extract.ooxml.package import Package, Related

_TITLES = frozenset({"title", "ctrTitle"})


class SlideFlow(Flow):
    """The shapes of a slide in their order, the title before all others. Numbers of slides are no words."""

    left_out = frozenset({"sldNum"})
    starts = Flow.starts | in_full(
        {"p:sp": "begin_shape", "p:ph": "place", "p:txBody": "begin_shape_text", "a:fld": "begin_field"}
    )
    ends = Flow.ends | in_full({"p:txBody": "end_shape_text", "a:tbl": "end_table"})

    def __init__(self, package: Package, related: Related, budget: Budget) -> None:
        super().__init__(package, related, budget)
        self.title = ""
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
        if self._place in self.left_out:
            self.ignore(attributes)

    def end_shape_text(self) -> None:
        """The text of a shape ends."""
        if self._place in _TITLES and not self.title:
            self.title = "".join(self._section[self._text_from :]).strip()
            del self._section[self._text_from :]
        elif len(self._section) > self._text_from:
            self._section.append("\n")

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


class NotesFlow(SlideFlow):
    """What the speaker noted; the rest of the page with the notes repeats itself on every other."""

    left_out = frozenset({"sldNum", "sldImg", "hdr", "ftr", "dt"})


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


class SlideList:
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

    def end(self, name: str) -> None:
        """An element ends."""

    def text(self, text: str) -> None:
        """There are no words in the list."""
