"""The extraction room: bytes in, passages and facts out.

    choose_kind ─▶ (stored result under (sha256, extractor, fingerprint)?) ─▶ ExtractionPool.submit ─▶ Extraction

A reader knows one format and nothing else (`readers/`). Its text passes one sanitiser and is cut into passages before
it leaves (`extraction.py`). Readers of anything but short plain text run in killable child processes (`isolation/`).
What readers share lies beside them:

    any format   types, kinds, sniff, quota, members, headings, encodings
    archives     archive, zip_names, compound (OLE), markup (XML)
    office       ooxml/, opendocument, sheets/
    web, books   hypertext
    mail         mail/
    RTF          rtf/
    PDF, scans   pdf_extras, pictures/
    after it     quality, language, function_words; allowance and expected say what the settings make of it
"""

from indexer.extract.extraction import extract, extractor, fingerprint
from indexer.extract.kinds import KINDS, Kind
from indexer.extract.sniff import choose_kind
from indexer.extract.types import Extraction, Fact, Limits, Ocr, Passage, Request

__all__ = [
    "KINDS",
    "Extraction",
    "Fact",
    "Kind",
    "Limits",
    "Ocr",
    "Passage",
    "Request",
    "choose_kind",
    "extract",
    "extractor",
    "fingerprint",
]
