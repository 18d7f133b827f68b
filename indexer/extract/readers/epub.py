"""EPUB books: the chapters in the order of reading, each by the reader of HTML.

A page is an item of the book's spine, which is mostly a chapter: the pages of a screen depend on the screen.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from posixpath import dirname, join, normpath
from unicodedata import normalize
from urllib.parse import unquote

from indexer.extract.archive import Archive
from indexer.extract.kinds import KINDS
from indexer.extract.markup import Beginnings, parse
from indexer.extract.types import Block, Buffer, Fact, Reading, Request, reason
from pipeline.errors import Permanent

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PACKAGE = "application/oebps-package+xml"
_CONTENTS = "application/x-dtbncx+xml"
_CHAPTERS = frozenset({"application/xhtml+xml", "text/html", "text/x-oeb1-document", "image/svg+xml", "text/xml", ""})


def read(content: Buffer, request: Request) -> Reading:
    """One block per section; facts: title, pages (items of the spine)."""
    archive = Archive(content, request)
    book = _Package()
    package = _package_path(archive)
    parse(archive.pieces(package), book, package)
    chapters = _spine(book, dirname(package), request)
    encrypted = _encrypted(archive)
    if all(chapter.path in encrypted for chapter in chapters):
        raise Permanent("password_required", "The book is encrypted: it can be read with its shop's programs only.")
    reading = _Chapters(archive, encrypted, request)
    for number, chapter in enumerate(chapters, start=1):
        reading.add(number, chapter)
        if reading.truncated:
            break
    facts: dict[str, Fact] = {"pages": len(chapters)}
    if title := " ".join(book.title.split()):
        facts["title"] = title
    blocks = _with_titles(reading.blocks, _titles(archive, book, dirname(package)))
    return Reading(blocks, facts, truncated=reading.truncated, partial=reading.partial)


def _spine(book: "_Package", folder: str, request: Request) -> list["_Item"]:
    chapters = [book.items[item] for item in book.spine if item in book.items]
    if not chapters:
        raise Permanent("corrupt", "The book has no chapters.")
    if len(chapters) > request.limits.pages:
        raise request.limits.exceeded("pages", f"The book has {len(chapters):,} chapters")
    return [replace(chapter, path=_resolved(folder, chapter.path)) for chapter in chapters]


@dataclass(frozen=True, slots=True)
class _Item:
    """What the package says about one file."""

    path: str
    media_type: str
    properties: str


class _Chapters:
    """Reads one chapter after the other; one that cannot be read is named and harms no other."""

    def __init__(self, archive: Archive, encrypted: set[str], request: Request) -> None:
        self.blocks: list[tuple[str, Block]] = []
        self.partial: list[str] = []
        self.truncated = False
        self._characters = 0
        self._archive = archive
        self._names = _by_path(archive)
        self._encrypted = encrypted
        self._request = replace(request, declared_media_type="", encoding="")

    def add(self, number: int, chapter: _Item) -> None:
        if self._request.time_is_up():
            self.truncated = True
            return
        path = chapter.path
        if path not in self._names:
            self.partial.append(f"{path}: it is missing in the book")
        elif path in self._encrypted:
            self.partial.append(f"{path}: it is encrypted")
        elif chapter.media_type not in _CHAPTERS:
            if not chapter.media_type.startswith("image/"):
                self.partial.append(f"{path}: it is of the type {chapter.media_type[:80]}")
        else:
            self._read(number, path)

    def _read(self, number: int, path: str) -> None:
        try:
            found = KINDS["html"].read_inside(b"".join(self._archive.pieces(self._names[path])), self._request)
        except Permanent as refusal:
            if refusal.code == "limit_exceeded":
                raise
            self.partial.append(f"{path}: {reason(refusal)}")
            return
        for block in found.blocks:
            self.blocks.append((path, replace(block, page=number)))
            self._characters += len(block.text)
        self.truncated = found.truncated or self._characters > self._request.limits.characters


def _with_titles(blocks: list[tuple[str, Block]], titles: dict[str, str]) -> list[Block]:
    """Where a chapter's text stands under no heading, the table of contents may know its title."""
    return [block if block.heading else replace(block, heading=titles.get(path)) for path, block in blocks]


