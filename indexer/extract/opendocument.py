"""The parts of an OpenDocument file, and the short names of its elements."""

from collections.abc import Iterator

from indexer.extract.archive import Archive
from indexer.extract.markup import Beginnings, parse
from indexer.extract.types import Buffer, Request
from pipeline.errors import Permanent

_MANIFEST = "META-INF/manifest.xml"
_PIECE = 1 << 20
_CONTENT = frozenset({"content.xml", "encrypted-package"})
_SPACES = {
    "urn:oasis:names:tc:opendocument:xmlns:office:1.0": "office",
    "urn:oasis:names:tc:opendocument:xmlns:text:1.0": "text",
    "urn:oasis:names:tc:opendocument:xmlns:table:1.0": "table",
    "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0": "draw",
    "urn:oasis:names:tc:opendocument:xmlns:style:1.0": "style",
    "urn:oasis:names:tc:opendocument:xmlns:presentation:1.0": "presentation",
    "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0": "svg",
    "urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0": "fo",
    "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0": "manifest",
    "urn:oasis:names:tc:opendocument:xmlns:meta:1.0": "meta",
    "urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0": "loext",
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://www.w3.org/1999/xlink": "xlink",
}


def parts(content: Buffer, request: Request) -> Iterator[tuple[str, Iterator[bytes], bool]]:
    """The parts in the order in which they explain each other: name, bytes, and whether nothing works without it.

    A flat file is its only part. Raises Permanent: corrupt, or password_required where the words are encrypted.
    """
    if content[:4] != b"PK\x03\x04":
        pieces = (content[at : at + _PIECE] for at in range(0, len(content), _PIECE))
        yield "The document", request.in_time(pieces), True
        return
    archive = open_archive(content, request)
    names = archive.names()
    for part in ("styles.xml", "meta.xml", "content.xml"):
        if part in names:
            yield part, archive.pieces(part), part == "content.xml"


def open_archive(content: Buffer, request: Request) -> Archive:
    """The archive that a document is. Raises Permanent: corrupt without a main part, password_required if encrypted."""
    archive = Archive(content, request)
    names = archive.names()
    if _MANIFEST in names:
        _refuse_encrypted(archive)
    if "content.xml" not in names:
        raise Permanent("corrupt", "The document has no main part (content.xml).")
    return archive


def _refuse_encrypted(archive: Archive) -> None:
    manifest = _Manifest()
    try:
        parse(archive.pieces(_MANIFEST), manifest, _MANIFEST)
    except Permanent as refusal:
        if refusal.code != "corrupt":  # the words may be whole without it
            raise
    if manifest.encrypted & _CONTENT:
        raise Permanent("password_required", "The document is encrypted with a password.")


def qualified(name: str) -> str:
    """`text:p` for the name that expat gives, whatever prefix the file has for it."""
    space, _, tag = name.rpartition("}")
    return f"{_SPACES.get(space, '')}:{tag}"


class _Manifest(Beginnings):
    """The parts of the document that are encrypted."""

    def __init__(self) -> None:
        self.encrypted: set[str] = set()
        self._part = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        match qualified(name):
            case "manifest:file-entry":
                self._part = next((value for key, value in attributes.items() if key.endswith("}full-path")), "")
            case "manifest:encryption-data":
                self.encrypted.add(self._part)
