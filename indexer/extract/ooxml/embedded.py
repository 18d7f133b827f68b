"""Documents inside an office file: embedded ones, and those that Word shows as a part of its text (`w:altChunk`)."""

from collections.abc import Iterable

from indexer.extract.members import Members
from indexer.extract.ooxml.package import Package, Related
from indexer.extract.types import Reading, Request

_KINDS = frozenset({"aFChunk", "package"})


def embedded_in(related: Related) -> list[str]:
    """The parts among these that are documents of their own."""
    return [found.target for found in related.values() if found.kind in _KINDS and not found.external]


def read_embedded(package: Package, parts: Iterable[str], request: Request) -> Reading:
    """What is in these documents, each under its name."""
    distinct = dict.fromkeys(parts)
    if not distinct:
        return Reading([])
    members = Members(request)
    for part in distinct:
        members.read(part.rpartition("/")[2], package.pieces(part))
    return Reading(members.blocks, {}, members.truncated, members.partial)
