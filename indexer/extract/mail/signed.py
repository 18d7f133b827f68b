"""Messages wrapped in their signature (S/MIME, `signed-data`): the content lies inside in plain sight."""

from indexer.extract.mail.letter import BODY
from indexer.extract.members import Members

SIGNATURES = frozenset({"application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature"})
"""Media types of signatures beside what they sign."""
WRAPPED = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
"""Media types of messages inside their signature, or encrypted."""

_SIGNED_DATA = bytes.fromhex("06092a864886f70d010702")
_SEQUENCE, _EXPLICIT, _OCTETS, _OCTETS_IN_PIECES = 0x30, 0xA0, 0x04, 0x24


def read_wrapped(data: bytes, members: Members) -> None:
    """Reads the signed message as a member, or names it as encrypted."""
    if inside := content(data):
        members.read("signed message", inside, "message/rfc822")
    else:
        members.fail(BODY, "it is encrypted")


def content(data: bytes) -> bytes:
    """The signed message, b"" if this is no such thing, as when it is encrypted."""
    if _SIGNED_DATA not in data[:32]:
        return b""
    walk = _Walk(data)
    try:
        for step in (_SEQUENCE, None, _EXPLICIT, _SEQUENCE, None, None, _SEQUENCE, None, _EXPLICIT):
            walk.enter(step) if step else walk.skip()
        return walk.octets()
    except (IndexError, ValueError):
        return b""


class _Walk:
    """A place in a BER encoding, whose lengths may be left open."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def enter(self, tag: int) -> None:
        found, _ = self._head()
        if found != tag:
            raise ValueError

    def skip(self) -> None:
        _, length = self._head()
        self._at += self._said(length)

    def octets(self) -> bytes:
        tag, length = self._head()
        if tag == _OCTETS:
            return self._data[self._at : self._at + self._said(length)]
        if tag != _OCTETS_IN_PIECES:
            raise ValueError
        end = len(self._data) if length is None else self._at + length
        pieces = []
        while self._at < end:
            tag, length = self._head()
            if tag != _OCTETS:
                break
            pieces.append(self._data[self._at : self._at + self._said(length)])
            self._at += self._said(length)
        return b"".join(pieces)

    def _head(self) -> tuple[int, int | None]:
        """The tag of what begins here, and its length unless that is left open."""
        tag, length = self._data[self._at], self._data[self._at + 1]
        self._at += 2
        if length < 0x80:
            return tag, length
        more = length & 0x7F
        length = int.from_bytes(self._data[self._at : self._at + more], "big")
        self._at += more
        return tag, length if more else None

    def _said(self, length: int | None) -> int:
        if length is None:
            raise ValueError
        return length
