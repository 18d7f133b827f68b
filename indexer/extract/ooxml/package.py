"""The parts of an office file and how they refer to each other."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from posixpath import normpath
from urllib.parse import unquote

from indexer.extract.archive import Archive
from indexer.extract.markup import Beginnings, Handler, Title, parse
from indexer.extract.types import reason
from pipeline.errors import Permanent

_CORE = "docProps/core.xml"
_EXTERNAL = "External"


@dataclass(frozen=True, slots=True)
class Relationship:
    """What a part refers to: another part by its name, or an address outside the file."""

    kind: str
    target: str
    external: bool


Related = dict[str, Relationship]
"""What a part refers to, by the ids that its elements name."""


class Package:
    """An office file. Whatever cannot be read of it, apart from its main part, is named in `partial`."""

    def __init__(self, archive: Archive) -> None:
        self.partial: list[str] = []
        self._archive = archive
        self._members = {_plain(name).lower(): name for name in archive.names()}
        self._shown: set[str] = set()
        self._first = self.relationships("")

    def names(self) -> list[str]:
        """The names of all parts in lower case, as they are compared."""
        return list(self._members)

    def has(self, part: str) -> bool:
        """Whether there is such a part; case makes no difference."""
        return part.lower() in self._members

    def main(self, usual: re.Pattern[str]) -> str:
        """The main part: what the package says it is, else one of the usual name. Raises Permanent corrupt."""
        said = [found.target for found in self._first.values() if found.kind == "officeDocument"]
        main = next((part for part in (*said, *filter(usual.fullmatch, self._members)) if self.has(part)), "")
        if not main:
            raise Permanent("corrupt", "The document has no main part: the file was damaged or is something else.")
        return main

    def relationships(self, part: str) -> Related:
        """What a part refers to; the package itself has no name."""
        folder, _, name = part.rpartition("/")
        found = _Relationships(folder)
        listed = f"{folder}/_rels/{name}.rels".lstrip("/")
        if self.has(listed):
            self.read(listed, found, "relationships")
        return found.by_id

    def title(self) -> str:
        """The title among the core properties."""
        said = [found.target for found in self._first.values() if found.kind == "core-properties"]
        part = next(filter(self.has, (*said, _CORE)), "")
        title = Title()
        if part:
            self.read(part, title, "properties")
        return title.words

    def first_time(self, part: str) -> bool:
        """Whether a part that is shown inside others was not shown before: one is read once, however often it is."""
        first = part not in self._shown
        self._shown.add(part)
        return first

    def parse(self, part: str, handler: Handler) -> None:
        """Reads a part. Raises Permanent if it is malformed."""
        parse(self._archive.pieces(self._members[part.lower()]), handler, part)

    def read(self, part: str, handler: Handler, called: str) -> bool:
        """Reads a part without which the rest is worth reading; returns whether it was whole, else names it."""
        if not self.has(part):
            self.partial.append(f"{called}: the file has no part {part}" if part else f"{called}: its part is missing")
            return False
        try:
            self.parse(part, handler)
        except Permanent as refusal:
            if refusal.code != "corrupt":
                raise
            self.partial.append(f"{called}: {reason(refusal)}")
            return False
        return True

    def pieces(self, part: str) -> Iterator[bytes]:
        """The bytes of a part, piece by piece. Raises Permanent: corrupt (missing, damaged) or limit_exceeded."""
        if not self.has(part):
            raise Permanent("corrupt", "It is missing.")
        yield from self._archive.pieces(self._members[part.lower()])


def _plain(name: str) -> str:
    return name.replace("\\", "/").lstrip("/")


class _Relationships(Beginnings):
    def __init__(self, folder: str) -> None:
        self.by_id: Related = {}
        self._folder = folder

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if not name.endswith("}Relationship"):
            return
        external = attributes.get("TargetMode") == _EXTERNAL
        target = attributes.get("Target", "")
        kind = attributes.get("Type", "").rpartition("/")[2]
        self.by_id[attributes.get("Id", "")] = Relationship(
            kind, target.strip() if external else self._resolved(target), external
        )

    def _resolved(self, target: str) -> str:
        path = unquote(target.partition("#")[0]).replace("\\", "/")
        return normpath(path if path.startswith("/") else f"/{self._folder}/{path}").lstrip("/") if path else ""
