"""Today's key of a stored result is the key that a worker would store it under."""

from dataclasses import replace
from pathlib import Path

import pytest

from indexer.extract import KINDS, Kind, Limits, Request, extractor, fingerprint
from indexer.extract.allowance import limits, ocr_as_set
from indexer.extract.expected import expected_key
from indexer.extract.sniff import VERSION
from pipeline.agreement import deciding
from pipeline.settings import Extract
from tests.support.kinds import OtherKinds

SETTINGS = Extract(pages=7, ocr_languages="eng+deu")


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
@pytest.mark.parametrize("encoding", ["", "CP1251 "])
def test_it_is_that_of_a_worker(kind: Kind, encoding: str) -> None:
    request = Request(b"some bytes", "name", encoding=encoding, limits=limits(SETTINGS), ocr=ocr_as_set(SETTINGS))
    stored = extractor(replace(kind, revision=kind.revision + 1))
    assert expected_key(SETTINGS)(stored, encoding) == (extractor(kind), fingerprint(kind, request))


def test_readers_inside_are_compared_too(other_kinds: OtherKinds):
    def now(stored: str) -> str:
        found = expected_key(SETTINGS)(stored, "")
        assert found is not None
        return found[0].removeprefix(own)

    own, pdf, text = extractor(KINDS["zip"]), KINDS["pdf"], KINDS["text"].version
    stored = f"{own}+{pdf.version}+{VERSION}+{text}"
    assert now(stored) == f"+{pdf.version}+{VERSION}+{text}"
    other_kinds.revise("pdf")
    other_kinds.revise_sniffer()
    assert now(stored) == f"+pdf-99+sniff-99+{text}"
    other_kinds.remove("text")
    assert now(stored) == "+pdf-99+sniff-99+nothing"
    assert now(own) == ""
    assert now(f"{own}+left-0123456789abcdef") == "+left-0123456789abcdef"


@pytest.mark.parametrize("name", Extract.model_fields)
@pytest.mark.parametrize("settings", [Extract(), Extract(ocr_languages="eng")], ids=["", "ocr"])
def test_workers_announce_the_settings_that_decide_a_text_and_no_others(settings: Extract, name: str):
    def key(settings: Extract) -> str:
        request = Request(b"", limits=limits(settings), ocr=ocr_as_set(settings))
        return fingerprint(KINDS["pdf"], request)

    value = getattr(settings, name)
    other = settings.model_copy(update={name: "deu" if name == "ocr_languages" else value + 1})
    assert (deciding(other) != deciding(settings)) == (key(other) != key(settings))


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_more_time_makes_another_result_of_all_that_it_may_cut(kind: Kind):
    def key(seconds: float) -> str:
        return fingerprint(kind, Request(b"", limits=Limits(seconds=seconds)))

    assert (key(30) == key(60)) == (kind.name in {"text", "csv", "tsv", "json"})


@pytest.mark.parametrize("stored", ["", "papyrus-1.1", "pdf"])
def test_what_nothing_reads_has_none(stored: str) -> None:
    assert expected_key(SETTINGS)(stored, "") is None


def test_a_host_that_cannot_recognise_pictures_can_tell_what_is_outdated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert expected_key(Extract(ocr_languages="eng"))("png-1.1", "") is not None
