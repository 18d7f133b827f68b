"""Word documents (docx, docm, dotx, dotm): all that a person can read in them, in the order of reading.

Body with tables, then headers, footers, notes and comments, then what is embedded. The file does not say where its
pages end, but Word leaves marks where they ended last: where there are any, pages are approximate, and a fact says so.
"""

import re

from indexer.extract.archive import Archive
from indexer.extract.ooxml.body import Body
from indexer.extract.ooxml.embedded import embedded_in, read_embedded
from indexer.extract.ooxml.package import Package, Related
from indexer.extract.ooxml.styles import Styles
from indexer.extract.ooxml.word import WordFlow
from indexer.extract.quota import EnoughError, Quota
from indexer.extract.types import Block, Buffer, Fact, Reading, Request

_MAIN = re.compile(r"word/document\d*\.xml")
_AROUND = ("header", "footer", "footnotes", "endnotes", "comments")
_STYLES = "word/styles.xml"


def read(content: Buffer, request: Request) -> Reading:
    """Blocks by page and section; facts: title, pages (approximate)."""
    package = Package(Archive(content, request))
    main = package.main(_MAIN)
    related = package.relationships(main)
    quota = Quota(request.limits.characters)
    body = Body(package, related, quota, _styles(package, related), request.limits)
    around: list[str] = []
    truncated = False
    try:
        package.parse(main, body)
        for called, part in _parts_around(package, related):
            flow = WordFlow(package, package.relationships(part), quota)
            try:
                package.read(part, flow, called)
            finally:
                around.append(flow.finish())
    except EnoughError:
        truncated = True
    blocks = body.blocks() + [Block(text) for text in dict.fromkeys(around) if text.strip()]  # headers repeat
    embedded = read_embedded(package, embedded_in(related), request)
    facts: dict[str, Fact] = {}
    if title := package.title():
        facts["title"] = title
    if body.pages > 1:
        facts |= {"pages": body.pages, "pages_approximate": True}
    return Reading(blocks + embedded.blocks, facts, truncated or embedded.truncated, package.partial + embedded.partial)


def _styles(package: Package, related: Related) -> Styles:
    styles = Styles()
    said = [found.target for found in related.values() if found.kind == "styles"]
    if part := next(filter(package.has, (*said, _STYLES)), ""):
        package.read(part, styles, "styles")
    return styles


def _parts_around(package: Package, related: Related) -> list[tuple[str, str]]:
    """Each part around the body with what people call it; by their usual names if the body refers to nothing."""
    found = {(rel.kind, rel.target) for rel in related.values() if rel.kind in _AROUND and not rel.external}
    if not related:
        for name in package.names():
            kind = re.fullmatch(r"word/([a-z]+)\d*\.xml", name)
            if kind and kind[1] in _AROUND:
                found.add((kind[1], name))
    return sorted(found, key=lambda each: (_AROUND.index(each[0]), each[1]))
