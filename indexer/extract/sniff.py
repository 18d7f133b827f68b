"""Tells the kind of a document by its content, in pure Python and without reading more than it must.

The file's name and the declared media type only break ties between kinds of text: a PDF named `notes.txt` is a PDF.
"""

import re
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from indexer.extract.archive import LOCAL_HEADER_BYTES, names_at_a_glance
from indexer.extract.compound import Compound
from indexer.extract.encodings import nul_encoding
from indexer.extract.kinds import BY_MEDIA_TYPE, BY_SUFFIX, KINDS, Kind
from indexer.extract.mail.mailbox import is_mailbox
from indexer.extract.types import Buffer, Request, opened
from pipeline.errors import Permanent

REVISION = 1
"""Raised by whoever lets `choose_kind` give another kind for bytes that it had refused or taken for text, mail or an
archive of anything. For whatever was taken for another kind, that kind's `revision` is raised instead."""
VERSION = f"sniff-{REVISION}"

_HEAD = 16 * 1024
_TAIL = 2 * 1024
_PDF_HEADER_WITHIN = 1024

# What each of these is: the kind that reads it, if there is one, and its name for people.
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "png", "PNG picture"),
    (b"\xff\xd8\xff", "jpeg", "JPEG picture"),
    (b"GIF87a", "gif", "GIF picture"),
    (b"GIF89a", "gif", "GIF picture"),
    (b"II*\x00", "tiff", "TIFF picture"),
    (b"MM\x00*", "tiff", "TIFF picture"),
    (b"8BPS", "", "Photoshop picture"),
    (b"{\\rtf", "rtf", "RTF document"),
    (b"%!PS", "", "PostScript document"),
    (b"\x1f\x8b", "", "gzip archive"),
    (b"BZh", "", "bzip2 archive"),
    (b"\xfd7zXZ\x00", "", "xz archive"),
    (b"\x28\xb5\x2f\xfd", "", "Zstandard archive"),
    (b"7z\xbc\xaf\x27\x1c", "", "7-Zip archive"),
    (b"Rar!\x1a\x07", "", "RAR archive"),
    (b"SQLite format 3\x00", "", "SQLite database"),
    (b"\x7fELF", "", "program"),
    (b"MZ\x90", "", "program"),
    (b"\xca\xfe\xba\xbe", "", "program"),
    (b"ID3", "", "MP3 recording"),
    (b"OggS", "", "Ogg recording"),
    (b"fLaC", "", "FLAC recording"),
    (b"\x1aE\xdf\xa3", "", "Matroska film"),
    (b"wOFF", "", "font"),
    (b"wOF2", "", "font"),
)
_MAGICS = tuple(magic for magic, _, _ in _MAGIC)
_MAGIC_INSIDE = (
    (0, b"RIFF", 8, b"WEBP", "webp", "WebP picture"),
    (0, b"RIFF", 8, b"WAVE", "", "WAV recording"),
    (0, b"RIFF", 8, b"AVI ", "", "AVI film"),
    (0, b"BM", 6, b"\x00\x00\x00\x00", "bmp", "BMP picture"),
    (4, b"ftyp", 4, b"ftyp", "", "film or picture in an MP4 container"),
    (257, b"ustar", 257, b"ustar", "", "tar archive"),
)
# The beginning of a member's name gives away whose archive it is, if it has the list of parts; the first that fits.
_CONTENT_TYPES = "[content_types].xml"
_MAIN_PARTS = frozenset({"word/document.xml", "ppt/presentation.xml", "xl/workbook.xml", "META-INF/container.xml"})
_OFFICE_PARTS = (
    ("word/", "docx", "Word document"),
    ("ppt/", "pptx", "PowerPoint presentation"),
    ("xl/workbook.bin", "xlsb", "Excel workbook in the binary format"),
    ("xl/", "xlsx", "Excel workbook"),
    ("visio/", "", "Visio drawing"),
    ("META-INF/container.xml", "epub", "EPUB book"),
)
_PACKAGES = (
    (b"application/epub+zip", "epub", "EPUB book"),
    (b"application/vnd.oasis.opendocument.text", "odt", "OpenDocument text"),
    (b"application/vnd.oasis.opendocument.spreadsheet", "ods", "OpenDocument spreadsheet"),
    (b"application/vnd.oasis.opendocument.presentation", "odp", "OpenDocument presentation"),
    (b"application/vnd.oasis.opendocument", "", "OpenDocument file"),
)
_FLAT = re.compile(
    rb"""<office:document\s[^>]*?office:mimetype=["']application/vnd\.oasis\.opendocument\.(text|presentation)"""
)
_FLAT_KINDS = {b"text": "odt", b"presentation": "odp"}
_TYPE_MEMBER = b"mimetype"
_DEFLATED = b"\x08\x00"
_MEDIA_TYPE = 100
_COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_COMPOUND_KINDS = (
    ("__properties_version1.0", "msg", "Outlook message"),
    ("WordDocument", "", "Word document in the format before 2007"),
    ("PowerPoint Document", "", "PowerPoint presentation in the format before 2007"),
    ("Workbook", "xls", "Excel workbook in the format before 2007"),
    ("Book", "xls", "Excel workbook in the format of 1995"),
)

