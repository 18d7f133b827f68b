"""The names of encodings, as pages of the web, mail and people write them."""

import codecs

# What pages of the web declare, and what they mean by it.
_MEANT = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
}
# Not encodings of documents, or of a cost out of proportion.
_REFUSED = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "utf-7"})


def known(name: str) -> str:
    """Python's name for the encoding that a document or a person names, '' if there is none."""
    try:
        found = codecs.lookup(name.strip().strip("\"'")).name
    except (LookupError, ValueError):
        return ""
    return "" if found in _REFUSED or not _is_text(found) else _MEANT.get(found, found)


def _is_text(codec: str) -> bool:
    try:
        b"?".decode(codec, "replace")
    except LookupError:  # a codec from bytes to bytes, such as zlib
        return False
    return True
