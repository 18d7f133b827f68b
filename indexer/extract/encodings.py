"""From bytes to text: a ladder of encodings, the surest sign first.

Detectors are wrong on short texts, so the detector is the last rung but one. What was chosen is recorded with a
confidence, and a document's metadata may override it.
"""

import codecs
import re

from indexer.extract.values import value
from pipeline.encodings import known
from pipeline.errors import Permanent

__all__ = ["Decoded", "declared_inside", "decode", "known", "nul_encoding"]

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ANY_MARK = tuple(mark for mark, _ in _BYTE_ORDER_MARKS)
_ISO_2022 = re.compile(rb"\x1b(?:\$[@B]|\([BIJ]|\$\)[AC]|\$\([A-DOPQ])")
_KOREAN_MARK = b"\x1b$)C"
_JAPANESE = ("iso2022_jp", "iso2022_jp_ext", "iso2022_jp_2", "iso2022_jp_3")

_MULTIBYTE = frozenset({"cp932", "gb18030", "cp949", "big5", "big5hkscs", "cp950", "euc_jp", "hz", "johab"})

_DECLARED = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)|<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.:-]+)""",
    re.IGNORECASE,
)
_DECLARED_WITHIN = 4096
_ASCII = bytes(range(0x80))
_SPARSE = 0.08  # German, French or Spanish have 2 to 6 %, Turkish, Czech and Hungarian more
_SIGNS = "€…‘’“”•–—ŠšŽžŒœŸ\xa0¡£§©«®°·»¿"  # noqa: RUF001 - typographic signs are meant
_WESTERN = _SIGNS.encode("cp1252") + "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜßàáâãäåæçèéêëìíîïñòóôõöøùúûüÿ".encode("cp1252")
_RUN = re.compile(rb"[\x80-\xff]{4}")  # words of other scripts, not of the West
_NEVER_MEANT = (
    *("hp_roman8", "mac_latin2", "mac_iceland", "mac_turkish", "ptcp154"),  # taken for Western text full of accents
    *("cp037", "cp273", "cp424", "cp500", "cp875", "cp1026", "cp1140"),  # of mainframes
)
_SAMPLE_BYTES = 16 * 1024
_DETECTED_BYTES = 16 * 1024


@value
class Decoded:
    """A text, the encoding it was read in (Python's name) and how sure that is (0 to 1)."""

    text: str
    encoding: str
    confidence: float


def decode(data: bytes, declared: str = "", override: str = "") -> Decoded:
    """The text of these bytes. `declared` is believed if it decodes, `override` always; raises Permanent if unknown."""
    if override:
        return _overridden(data, override)
    return (
        _by_mark(data)
        or _by_nulls(data)
        or _iso_2022(data)
        or _by_multibyte_declaration(data, declared)
        or _strictly(data, "utf-8", 1.0 if not data.isascii() else 0.99)
        or _by_declaration(data, declared)
        or _mostly_utf8(data)
        or _sparsely_western(data)
        or _detected(data)
        or Decoded(data.decode("cp1252", "replace"), "cp1252", 0.1)
    )


def declared_inside(data: bytes) -> str:
    """The encoding that a page or an XML file declares in its first lines, '' if none."""
    found = _DECLARED.search(data[:_DECLARED_WITHIN])
    return (found[1] or found[2]).decode("ascii", "replace") if found else ""


def _overridden(data: bytes, override: str) -> Decoded:
    codec = known(override)
    if not codec:
        raise Permanent("unsupported_format", f"The encoding {override[:40]!r} that the metadata names is not known.")
    return Decoded(data.decode(codec, "replace").removeprefix("\ufeff"), codec, 1.0)


def _by_mark(data: bytes) -> Decoded | None:
    if not data.startswith(_ANY_MARK):
        return None
    codec = next(codec for mark, codec in _BYTE_ORDER_MARKS if data.startswith(mark))
    return Decoded(data.decode(codec, "replace"), codec.removesuffix("-sig"), 1.0)


def nul_encoding(sample: bytes) -> str:
    """The wide encoding that NUL bytes give away by their places, '' if none does."""
    if b"\x00" not in sample or len(sample) < 4:
        return ""
    sample = sample[: len(sample) // 4 * 4]
    share = [sample[n::4].count(0) * 4 / len(sample) for n in range(4)]
    if share[0] > 0.9 and share[1] > 0.9 and share[3] < 0.5:
        return "utf-32-be"
    if share[3] > 0.9 and share[2] > 0.9 and share[0] < 0.5:
        return "utf-32-le"
    even, odd = (share[0] + share[2]) / 2, (share[1] + share[3]) / 2
    if even > 0.05 and odd < 0.01:
        return "utf-16-be"
    if odd > 0.05 and even < 0.01:
        return "utf-16-le"
    return ""


def _by_nulls(data: bytes) -> Decoded | None:
    codec = nul_encoding(data[:_SAMPLE_BYTES])
    return _strictly(data, codec, 0.95) if codec else None


def _iso_2022(data: bytes) -> Decoded | None:
    if b"\x1b" not in data or not data.isascii() or _ISO_2022.search(data) is None:
        return None
    codecs_to_try = ("iso2022_kr",) if _KOREAN_MARK in data else _JAPANESE
    return next((found for codec in codecs_to_try if (found := _strictly(data, codec, 0.99))), None)


def _by_multibyte_declaration(data: bytes, declared: str) -> Decoded | None:
    return _by_declaration(data, declared) if declared and known(declared) in _MULTIBYTE else None


def _by_declaration(data: bytes, declared: str) -> Decoded | None:
    """A single-byte encoding decodes anything, so its declaration proves nothing against text that is valid UTF-8."""
    codec = known(declared) if declared else ""
    if not codec or codec.startswith(("utf-16", "utf-32")):  # whoever could read the declaration knows better
        return None
    return _strictly(data, codec, 0.9)


def _strictly(data: bytes, codec: str, confidence: float) -> Decoded | None:
    try:
        return Decoded(data.decode(codec), codec, confidence)
    except UnicodeDecodeError:
        return None


def _mostly_utf8(data: bytes) -> Decoded | None:
    """UTF-8 with a few broken bytes: at least 99 % of all characters are right, and 90 % of those beyond ASCII."""
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    beyond_ascii = len(text) - len(data.translate(None, bytes(range(0x80, 0x100))))
    if broken > 0.01 * len(text) or broken > 0.1 * beyond_ascii:
        return None
    return Decoded(text, "utf-8", 1 - broken / beyond_ascii)


def _sparsely_western(data: bytes) -> Decoded | None:
    """A few accents and quotation marks in ASCII: too little for a detector, which then prefers the exotic."""
    beyond_ascii = data.translate(None, _ASCII)
    if len(beyond_ascii) > _SPARSE * len(data) or beyond_ascii.translate(None, _WESTERN) or _RUN.search(data):
        return None
    return Decoded(data.decode("cp1252"), "cp1252", 0.6)


def _detected(data: bytes) -> Decoded | None:
    from charset_normalizer import from_bytes  # noqa: PLC0415 - a tenth of a second that most documents never need

    sample = data[:_DETECTED_BYTES]
    if len(data) > len(sample):  # a sample that ends inside a character would not decode
        sample = sample[: max(sample.rfind(b"\n"), sample.rfind(b" ")) + 1] or sample
    best = from_bytes(sample, cp_exclusion=list(_NEVER_MEANT)).best()
    if best is None:
        return None
    codec = known(best.encoding)
    return Decoded(data.decode(codec, "replace"), codec, round(max(0.2, 0.8 - best.chaos), 2)) if codec else None