def _resolved(folder: str, reference: str) -> str:
    return normalize("NFC", normpath(join(folder, unquote(reference.partition("#")[0]))))


def _by_path(archive: Archive) -> dict[str, str]:
    """The members by the paths that the book has for them: some systems take accents apart, some do not say UTF-8."""
    members: dict[str, str] = {}
    for name in archive.names():
        try:
            meant = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            meant = name
        members[normalize("NFC", meant)] = name
    return members


def _package_path(archive: Archive) -> str:
    names = archive.names()
    container = _Attributes("rootfile", lambda values: values.get("media-type", _PACKAGE) == _PACKAGE)
    if _CONTAINER in names:
        parse(archive.pieces(_CONTAINER), container, _CONTAINER)
    named = [path for values in container.found if (path := values.get("full-path", "")) in names]
    found = named or [name for name in names if name.endswith(".opf")]
    if not found:
        raise Permanent("corrupt", "The book has no package file that lists its chapters.")
    return found[0]


def _encrypted(archive: Archive) -> set[str]:
    """The files that are encrypted: by digital rights management, or fonts by a harmless rule of their makers."""
    if _ENCRYPTION not in archive.names():
        return set()
    references = _Attributes("CipherReference")
    parse(archive.pieces(_ENCRYPTION), references, _ENCRYPTION)
    return {_resolved("", values.get("URI", "")) for values in references.found}


def _titles(archive: Archive, book: "_Package", folder: str) -> dict[str, str]:
    """Titles by path, as the table of contents has them; a book need not have one, nor one that can be read."""
    titles: dict[str, str] = {}
    items = book.items.values()
    new = next((item for item in items if "nav" in item.properties.split()), None)
    old = next((item for item in items if item.media_type == _CONTENTS), None)
    for item in filter(None, (new, old)):
        path = _resolved(folder, item.path)
        if path not in archive.names():
            continue
        try:
            parse(archive.pieces(path), _Contents(dirname(path), titles), path)
        except Permanent as refusal:
            if refusal.code == "limit_exceeded":
                raise
    return titles


class _Attributes(Beginnings):
    """The attributes of all elements of one name."""

    def __init__(self, tag: str, wanted: Callable[[dict[str, str]], bool] = bool) -> None:
        self.found: list[dict[str, str]] = []
        self._tag = tag
        self._wanted = wanted

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name.rpartition("}")[2] == self._tag and self._wanted(attributes):
            self.found.append(attributes)


class _Package:
    """The package file: title, files, and the spine that puts them in order."""

    def __init__(self) -> None:
        self.title = ""
        self.items: dict[str, _Item] = {}
        self.spine: list[str] = []
        self._titles = 0
        self._in_title = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        match name.rpartition("}")[2]:
            case "item" if "href" in attributes:
                media_type = attributes.get("media-type", "").lower()
                self.items[attributes.get("id", "")] = _Item(
                    attributes["href"], media_type, attributes.get("properties", "")
                )
            case "itemref":
                self.spine.append(attributes.get("idref", ""))
            case "title" | "Title":
                self._titles += 1
                self._in_title = self._titles == 1  # the others are subtitles

    def end(self, name: str) -> None:
        self._in_title = self._in_title and not name.lower().endswith("title")

    def text(self, text: str) -> None:
        if self._in_title:
            self.title += text


class _Contents:
    """A table of contents, old (`navPoint` with `text` and `content`) or new (`a`): the first title of each file."""

    def __init__(self, folder: str, titles: dict[str, str]) -> None:
        self._folder = folder
        self._titles = titles
        self._words: list[str] | None = None
        self._target = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        match name.rpartition("}")[2]:
            case "a":
                self._words, self._target = [], attributes.get("href", "")
            case "navLabel":
                self._words = []
            case "content" if self._words:
                self._name(attributes.get("src", ""))

    def end(self, name: str) -> None:
        if name.endswith("}a"):
            self._name(self._target)

    def text(self, text: str) -> None:
        if self._words is not None:
            self._words.append(text)

    def _name(self, target: str) -> None:
        title = " ".join("".join(self._words or ()).split())
        if title and target:
            self._titles.setdefault(_resolved(self._folder, target), title)
        self._words = None
