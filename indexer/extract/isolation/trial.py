"""Whether pictures can be read in here: by a child in its sandbox, which may see less than whoever asks."""

from base64 import b64decode

from indexer.extract.allowance import ocr
from indexer.extract.isolation.pool import ExtractionPool
from indexer.extract.types import Ocr, Request
from pipeline.errors import Permanent, SettingsError, Transient
from pipeline.settings import Extract

_WHITE = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAACgAAAAoCAAAAACpleexAAAAHElEQVR42mP4TyRgGFU4qnBU4ajCUYWj"
    "CklXCAAsljobYX02ZwAAAABJRU5ErkJggg=="
)


def tried_ocr(settings: Extract) -> Ocr | None:
    """How pictures are read, after one was, if they are at all. Raises SettingsError saying why they cannot be."""
    reading = ocr(settings)
    if reading is None:
        return None
    with ExtractionPool(settings) as pool:
        try:
            pool.submit(Request(_WHITE, "white.png", ocr=reading)).result()
        except (Permanent, Transient) as error:
            raise SettingsError(f"FENCEPOST_EXTRACT__OCR_LANGUAGES cannot be {reading.languages}: {error}") from None
    return reading
