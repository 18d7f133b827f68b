"""ZIP archives: every file inside is read by the reader of its kind, and nothing is ever unpacked to disk."""

from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED, ZipInfo

from indexer.extract.archive import Archive, is_encrypted
from indexer.extract.members import Members
from indexer.extract.types import Buffer, Reading, Request
from indexer.extract.zip_names import names_of
from pipeline.errors import Permanent

_METHODS = frozenset({ZIP_STORED, ZIP_DEFLATED, ZIP_BZIP2, ZIP_LZMA})
_METHOD_NAMES = {6: "implode", 9: "Deflate64", 93: "Zstandard", 95: "xz", 98: "PPMd"}
# What file managers leave behind.
_LITTER_FOLDERS = ("__MACOSX/",)
_LITTER = frozenset({".ds_store", "thumbs.db", "desktop.ini"})


def read(content: Buffer, request: Request) -> Reading:
    """The blocks of all files inside, each with its path; facts: how many files there are.

    An archive over the limits of the whole is refused. A file over those of a member is named, and the others are read.
    """
    archive = Archive(content, request)
    infos = archive.files()
    files = [(name, info) for name, info in zip(names_of(infos), infos, strict=True) if not _is_litter(name)]
    if files and all(is_encrypted(info) for _, info in files):
        raise Permanent("password_required", "The files in the archive are encrypted with a password.")
    members = Members(request)
    for name, info in files:
        if why := _unreadable(info):
            members.fail(name, why)
        else:
            members.read(name, archive.pieces(info))
    return Reading(members.blocks, {"files": len(files)}, truncated=members.truncated, partial=members.partial)


def _is_litter(name: str) -> bool:
    return name.startswith(_LITTER_FOLDERS) or name.rpartition("/")[2].lower() in _LITTER


def _unreadable(info: ZipInfo) -> str:
    if is_encrypted(info):
        return "it needs a password"
    if info.compress_type not in _METHODS:
        method = _METHOD_NAMES.get(info.compress_type, f"method {info.compress_type}")
        return f"it is packed by {method}, which Fencepost cannot unpack"
    return ""
