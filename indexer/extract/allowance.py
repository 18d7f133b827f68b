"""What the settings allow one document, as readers are told it."""

from indexer.extract.pictures.ocr import missing
from indexer.extract.types import Limits, Ocr
from pipeline.errors import SettingsError
from pipeline.settings import Extract


def limits(settings: Extract) -> Limits:
    """What the settings allow one document."""
    return Limits(
        characters=settings.characters,
        pages=settings.pages,
        member_bytes=settings.member_bytes,
        total_bytes=settings.total_bytes,
        members=settings.members,
        ratio=settings.ratio,
        depth=settings.depth,
        cells=settings.cells,
        pixels=settings.pixels,
    )


def ocr(settings: Extract) -> Ocr | None:
    """How pictures are read, None where they are not. Raises SettingsError saying what to install for it."""
    if not settings.ocr_languages:
        return None
    if lacking := missing(settings.ocr_languages):
        raise SettingsError(f"FENCEPOST_EXTRACT__OCR_LANGUAGES cannot be {settings.ocr_languages}: {lacking}")
    return Ocr(settings.ocr_languages, settings.ocr_page_seconds, settings.ocr_seconds)
