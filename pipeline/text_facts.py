"""What is known of a document's text beside the words, as programs and people are told it."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, Field

from pipeline.languages import language_name
from pipeline.outcomes import OUT_OF_TIME_HINT, QUALITY_HINTS, QUALITY_SENTENCES, TextQuality

SURE = 0.9
"""From this confidence on nobody is told how to override a guess."""
NAMED = 3
"""So many of what could not be read are named in a sentence; the others stand in a list."""
ENCODING_HINT = (
    "If its words look wrong, reindex it with its encoding, which then stays as its metadata:"
    " fencepost reindex DOC --encoding NAME."
)
PICTURES_HINT = (
    "If words can be seen in it, they are in pictures. Save it as a PDF: there OCR reads them where it is on"
    " (FENCEPOST_EXTRACT__OCR_LANGUAGES)."
)


class TextFacts(BaseModel):
    """The facts of the published text. What a format does not have, or a reader does not know, is null."""

    quality: TextQuality
    sentences: list[str] = Field(description="The same facts in words.")
    hint: str | None = Field(description="What a person can do about the quality, or about a guess.")
    characters: int | None = None
    title: str | None = Field(None, description="The title inside the document.")
    pages: int | None = Field(None, description="Pages, slides or sheets.")
    pages_approximate: bool | None = Field(None, description="Whether pages are only where the file says they were.")
    pages_without_text: int | None = None
    ocr_pages: int | None = Field(None, description="How many pages were recognised from their pictures.")
    ocr_languages: str | None = Field(None, description="In which languages they were recognised.")
    encoding: str | None = Field(None, description="Python's name of the encoding that the bytes were read in.")
    encoding_confidence: float | None = Field(None, description="0 to 1; 1 where it was given.")
    language: str | None = None
    language_confidence: float | None = None
    truncated: bool | None = Field(None, description="Whether text is missing at the end.")
    out_of_time: bool | None = Field(None, description="Whether the time was up before all of it was read.")
    partial: list[str] = Field([], description="What could not be read, each with the reason (the first 50).")
    partial_more: int | None = Field(None, description="How many more there are.")

    @classmethod
    def of(cls, quality: str | None, facts: Mapping[str, Any] | None) -> "TextFacts | None":
        """The facts of a stored result; None without one. What else a reader notes stays inside."""
        if quality is None:
            return None
        known = {name: (facts or {}).get(name) for name in _KNOWN}
        return cls(
            **{name: value for name, value in known.items() if value is not None},
            quality=TextQuality(quality),
            sentences=list(sentences(quality, facts or {})),
            hint=_hint(quality, facts or {}),
        )


_KNOWN = [name for name in TextFacts.model_fields if name not in {"quality", "sentences", "hint"}]


def sentences(quality: str, facts: Mapping[str, Any]) -> Iterator[str]:
    """What people are told: what is wrong, if anything, then pages, encoding and language."""
    truncated, partial = facts.get("truncated"), facts.get("partial")
    is_said_below = (quality == TextQuality.TRUNCATED and truncated) or (quality == TextQuality.PARTIAL and partial)
    if quality != TextQuality.OK and not is_said_below:
        yield QUALITY_SENTENCES[TextQuality(quality)]
    if truncated:
        ended = "The time was up after" if facts.get("out_of_time") else "The text was cut at"
        yield f"{ended} {facts.get('characters', 0):,} characters: what comes after is not found."
    if partial:
        yield f"Some parts could not be read: {_named(partial, facts.get('partial_more', 0))}."
    if facts.get("pages"):
        yield _pages(facts)
    if facts.get("encoding"):
        yield f"Read as {facts['encoding']}{_how_sure(facts.get('encoding_confidence'))}."
    if facts.get("language"):
        yield f"Its language is {language_name(facts['language'])}{_how_sure(facts.get('language_confidence'))}."


def _hint(quality: str, facts: Mapping[str, Any]) -> str | None:
    if quality == TextQuality.NO_TEXT:
        return _hint_without_text(facts)
    of_guess = quality != TextQuality.TEXT_UNRELIABLE and _is_guess(facts.get("encoding_confidence"))
    hints = (_hint_of_quality(quality, facts), ENCODING_HINT if of_guess else None)
    return " ".join(filter(None, hints)) or None


def _hint_of_quality(quality: str, facts: Mapping[str, Any]) -> str | None:
    if facts.get("out_of_time") and quality in {TextQuality.TRUNCATED, TextQuality.PARTIAL}:
        return OUT_OF_TIME_HINT
    return QUALITY_HINTS.get(TextQuality(quality))


def _hint_without_text(facts: Mapping[str, Any]) -> str | None:
    """Failed parts are why; otherwise pictures may be, which a reader of text does not look for."""
    if facts.get("out_of_time") or facts.get("partial"):
        return _hint_of_quality(TextQuality.PARTIAL, facts)
    if facts.get("encoding"):
        return None
    if facts.get("ocr_languages"):
        return "No words were seen in its pictures either. If there are some, upload a copy with text."
    is_seen_by_ocr = facts.get("ocr") == "off" or facts.get("pages_without_text")
    return QUALITY_HINTS[TextQuality.NO_TEXT] if is_seen_by_ocr else PICTURES_HINT


def _pages(facts: Mapping[str, Any]) -> str:
    pages, silent, recognised = facts["pages"], facts.get("pages_without_text"), facts.get("ocr_pages")
    said = f"{'About ' if facts.get('pages_approximate') else ''}{pages:,} page{'' if pages == 1 else 's'}"
    if recognised:
        which = f"{recognised:,} of them " if recognised < pages else "" if pages == 1 else "all of them "
        said += f", {which}recognised from pictures"
    if silent:
        which = "" if pages == 1 else "all of them " if silent >= pages else f"{silent:,} of them "
        said += f", {which}without text{'' if recognised else ': probably scanned'}"
    return f"{said}."


def _named(failed: list[str], unnamed: int) -> str:
    more = len(failed[NAMED:]) + unnamed
    return "; ".join(failed[:NAMED]) + (f"; and {more:,} more" if more else "")


def _how_sure(confidence: float | None) -> str:
    return f" ({100 * confidence:.0f} % sure)" if confidence is not None and _is_guess(confidence) else ""


def _is_guess(confidence: float | None) -> bool:
    return confidence is not None and confidence < SURE
