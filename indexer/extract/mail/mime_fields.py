"""Header fields of messages: words in any encoding, and parameters, as they are really written."""

import re
from binascii import a2b_base64, a2b_qp
from collections.abc import Iterator
from datetime import datetime
from email.utils import parsedate_to_datetime
from urllib.parse import unquote_to_bytes

from indexer.extract.encodings import decode, known

MOST_BYTES = 100_000
"""Of a field's value; a few thousand addresses are shorter."""

_ENCODED_WORD = re.compile(r"=\?([^?\s]{1,80}+)\?([bBqQ])\?([^?]*+)(?:\?=|$)")
_SPACE = re.compile(r"\s+")
_PARAMETER = re.compile(r';\s*+([^\s=;"]++)\s*+=\s*+(?:"((?:[^"\\]|\\.)*+)"?|([^;]*+))', re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\])')
_NOT_BASE64 = bytes(n for n in range(256) if not (chr(n).isascii() and (chr(n).isalnum() or chr(n) in "+/=")))
_SECTION = re.compile(r"([^*]+)(?:\*(\d{1,4}))?(\*)?")


class Fields:
    """The fields of a message or of a part, by their names in small letters; the first of a name counts."""

    def __init__(self, guess: list[str] | None = None) -> None:
        """Fields of all parts share a `guess`: the encoding of what is not declared is guessed once a message."""
        self.guess = [""] if guess is None else guess
        self._values: dict[str, list[bytes]] = {}
        self._last: list[bytes] = []

    def add(self, name: bytes, value: bytes) -> None:
        """A field begins."""
        self._last = [value]
        self._values.setdefault(name.decode("ascii", "replace").lower(), self._last)

    def go_on(self, line: bytes) -> None:
        """The last field goes on in another line."""
        self._last.append(line)

    def text(self, name: str) -> str:
        """The value as it stands, in one line."""
        raw = b"".join(self._values.get(name, ()))[:MOST_BYTES]
        return self._decoded(raw).strip()

    def is_too_long(self, name: str) -> bool:
        """Whether the value goes on behind what is read of it."""
        return sum(map(len, self._values.get(name, ()))) > MOST_BYTES

    def words(self, name: str) -> str:
        """The value as people see it."""
        return _SPACE.sub(" ", in_words(self.text(name))).strip()

    def moment(self) -> datetime | None:
        """What the date means."""
        try:
            return parsedate_to_datetime(self.words("date"))
        except (ValueError, TypeError, IndexError, OverflowError):
            return None

    def _decoded(self, raw: bytes) -> str:
        if raw.isascii() and b"\x1b" not in raw:
            return raw.decode("ascii")
        if not self.guess[0]:
            beyond_ascii = (value for value in map(b"".join, self._values.values()) if not value.isascii())
            self.guess[0] = decode(b"\n".join(beyond_ascii) or raw).encoding
        return raw.decode(self.guess[0], "replace")


def in_words(text: str) -> str:
    """The text with its encoded words decoded: `=?utf-8?Q?Gr=C3=BC=C3=9Fe?=`."""
    return "".join(_decoded(charset, data) for charset, data in _runs(text)) if "=?" in text else text


def base64_bytes(raw: bytes) -> bytes:
    """What base64 says, up to its end; signs that do not belong there are left out."""
    letters = raw.translate(None, _NOT_BASE64).partition(b"=")[0]
    return a2b_base64(letters[: len(letters) - (len(letters) % 4 == 1)] + b"==")


def parameters(fields: Fields, name: str) -> dict[str, str]:
    """The parameters of a field such as Content-Type, also those that are encoded and cut into sections."""
    sections: dict[str, list[tuple[int, str, bool]]] = {}
    for found in _PARAMETER.finditer(fields.text(name)):
        value = _ESCAPED.sub(r"\1", found[2]) if found[2] is not None else found[3].strip()
        if section := _SECTION.fullmatch(found[1].lower()):
            sections.setdefault(section[1], []).append((int(section[2] or 0), value, bool(section[3])))
    return {key: _joined(values) for key, values in sections.items()}


def _joined(sections: list[tuple[int, str, bool]]) -> str:
    """The value of all sections; the first that is encoded begins with a charset and a language in apostrophes."""
    encoded = [section for section in sections if section[2]]
    if not encoded:
        return _SPACE.sub(" ", in_words("".join(value for _, value, _ in _ordered(sections))))
    data, charset = bytearray(), ""
    ordered = _ordered(sections if len({number for number, _, _ in sections}) > 1 else encoded)
    for place, (_, value, is_encoded) in enumerate(ordered):
        if not place and is_encoded and value.count("'") >= 2:
            charset, _, words = value.split("'", 2)
        else:
            words = value
        data += unquote_to_bytes(words) if is_encoded else words.encode("utf-8", "replace")
    return _decoded(charset, bytes(data))


def _ordered(sections: list[tuple[int, str, bool]]) -> list[tuple[int, str, bool]]:
    """One of each number."""
    return sorted({number: (number, value, encoded) for number, value, encoded in reversed(sections)}.values())


def _runs(text: str) -> Iterator[tuple[str, bytes]]:
    """Stretches of one encoding; a character may be cut between two words of the same one."""
    charset, run = "", bytearray()
    end = 0
    for word in _ENCODED_WORD.finditer(text):
        between = text[end : word.start()]
        if between and not (charset and between.isspace()):
            yield charset, bytes(run)
            yield "", between.encode("utf-8", "replace")
            charset, run = "", bytearray()
        if word[1] != charset:
            yield charset, bytes(run)
            charset, run = word[1], bytearray()
        run += _unpacked(word[2], word[3])
        end = word.end()
    yield charset, bytes(run)
    yield "", text[end:].encode("utf-8", "replace")


def _unpacked(packing: str, text: str) -> bytes:
    data = text.encode("utf-8", "replace")
    return base64_bytes(data) if packing in "bB" else a2b_qp(data, header=True)


def _decoded(charset: str, data: bytes) -> str:
    """By what is declared if that can be, else by what is likely: no detector, since there may be thousands."""
    for codec in (known(charset.partition("*")[0]) if charset else "", "utf-8"):
        try:
            return data.decode(codec or "utf-8")
        except UnicodeDecodeError:
            continue
    return data.decode("cp1252", "replace")
