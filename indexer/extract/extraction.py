"""From a document's bytes to passages that may be stored: the one door through which text leaves this room."""

from dataclasses import astuple
from hashlib import blake2b

from indexer import passages
from indexer.extract.kinds import Kind
from indexer.extract.language import language_of
from indexer.extract.quality import doubts, text_quality
from indexer.extract.sniff import choose_kind
from indexer.extract.types import TOO_LONG, Block, Extraction, Fact, Reading, Request, opened
from pipeline.sanitise import clean_json, clean_text

_NAMED = 50
_NAME_CHARACTERS = 500

REVISION = 5
"""Raised by whoever changes what becomes of every reader's text: how it is cleaned, judged and cut into passages, or
how its language is told."""


def extractor(kind: Kind) -> str:
    """The version of what reads this kind: `pdf-2.1`. A stored result's goes on with those of what was inside."""
    return f"{kind.name}-{REVISION}.{kind.revision}"


def fingerprint(kind: Kind, request: Request) -> str:
    """What else decides the text, beside the bytes and the extractor, in 16 characters.

    A larger limit may bring text that was left out or named in `partial`, so it makes a new result.
    """
    encoding = request.encoding.strip().lower()
    return digest("\0".join(map(str, (kind.name, encoding, *_deciding(kind, request)))))


def extract(request: Request, kind: Kind | None = None) -> Extraction:
    """Reads a document in this very process. Raises Permanent with a code and a sentence."""
    kind = kind or choose_kind(request.content, request.filename, request.declared_media_type)
    with opened(request.content) as buffer:
        reading = kind.reader()(buffer, request)
    kept, is_cut = _capped(reading.blocks, request.limits.characters)
    clean = [Block(clean_text(b.text), b.page, _clean(b.member), _clean(b.heading)) for b in kept]
    found = doubts(kept, clean)
    partial = [*reading.partial, *(f"{member}: its text is unreliable" for member in found.members)]
    reading = Reading(clean, reading.facts, is_cut or reading.truncated, partial)
    quality = text_quality(kept, unreliable=found.of_all, truncated=reading.truncated, partial=bool(partial))
    pieces = passages.cut([block for block in clean if block.text])
    return Extraction(kind.media_type, quality, pieces, _facts(reading, request))


def _deciding(kind: Kind, request: Request) -> tuple[object, ...]:
    limits = request.limits
    if kind.plain:
        return (limits.characters, limits.seconds) if kind.markup else (limits.characters,)
    return (*astuple(limits), *(astuple(request.ocr) if request.ocr else ()))


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


def _facts(reading: Reading, request: Request) -> dict[str, Fact]:
    facts: dict[str, Fact] = {"characters": sum(len(block.text) for block in reading.blocks)}
    if (language := language_of(reading.blocks)) is not None:
        facts |= {"language": language.code, "language_confidence": language.confidence}
    if reading.truncated:
        facts["truncated"] = True
    if request.spent.out_of_time or TOO_LONG in request.left_out.values():
        facts["out_of_time"] = True
    if reading.partial:
        facts["partial"] = [clean_text(name[:_NAME_CHARACTERS]) for name in reading.partial[:_NAMED]]
    if len(reading.partial) > _NAMED:
        facts["partial_more"] = len(reading.partial) - _NAMED
    for name, value in reading.facts.items():
        facts[name] = clean_json(value)  # type: ignore[assignment] # the shape of a JSON value stays as it is
    if request.spent.versions:
        facts["contains"] = sorted(request.spent.versions)
    return facts


def digest(text: str) -> str:
    """A text's hash in 16 characters."""
    return blake2b(text.encode(), digest_size=8).hexdigest()
