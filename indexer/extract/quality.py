"""What a document's text is like: good, missing, cut or garbage."""

import re
from collections.abc import Sequence

from indexer.extract.types import Block
from pipeline.outcomes import TextQuality

UNRELIABLE_SHARE = 0.02
"""Above this share of characters that mean nothing, a text layer is garbage: measured without a false alarm."""

_MEANINGLESS = re.compile("[\x00-\x08\x0e-\x1f\x7f\ue000-\uf8ff\ufffd\ud800-\udfff\U000f0000-\U0010fffd]")
_TELLING_BYTES = (b"\x7f", b"\xee", b"\xef", b"\xf3", b"\xf4")  # of all these in UTF-8, but for what cleaning removes
_GLYPH_NUMBER = re.compile(r"\(cid:\d+\)")


def text_quality(blocks: Sequence[Block], clean: Sequence[Block], *, truncated: bool, partial: bool) -> TextQuality:
    """The one quality that matters most to somebody who searches for this document, as read and as cleaned."""
    if not any(block.text and not block.text.isspace() for block in blocks):
        return TextQuality.NO_TEXT
    if _meaningless_share(blocks, clean) > UNRELIABLE_SHARE:
        return TextQuality.TEXT_UNRELIABLE
    if truncated:
        return TextQuality.TRUNCATED
    return TextQuality.PARTIAL if partial else TextQuality.OK


def _meaningless_share(blocks: Sequence[Block], clean: Sequence[Block]) -> float:
    meaningless = total = 0
    for block, cleaned in zip(blocks, clean, strict=True):
        text = block.text
        total += len(text)
        if cleaned.text is not text or _may_have_meaningless(text):
            meaningless += len(_MEANINGLESS.findall(text))
        if "(cid:" in text:
            meaningless += sum(len(found) for found in _GLYPH_NUMBER.findall(text))
    return meaningless / total if total else 0.0


def _may_have_meaningless(text: str) -> bool:
    """A quick look that spares most texts a slow one."""
    data = text.encode()
    return any(byte in data for byte in _TELLING_BYTES)
