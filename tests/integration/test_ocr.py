"""Pictures and scanned pages by the real Tesseract, in the pool as a worker uses it."""

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from indexer.extract import Extraction, Limits, Ocr, Request
from indexer.extract.allowance import ocr
from indexer.extract.isolation import sandbox
from indexer.extract.isolation.deaths import Crashed
from indexer.extract.isolation.pool import ExtractionPool
from indexer.extract.isolation.trial import tried_ocr
from indexer.extract.pictures import program
from pipeline.errors import Permanent, SettingsError
from pipeline.outcomes import TextQuality
from pipeline.settings import Extract
from tests.samples import _jpeg, _pdfs, _pictures
from tests.support import documents, tesseract
from tests.support.waiting import until

LANDLOCK = pytest.mark.skipif(not sandbox.landlock_version(), reason="no Landlock here")
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


@pytest.mark.parametrize("write", [_pictures.png, _pictures.bmp, _jpeg.jpeg, _pictures.webp])
def test_a_picture_is_read(pool: ExtractionPool, write: Callable[[int, int, bytes], bytes]):
    found = read(pool, write(*_pictures.drawn(*LAMP)))
    assert by_page(found) == {1: READ}
    facts = {"characters": len(READ) + 2, "pages": 1, "ocr_pages": 1, "ocr_languages": "eng"}
    assert found.facts | facts == found.facts


def test_a_gif_is_read(pool: ExtractionPool):
    assert READ.split("\n") == by_page(read(pool, _pictures.gif(*_pictures.drawn(*LAMP))))[1].split("\n\n")


def test_every_page_of_a_tiff_is_read(pool: ExtractionPool):
    found = read(pool, _pictures.tiff([_pictures.drawn(*LAMP), _pictures.drawn("Herring in March")]))
    assert by_page(found) == {1: READ, 2: "Herring in March"}


@pytest.mark.parametrize("as_jpeg", [False, True])
def test_a_scanned_page_is_read_and_one_with_text_is_not(pool: ExtractionPool, as_jpeg: bool):  # noqa: FBT001
    pages = [_pictures.drawn(*LAMP), _pictures.drawn("Herring in March")]
    found = read(pool, _pdfs.scanned(pages, as_jpeg=as_jpeg))
    assert by_page(found) == {1: READ, 2: "Herring in March"}
    assert (found.facts["pages_without_text"], found.facts["ocr_pages"]) == (0, 2)
    assert "ocr_pages" not in read(pool, documents.pdf([["Typed"], []])).facts


def test_a_stamp_makes_a_scan_no_less_of_one(pool: ExtractionPool):
    found = read(pool, _pdfs.scanned([_pictures.drawn(*LAMP)] * 2, stamp="Entry 0042/b"))
    assert found.facts["ocr_pages"] == 2
    for text in by_page(found).values():
        assert READ in text
        assert text.count("Entry 0042/b") == 1


def test_a_page_of_words_or_with_a_small_picture_is_no_scan(pool: ExtractionPool):
    of_words = _pdfs.scanned([_pictures.drawn(*LAMP)], stamp="All that is in it stands in its layer of text. " * 3)
    with_a_small_picture = _pdfs.scanned([_pictures.drawn(*LAMP)], stamp="Below our sign", dots=400)
    assert "ocr_pages" not in read(pool, of_words).facts
    assert "ocr_pages" not in read(pool, with_a_small_picture).facts


def test_a_script_whose_language_is_not_named_gives_no_text(pool: ExtractionPool):
    found = read(pool, _pictures.png(*_pictures.greek()))
    assert found.text_quality is TextQuality.NO_TEXT
    assert found.facts["ocr_pages"] == 1


def test_pages_that_are_left_when_the_time_is_over_are_named(pool: ExtractionPool):
    pages = [_pictures.drawn(*LAMP)] * 3
    found = read(pool, _pdfs.scanned(pages), Ocr("eng", seconds=0.001))
    assert found.text_quality is TextQuality.NO_TEXT
    assert found.facts["partial"] == [
        "page 1: recognition took too long; FENCEPOST_EXTRACT__OCR_SECONDS gives more time",
        "pages 2 to 3: the time for recognition was over; FENCEPOST_EXTRACT__OCR_SECONDS gives more",
    ]


