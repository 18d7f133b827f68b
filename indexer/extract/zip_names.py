"""The names of files in ZIP archives, which old programs wrote in the code page of their country and did not say so."""

import re
from collections.abc import Sequence
from zipfile import ZipInfo

from indexer.extract.encodings import decode

_UTF8 = 0x800
_MOST_CHARACTERS = 200
_RUN = re.compile(rb"[\x81-\xfe]{2}")
# One kana alone may be an accent and a letter in another code page.
_KANA = re.compile("[\u3041-\u30fe]{2}|[\u4e00-\u9fff][\u3041-\u30fe]|[\u3041-\u30fe][\u4e00-\u9fff]")
_MANY_BYTES = frozenset({"cp932", "gb18030", "cp949", "big5", "big5hkscs", "cp950", "euc_jp"})
_WORD = re.compile(r"[^\W\d_]+")
# What is in another code page looks like a mixture when it is taken for this one.
_RUSSIAN = re.compile("[А-ЯЁ]?[а-яё]+|[А-ЯЁ]+")  # noqa: RUF001 - Cyrillic letters
_DRIVE = re.compile(r"[A-Za-z]:")


def names_of(files: Sequence[ZipInfo]) -> list[str]:
    """A path for each file, as it would lie below the folder into which somebody unpacks the archive."""
    legacy = {info.orig_filename: _raw(info) for info in files if not info.flag_bits & _UTF8}
    encoding = _encoding_of(b"\n".join(raw for raw in legacy.values() if not raw.isascii()))
    names = [
        info.filename if info.flag_bits & _UTF8 else legacy[info.orig_filename].decode(encoding, "replace")
        for info in files
    ]
    return [_below(name) for name in names]


def _raw(info: ZipInfo) -> bytes:
    return info.orig_filename.partition("\0")[0].encode("cp437", "replace")


def _encoding_of(names: bytes) -> str:
    """Of all names together, since one alone is too short to tell: what they say if no encoding is declared."""
    if not names or _decodes(names, "utf-8"):
        return "utf-8"
    if _is_russian(names.decode("cp866")):
        return "cp866"
    if _decodes(names, "cp932") and _KANA.search(names.decode("cp932")):
        return "cp932"
    if _RUN.search(names):
        found = decode(names).encoding
        if found in _MANY_BYTES:
            return found
    return "cp437"


def _is_russian(text: str) -> bool:
    letters = all(character.isascii() or character.isalpha() or character == "№" for character in text)
    return letters and all(word.isascii() or _RUSSIAN.fullmatch(word) for word in _WORD.findall(text))


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _below(name: str) -> str:
    parts = _DRIVE.sub("", name.replace("\\", "/"), count=1).split("/")
    path = "/".join(part for part in parts if part not in {"", ".", ".."})
    return path[-_MOST_CHARACTERS:] or "a file without a name"
