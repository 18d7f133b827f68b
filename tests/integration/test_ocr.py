"""Pictures and scanned pages by the real Tesseract, in the pool as a worker uses it."""

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from indexer.extract import Extraction, Limits, Ocr, Request
from indexer.extract.pool import ExtractionPool, ocr
from pipeline.errors import Permanent, SettingsError
from pipeline.outcomes import TextQuality
from pipeline.settings import Extract, environment
from tests.samples import _pdfs, _pictures
from tests.support import documents, tesseract
from tests.support.waiting import until

DEADLINE = 120
ENDLESS = "61.7534"
LAMP = ("The lamp was lit at dusk", "and put out at dawn.")
READ = "The lamp was lit at dusk\nand put out at dawn."


@pytest.fixture(scope="module")
def pool() -> Iterator[ExtractionPool]:
    tesseract.needed()
    with ExtractionPool(Extract(ocr_languages="eng")) as made:
        yield made


def read(pool: ExtractionPool, content: bytes, reading: Ocr | None = None, limits: Limits | None = None) -> Extraction:
    request = Request(content, "a", ocr=reading or Ocr("eng"), limits=limits or Limits())
    return pool.submit(request).result(DEADLINE)


def by_page(extraction: Extraction) -> dict[int | None, str]:
    return {passage.page: passage.text.strip() for passage in extraction.passages}


@pytest.mark.parametrize("write", [_pictures.png, _pictures.bmp], ids=["png", "bmp"])
def test_a_picture_is_read(pool: ExtractionPool, write: Callable[[int, int, bytes], bytes]):
    found = read(pool, write(*_pictures.drawn(*LAMP)))
    assert by_page(found) == {1: READ}
    told = {"characters": len(READ) + 2, "pages": 1, "ocr_pages": 1, "ocr_languages": "eng"}
    assert found.facts.items() >= told.items()


def test_a_gif_is_read(pool: ExtractionPool):
    assert READ.split("\n") == by_page(read(pool, _pictures.gif(*_pictures.drawn(*LAMP))))[1].split("\n\n")


def test_every_page_of_a_tiff_is_read(pool: ExtractionPool):
    found = read(pool, _pictures.tiff([_pictures.drawn(*LAMP), _pictures.drawn("Herring in March")]))
    assert by_page(found) == {1: READ, 2: "Herring in March"}


def test_a_scanned_page_is_read_and_one_with_text_is_not(pool: ExtractionPool):
    found = read(pool, _pdfs.scanned([_pictures.drawn(*LAMP), _pictures.drawn("Herring in March")]))
    assert by_page(found) == {1: READ, 2: "Herring in March"}
    assert (found.facts["pages_without_text"], found.facts["ocr_pages"]) == (0, 2)
    assert "ocr_pages" not in read(pool, documents.pdf([["Typed"], []])).facts


def test_a_script_whose_language_is_not_named_gives_no_text(pool: ExtractionPool):
    found = read(pool, _pictures.png(*_pictures.greek()))
    assert found.text_quality is TextQuality.NO_TEXT
    assert found.facts["ocr_pages"] == 1


def test_pages_that_are_left_when_the_time_is_over_are_named(pool: ExtractionPool):
    pages = [_pictures.drawn(*LAMP)] * 3
    found = read(pool, _pdfs.scanned(pages), Ocr("eng", seconds=0.001))
    assert found.text_quality is TextQuality.NO_TEXT
    first, *others = found.facts["partial"]  # type: ignore[misc] # a list
    assert first == "page 1: recognition took too long (FENCEPOST_EXTRACT__OCR_PAGE_SECONDS)"
    assert others == [f"page {n}: the time for recognition was over (FENCEPOST_EXTRACT__OCR_SECONDS)" for n in (2, 3)]


def test_a_picture_that_would_fill_the_memory_is_refused_by_its_header(pool: ExtractionPool):
    head = _pictures.png(30_000, 30_000, b"")
    with pytest.raises(Permanent, match=r"30,000 by 30,000 pixels; the limit is 100,000,000") as refusal:
        read(pool, head)
    assert refusal.value.code == "limit_exceeded"


@pytest.mark.parametrize("cut", [20, 60, 2000])
def test_a_picture_that_is_cut_off_is_corrupt_or_read(pool: ExtractionPool, cut: int):
    with pytest.raises(Permanent, match="cannot be decoded") as refusal:
        read(pool, _pictures.png(*_pictures.drawn(*LAMP))[:cut])
    assert refusal.value.code == "corrupt"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the dead parent's children")
def test_what_recognises_dies_with_the_process_that_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    endless = tmp_path / "tesseract"
    endless.write_text(f"#!/bin/sh\nexec sleep {ENDLESS}\n")
    endless.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{environment()['PATH']}")
    monkeypatch.syspath_prepend(tmp_path)  # the sandbox lets a child start what lies where programs are
    with ExtractionPool(Extract(seconds=1, ocr_languages="eng", ocr_seconds=1)) as pool:
        reading = Ocr("eng", page_seconds=60, seconds=60)
        future = pool.submit(Request(_pictures.png(*_pictures.drawn(*LAMP)), "a", ocr=reading))
        until(sleeping, what="that Tesseract runs")
        with pytest.raises(Permanent, match=r"took longer than 2 s") as refusal:
            future.result(DEADLINE)
        assert refusal.value.code == "extractor_timeout"
        until(lambda: not sleeping(), seconds=10, what="that Tesseract is gone")


def sleeping() -> list[Path]:
    """The processes that play Tesseract."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "cmdline").read_bytes() == f"sleep\0{ENDLESS}\0".encode():
                found.append(process)
    return found


def test_a_language_that_is_not_installed_is_refused():
    tesseract.needed()
    with pytest.raises(SettingsError, match=r"Tesseract has no language tlh .*apt-get install tesseract-ocr-tlh"):
        ocr(Extract(ocr_languages="eng+tlh"))
    assert ocr(Extract(ocr_languages="eng")) == Ocr("eng")


def test_tesseract_that_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SettingsError, match=r"OCR_LANGUAGES cannot be eng: Tesseract is not installed"):
        ocr(Extract(ocr_languages="eng"))
