"""What the settings allow one document, as readers are told it."""

from dataclasses import fields

from indexer.extract.pictures.program import missing
from indexer.extract.types import Limits, Ocr
from pipeline.errors import SettingsError
from pipeline.settings import Extract


def limits(settings: Extract) -> Limits:
    """What the settings allow one document."""
    return Limits(**{limit.name: getattr(settings, limit.name) for limit in fields(Limits)})


def ocr_as_set(settings: Extract) -> Ocr | None:
    """How pictures are read, None where they are not. Whether this host can do it is not looked at."""
    if not settings.ocr_languages:
        return None
    return Ocr(settings.ocr_languages, settings.ocr_page_seconds, settings.ocr_seconds)


def ocr(settings: Extract) -> Ocr | None:
    """The same, for who is about to read. Raises SettingsError saying what to install for it."""
    reading = ocr_as_set(settings)
    if reading is not None and (lacking := missing(reading.languages)):
        raise SettingsError(f"FENCEPOST_EXTRACT__OCR_LANGUAGES cannot be {reading.languages}: {lacking}")
    return reading
