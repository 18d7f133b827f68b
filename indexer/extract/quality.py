"""What a document's text is like: good, missing, cut or garbage."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from indexer.extract.types import Block
from indexer.extract.values import value
from pipeline.outcomes import TextQuality

UNRELIABLE_SHARE = 0.02
"""Above this share of characters that mean nothing, a text layer is garbage: measured without a false alarm."""

_MEANINGLESS = re.compile("[\x00-\x08\x0e-\x1f\x7f\ue000-\uf8ff\ufffd\ud800-\udfff\U000f0000-\U0010fffd]")
# Of all these in UTF-8, but for what cleaning removes. The signs of Chinese begin with \xef as well.
_TELLING_BYTES = b"\x7f\xee\xf3\xf4"
_TELLING_PAIR = re.compile(rb"\xef[\x80-\xa3\xbf]")
_GLYPH_NUMBER = re.compile(r"\(cid:\d+\)")


@dataclass(slots=True)
class _Share:
    meaningless: int = 0
    characters: int = 0

    def is_too_large(self) -> bool:
        return self.meaningless > UNRELIABLE_SHARE * self.characters


@value
class Doubts:
    """Whether a text as a whole is unreliable, and the members whose own text is."""

    of_all: bool
    members: list[str]


def doubts(blocks: Sequence[Block], clean: Sequence[Block]) -> Doubts:
    """Judges each member by itself, blocks as read and as cleaned, so that one of many does not discredit the others.

    The whole is what the document itself says, or most of the characters, wherever they are.
    """
    meaningless = [_meaningless(b.text, is_clean=c.text is b.text) for b, c in zip(blocks, clean, strict=True)]
    if not any(meaningless):
        return Doubts(of_all=False, members=[])
    shares: defaultdict[str | None, _Share] = defaultdict(_Share)
    for block, found in zip(blocks, meaningless, strict=True):
        share = shares[block.member]
        share.characters += len(block.text)
        share.meaningless += found
    bad = {member: share.characters for member, share in shares.items() if share.is_too_large()}
    most = 2 * sum(bad.values()) > sum(share.characters for share in shares.values())
    return Doubts(None in bad or most, [member for member in bad if member is not None])


def text_quality(blocks: Sequence[Block], *, unreliable: bool, truncated: bool, partial: bool) -> TextQuality:
    """The one quality that matters most to somebody who searches for this document."""
    if not any(block.text and not block.text.isspace() for block in blocks):
        return TextQuality.NO_TEXT
    if unreliable:
        return TextQuality.TEXT_UNRELIABLE
    if truncated:
        return TextQuality.TRUNCATED
    return TextQuality.PARTIAL if partial else TextQuality.OK


def _meaningless(text: str, *, is_clean: bool) -> int:
    """How many of its characters mean nothing."""
    found = 0 if is_clean and not _may_have_meaningless(text) else len(_MEANINGLESS.findall(text))
    return found + sum(map(len, _GLYPH_NUMBER.findall(text))) if "(cid:" in text else found


def _may_have_meaningless(text: str) -> bool:
    """A quick look that spares most texts a slow one."""
    data = text.encode()
    return any(map(data.__contains__, _TELLING_BYTES)) or (b"\xef" in data and bool(_TELLING_PAIR.search(data)))
