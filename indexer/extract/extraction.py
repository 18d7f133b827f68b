"""From a document's bytes to passages that may be stored: the one door through which text leaves this room."""

from hashlib import blake2b

from indexer import passages
from indexer.extract.kinds import Kind
from indexer.extract.quality import text_quality
from indexer.extract.sniff import choose_kind
from indexer.extract.types import Block, Extraction, Fact, Limits, Reading, Request, opened
from pipeline.sanitise import clean_json, clean_text

EXTRACTOR = "fencepost-1"
"""The version of the readers. Whoever makes them give other text for the same bytes changes it."""


def fingerprint(kind: Kind, encoding: str, limits: Limits) -> str:
    """What else decides the text, in 16 characters; a limit that refuses a document leaves no text to key."""
    parts = "\0".join((kind.name, encoding.strip().lower(), str(limits.characters)))
    return blake2b(parts.encode(), digest_size=8).hexdigest()


def extract(request: Request, kind: Kind | None = None) -> Extraction:
    """Reads a document in this very process. Raises Permanent with a code and a sentence."""
    kind = kind or choose_kind(request.content, request.filename, request.declared_media_type)
    with opened(request.content) as buffer:
        reading = kind.reader()(buffer, request)
    kept, truncated = _capped(reading.blocks, request.limits.characters)
    quality = text_quality(kept, truncated=truncated or reading.truncated, partial=reading.partial)
    clean = [Block(clean_text(b.text), b.page, _clean(b.member), _clean(b.heading)) for b in kept]
    pieces = passages.cut([block for block in clean if block.text])
    return Extraction(kind.media_type, quality, pieces, _facts(reading, clean, truncated=truncated))


def _capped(blocks: list[Block], most: int) -> tuple[list[Block], bool]:
    """The blocks up to so many characters, and whether that cut anything off."""
    kept = []
    for block in blocks:
        if len(block.text) > most:
            kept.append(Block(block.text[:most], block.page, block.member, block.heading))
            return kept, True
        kept.append(block)
        most -= len(block.text)
    return kept, False


def _clean(text: str | None) -> str | None:
    return None if text is None else clean_text(text)


def _facts(reading: Reading, blocks: list[Block], *, truncated: bool) -> dict[str, Fact]:
    facts: dict[str, Fact] = {"characters": sum(len(block.text) for block in blocks)}
    if truncated or reading.truncated:
        facts["truncated"] = True
    for name, value in reading.facts.items():
        facts[name] = clean_json(value)  # type: ignore[assignment] # the shape of a JSON value stays as it is
    return facts
