"""Presentations (pptx, pptm, ppsx, potx): each slide is a page, its notes and comments with it.

Masters and layouts are not read: what stands there are prompts, or the same words on every slide.
"""

import re

from indexer.extract.archive import Archive
from indexer.extract.headings import Outline
from indexer.extract.ooxml.embedded import embedded_in, read_embedded
from indexer.extract.ooxml.flow import Flow
from indexer.extract.ooxml.package import Package, Related
from indexer.extract.ooxml.slides import CommentsFlow, SlideFlow, SlideList
from indexer.extract.quota import EnoughError, Quota
from indexer.extract.types import Block, Buffer, Fact, Reading, Request
from pipeline.errors import Permanent

_MAIN = re.compile(r"ppt/presentation\d*\.xml")
_SLIDE = re.compile(r"ppt/slides/slide(\d{1,9})\.xml")
_SECTION, _TITLE = 1, 2


def read(content: Buffer, request: Request) -> Reading:
    """Blocks by slide; facts: title, pages."""
    package = Package(Archive(content, request))
    slides = _slides(package)
    if len(slides) > request.limits.pages:
        raise request.limits.exceeded("pages", f"The presentation has {len(slides):,} slides")
    deck = _Deck(package, Quota(request.limits.characters))
    truncated = False
    try:
        for number, (part, section) in enumerate(slides, 1):
            deck.read(number, part, section)
    except EnoughError:
        truncated = True
    if slides and deck.failed == len(slides) and not deck.blocks:
        raise Permanent("corrupt", "None of the slides can be read.")
    embedded = read_embedded(package, deck.embedded, request)
    facts: dict[str, Fact] = {"pages": len(slides)}
    if title := package.title():
        facts["title"] = title
    return Reading(
        deck.blocks + embedded.blocks, facts, truncated or embedded.truncated, package.partial + embedded.partial
    )


def _slides(package: Package) -> list[tuple[str, str]]:
    """The part of each slide, '' if it is missing, and the name of its section."""
    main = package.main(_MAIN)
    listed = SlideList()
    package.parse(main, listed)
    related = package.relationships(main)
    if not related:
        numbered = {int(found[1]): name for name in package.names() if (found := _SLIDE.fullmatch(name))}
        return [(numbered[number], "") for number in sorted(numbered)]
    parts = {id_: found.target for id_, found in related.items() if not found.external}
    return [(parts.get(reference, ""), listed.section(slide)) for slide, reference in listed.slides]


class _Deck:
    """Collects the blocks of one slide after the other."""

    def __init__(self, package: Package, quota: Quota) -> None:
        self.blocks: list[Block] = []
        self.embedded: list[str] = []
        self.failed = 0
        self._package = package
        self._quota = quota
        self._said: set[str] = set()
        self._outline = Outline()
        self._section = ""

    def read(self, number: int, part: str, section: str) -> None:
        """Reads a slide and what was noted on it. Raises EnoughError."""
        if section != self._section:
            self._section = section
            self._outline.enter(_SECTION, section)
        related = self._package.relationships(part) if part else {}
        slide = SlideFlow(self._package, related, self._quota, self._said)
        try:
            self.failed += not self._package.read(part, slide, f"slide {number}")
        finally:
            text = slide.finish()
            heading = self._outline.enter(_TITLE, slide.title)
            self._take(Block(text, number, None, heading))
        self._read_notes(number, heading, related)
        self.embedded += embedded_in(related)

    def _read_notes(self, number: int, heading: str | None, related: Related) -> None:
        for part in _targets(related, "notesSlide"):
            notes = SlideFlow(self._package, self._package.relationships(part), self._quota, self._said)
            self._read_beside(part, notes, number, f"notes of slide {number}", heading)
        for part in _targets(related, "comments"):
            comments = CommentsFlow(self._package, self._package.relationships(part), self._quota)
            self._read_beside(part, comments, number, f"comments on slide {number}", heading)

    def _read_beside(self, part: str, flow: Flow, number: int, called: str, heading: str | None) -> None:
        try:
            self._package.read(part, flow, called)
        finally:
            self._take(Block(flow.finish(), number, None, heading))

    def _take(self, block: Block) -> None:
        if block.text.strip():
            self.blocks.append(Block(f"{block.text.rstrip()}\n\n", block.page, None, block.heading))


def _targets(related: Related, kind: str) -> list[str]:
    return [found.target for found in related.values() if found.kind == kind and not found.external]