def test_what_was_read_before_the_time_was_over_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    row = r"5\t1\t1\t1\t1\t1\t0\t0\t9\t9\t96\tlamp\n"
    lines = f'[ "$2" = stdout ] && case "$(head -c 9)" in "P5 300 50") printf "{row}";; *) exec sleep 60;; esac'
    use(monkeypatch, tesseract.script(tmp_path / "slow", f"PATH=/usr/bin:/bin; {lines}"))
    pages = [(300, 50, bytes(15_000)), *[(400, 50, bytes(20_000))] * 4]
    with ExtractionPool(Extract(ocr_languages="eng")) as pool:
        found = read(pool, _pdfs.scanned(pages), Ocr("eng", seconds=3))
    assert (by_page(found), found.text_quality) == ({1: "lamp"}, TextQuality.PARTIAL)
    assert found.facts["partial"] == [
        "page 2: recognition took too long; FENCEPOST_EXTRACT__OCR_SECONDS gives more time",
        "pages 3 to 5: the time for recognition was over; FENCEPOST_EXTRACT__OCR_SECONDS gives more",
    ]


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
    lines = f'[ "$1" = --list-langs ] && exit; PATH=/usr/bin:/bin; head -c 99999 > /dev/null; exec sleep {ENDLESS}'
    use(monkeypatch, tesseract.script(tmp_path / "endless", lines))
    with ExtractionPool(Extract(seconds=1, ocr_languages="eng", ocr_seconds=1)) as pool:
        reading = Ocr("eng", page_seconds=60, seconds=60)
        future = pool.submit(Request(_pictures.png(*_pictures.drawn(*LAMP)), "a", ocr=reading))
        until(sleeping, what="that Tesseract runs")
        with pytest.raises(Permanent, match=r"took longer than 2 s") as refusal:
            future.result(DEADLINE)
        assert refusal.value.code == "extractor_timeout"
        until(lambda: not sleeping(), seconds=10, what="that Tesseract is gone")


@pytest.mark.parametrize("dies", ["kill -9 $$", "sh -c 'kill -9 $$'; exit $?"])
@pytest.mark.parametrize("content", [_pictures.png(*_pictures.drawn(*LAMP)), _pdfs.scanned([_pictures.drawn(*LAMP)])])
def test_a_killed_tesseract_is_no_fault_of_the_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, dies: str
):
    """Else the page would be named as damaged for good, and nobody would read it again."""
    lines = f'PATH=/usr/bin:/bin; [ "$1" = --list-langs ] && exit; head -c 9 > /dev/null; {dies}'
    use(monkeypatch, tesseract.script(tmp_path / "killed", lines))
    with (
        ExtractionPool(Extract(ocr_languages="eng")) as pool,
        pytest.raises(Crashed, match="Tesseract was killed, probably for want of memory"),
    ):
        read(pool, content, Ocr("eng"))


def use(monkeypatch: pytest.MonkeyPatch, folder: Path, **variables: str) -> None:
    """Makes the Tesseract in a folder the only one that is found."""
    for name, value in {"PATH": str(folder), **variables}.items():
        monkeypatch.setenv(name, value)


def test_a_tesseract_of_somebody_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tree = tesseract.copied(tmp_path / "own")
    use(monkeypatch, tree.program.parent, **tree.variables)
    assert_it_reads()
    opened = {Path(path) for path in program.files("eng") if Path(path).is_relative_to(tmp_path)}
    language = tree.data / "eng.traineddata"
    assert opened == {tree.program, *tree.libraries.iterdir(), tree.data, language}, "and nothing more"


@pytest.mark.parametrize("start", ["exec", ""], ids=["in its place", "below it"])
def test_a_tesseract_that_a_script_starts_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str):
    tree = tesseract.copied(tmp_path / "own")
    use(monkeypatch, tree.wrapped(tmp_path / "wrapper", start=start))
    assert_it_reads()


def test_languages_that_are_links_to_elsewhere_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tree = tesseract.copied(tmp_path / "own")
    language = tree.data / "eng.traineddata"
    language.symlink_to(language.rename(tmp_path / "kept.traineddata"))
    use(monkeypatch, tree.program.parent, **tree.variables)
    assert_it_reads()


def assert_it_reads() -> None:
    settings = Extract(ocr_languages="eng")
    assert tried_ocr(settings) == Ocr("eng")
    with ExtractionPool(settings) as pool:
        assert by_page(read(pool, _pictures.png(*_pictures.drawn(*LAMP)))) == {1: READ}


@LANDLOCK
def test_a_tesseract_that_works_outside_the_sandbox_only_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Nobody can see from outside which script the first one has started."""
    second = tesseract.copied(tmp_path / "own").wrapped(tmp_path / "second") / "tesseract"
    use(monkeypatch, tesseract.script(tmp_path / "first", f'exec {second} "$@"'))
    assert ocr(Extract(ocr_languages="eng")) == Ocr("eng")
    with pytest.raises(SettingsError, match=r"OCR_LANGUAGES cannot be eng: .* Tesseract does not work in the sandbox"):
        tried_ocr(Extract(ocr_languages="eng"))


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