_FOR_WANT_OF_BETTER = frozenset({"eml", "zip"})
"""What is none of the formats that look alike, as text is."""

_PDF_HEADER = re.compile(rb"%PDF-\d")
_PDF_OBJECT = re.compile(rb"(?:^|[\r\n])\s*\d+ \d+ obj\b")
# Atomic: a comment is told in one way only, so that thousands of them cost thousands of steps.
_HTML = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:(?><!--.*?-->)\s*)*(?:<!doctype\s+html|<html[\s>])", re.IGNORECASE | re.DOTALL
)
_HTML_PART = re.compile(
    r"\s*<(?:head|body|title|meta|div|p|h[1-6]|table|ul|ol|span|a|script|style)[\s>]", re.IGNORECASE
)
_MAIL_HEADER = re.compile(r"(?:[!-9;-~]+:[^\n]*\n(?:[ \t][^\n]*\n)*+){2,}", re.ASCII)
_MAIL_ONLY = re.compile(r"^(?:MIME-Version|Received|Message-ID|Return-Path|X-Mailer):", re.IGNORECASE | re.MULTILINE)
_CONTROLS = bytes(n for n in range(0x20) if n not in b"\t\n\x0b\x0c\r\x1b")


def choose_kind(content: Buffer | Path, filename: str = "", declared_media_type: str = "") -> Kind:
    """The kind of a document. Raises Permanent: empty_file, password_required, corrupt or unsupported_format."""
    with opened(content) as buffer:
        if not len(buffer):
            raise Permanent("empty_file", "The file has no bytes.")
        head = buffer[:_HEAD]
        if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            return _zip_kind(buffer)
        if head.startswith(_COMPOUND_FILE):
            return _compound_kind(buffer)
        if _is_pdf(buffer, head):
            return KINDS["pdf"]
        return _magic_kind(head) or _text_kind(head, filename, declared_media_type)


def kind_inside(content: Buffer, request: Request) -> Kind:
    """The kind of a member; where there was doubt, it is recorded that another version may say something else."""
    in_doubt = True
    try:
        kind = choose_kind(content, request.filename, request.declared_media_type)
        in_doubt = kind.plain or kind.name in _FOR_WANT_OF_BETTER
    finally:
        if in_doubt:
            request.spent.versions.add(VERSION)
    return kind


@cache
def versions_inside() -> Mapping[str, str]:
    """The versions that may be recorded of what is inside a document, by the names of the kinds and of the sniffer."""
    return MappingProxyType({kind.name: kind.version for kind in KINDS.values()} | {"sniff": VERSION})


def _kind(name: str, described: str) -> Kind:
    """The kind of this name, if there is one: what is recognised need not be readable."""
    if name in KINDS:
        return KINDS[name]
    article = "an" if re.match(r"[aeioAEIO]|RTF|RAR|XML|MP", described) else "a"
    raise Permanent("unsupported_format", f"This is {article} {described}, which Fencepost cannot read.")


def _is_pdf(buffer: Buffer, head: bytes) -> bool:
    """Junk may stand before the header, and the header may be missing; a text that speaks of PDF is none."""
    if head.startswith(b"%PDF-"):
        return True
    start = head[:_PDF_HEADER_WITHIN]
    if _PDF_HEADER.search(start):
        return b" obj" in head or b"startxref" in buffer[-_TAIL:]
    return b"startxref" in buffer[-_TAIL:] and b"endobj" in head and _PDF_OBJECT.search(start) is not None


