"""What RTF calls its encodings: numbers of code pages for the document, numbers of character sets for its fonts."""

from indexer.extract.encodings import known

WESTERN = "cp1252"

_MULTIBYTE = frozenset({"cp932", "cp949", "gb18030", "big5", "cp950", "johab", "euc_jp", "euc_kr"})
_PAGES = {65001: "utf-8", 10000: "mac_roman", 10001: "shift_jis", 10006: "mac_greek", 10007: "mac_cyrillic"} | {
    10029: "mac_latin2",
    10081: "mac_turkish",
    20866: "koi8-r",
    20932: "euc_jp",
    51949: "euc_kr",
    54936: "gb18030",
}
_CHARSETS = {0: WESTERN, 77: "mac_roman", 78: "cp932", 79: "cp949", 80: "gb18030", 81: "big5", 83: "mac_greek"} | {
    85: "mac_turkish",
    88: "mac_latin2",
    89: "mac_cyrillic",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gb18030",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    254: "cp437",
    255: "cp850",
}


def code_page(number: int) -> str:
    """Python's name of a code page, Western where it is none."""
    return _PAGES.get(number) or known(f"cp{number}") or WESTERN


def font_codec(charset: int) -> str:
    """Python's name of the encoding of a font's character set, '' where the document's is meant."""
    return _CHARSETS.get(charset, "")


def text_of(data: bytes, codec: str, document: str) -> str:
    """The bytes as text. Fonts are not to be trusted: Asian words stand under Western ones, and the other way round."""
    likely = (document, codec) if codec == WESTERN and document in _MULTIBYTE else (codec or document, document)
    for candidate in likely:
        try:
            return data.decode(candidate)
        except UnicodeDecodeError:
            continue
    return data.decode(codec or document, "replace")


def joined(pieces: list[str]) -> str:
    """The pieces as one text; what is beyond the first 65,536 characters comes as two halves."""
    text = "".join(pieces).replace("\xad", "")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
