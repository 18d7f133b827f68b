"""What a document's text is like: good, missing, cut or garbage."""

import re
from collections.abc import Sequence

from indexer.extract.types import Block
from pipeline.outcomes import TextQuality
from pipeline.sanitise import is_plain_ascii

UNRELIABLE_SHARE = 0.02
"""Above this share of characters that mean nothing, a text layer is garbage: measured without a false alarm."""

_MEANINGLESS = re.compile("[\x00-\x08\x0e-\x1f\x7f\ue000-\uf8ff\ufffd\ud800-\udfff\U000f0000-\U0010fffd]")
_GLYPH_NUMBER = re.compile(r"\(cid:\d+\)")


def text_quality(blocks: Sequence[Block], *, truncated: bool, partial: bool) -> TextQuality:
    """The one quality that matters most to somebody who searches for this document."""
    if not any(block.text and not block.text.isspace() for block in blocks):
        return TextQuality.NO_TEXT
    if _meaningless_share(blocks) > UNRELIABLE_SHARE:
        return TextQuality.TEXT_UNRELIABLE
    if truncated:
        return TextQuality.TRUNCATED
    return TextQuality.PARTIAL if partial else TextQuality.OK


def _meaningless_share(blocks: Sequence[Block]) -> float:
    meaningless = total = 0
    for block in blocks:
        total += len(block.text)
        if not is_plain_ascii(block.text):
            meaningless += len(_MEANINGLESS.findall(block.text))
        if "(cid:" in block.text:
            meaningless += sum(len(found) for found in _GLYPH_NUMBER.findall(block.text))
    return meaningless / total if total else 0.0