def _zip_kind(buffer: Buffer) -> Kind:
    names = [name.replace("\\", "/").lstrip("/") for name in names_at_a_glance(buffer)]
    if "mimetype" in names:
        declared = _package_type(buffer)
        for media_type, kind, name in _PACKAGES:
            if declared.startswith(media_type):
                return _kind(kind, name)
    is_package = any(name.lower() == _CONTENT_TYPES or name in _MAIN_PARTS for name in names)
    for start, kind, name in _OFFICE_PARTS:
        if is_package and any(member.startswith(start) for member in names):
            return _kind(kind, name)
    return _kind("zip", "ZIP archive")


def _package_type(buffer: Buffer) -> bytes:
    """The beginning of the member `mimetype`, which should be the first one and not compressed, but need not."""
    at = buffer.find(_TYPE_MEMBER) - LOCAL_HEADER_BYTES
    if at < 0 or buffer[at : at + 4] != b"PK\x03\x04":
        return b""
    start = at + LOCAL_HEADER_BYTES + len(_TYPE_MEMBER) + int.from_bytes(buffer[at + 28 : at + 30], "little")
    if buffer[at + 8 : at + 10] != _DEFLATED:
        return buffer[start : start + _MEDIA_TYPE]
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(buffer[start : start + 4 * _MEDIA_TYPE], _MEDIA_TYPE)
    except zlib.error:
        return b""


def _compound_kind(buffer: Buffer) -> Kind:
    """By the streams at the root, since a message or a workbook may have any document inside."""
    try:
        streams = set(Compound(buffer).folder.streams)
    except Permanent:
        names = ("EncryptedPackage", *(stream for stream, _, _ in _COMPOUND_KINDS))
        streams = {name for name in names if buffer.find(name.encode("utf-16-le")) >= 0}
        if not streams:
            raise
    if "EncryptedPackage" in streams:
        raise Permanent("password_required", "The document is encrypted with a password.")
    for stream, kind, name in _COMPOUND_KINDS:
        if stream in streams:
            return _kind(kind, name)
    return _kind("", "file in an old Office format")


def _magic_kind(head: bytes) -> Kind | None:
    if head.startswith(_MAGICS):
        return next(_kind(kind, name) for magic, kind, name in _MAGIC if head.startswith(magic))
    for at, magic, also_at, also, kind, name in _MAGIC_INSIDE:
        if head.startswith(magic, at) and head.startswith(also, also_at):
            return _kind(kind, name)
    return None


def _markup_kind(head: bytes, start: str) -> Kind | None:
    """OpenDocument in a single XML file, or other XML."""
    if start.startswith("<") and (flat := _FLAT.search(head)):
        return KINDS[_FLAT_KINDS[flat[1]]]
    return KINDS["xml"] if start.startswith("<?xml") else None


def _text_kind(head: bytes, filename: str, declared_media_type: str) -> Kind:
    wide = _wide_encoding(head)
    if not wide and _is_binary(head):
        return _kind("", "binary file of an unknown kind")
    start = head[:4096].decode(wide or "latin-1", "replace").lstrip("\ufeff\xef\xbb\xbf")
    if _HTML.match(start):
        return KINDS["html"]
    named = _named(filename, declared_media_type)
    if _HTML_PART.match(start) and named in {"", "html"}:
        return KINDS["html"]
    if _is_mail(start, named) or is_mailbox(start.encode("latin-1", "replace")):
        return KINDS["eml"]
    by_name = KINDS[named if named not in {"", "html", "eml"} else "text"]
    return _markup_kind(head, start.lstrip()) or by_name


def _is_binary(head: bytes) -> bool:
    """Whether there are too many control characters for a text with a few of them by mistake."""
    if not any(map(head.__contains__, _CONTROLS)):  # several times as fast as counting them
        return False
    return len(head) - len(head.translate(None, _CONTROLS)) > max(1, len(head) // 20)


def _wide_encoding(head: bytes) -> str:
    if head.startswith((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")):
        return "utf-32"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    return nul_encoding(head)


def _named(filename: str, declared_media_type: str) -> str:
    suffix = filename.rpartition(".")[2].lower() if "." in filename else ""
    return BY_SUFFIX.get(suffix) or BY_MEDIA_TYPE.get(declared_media_type.partition(";")[0].strip().lower(), "")


def _is_mail(start: str, named: str) -> bool:
    """A memo may begin like a message: only the sender, or a field that no person writes, tells them apart."""
    if "\r" in start:
        start = start.replace("\r\n", "\n").replace("\r", "\n")
    header = _MAIL_HEADER.match(start.lstrip("\n"))
    return header is not None and (named == "eml" or _MAIL_ONLY.search(header[0]) is not None)
