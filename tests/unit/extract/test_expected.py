"""Today's key of a stored result is the key that a worker would store it under."""

from dataclasses import replace
from pathlib import Path

import pytest

from indexer.extract import KINDS, Kind, Request, extractor, fingerprint
from indexer.extract.allowance import limits, ocr_as_set
from indexer.extract.expected import expected_key
from pipeline.settings import Extract

SETTINGS = Extract(pages=7, ocr_languages="eng+deu")


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
@pytest.mark.parametrize("encoding", ["", "CP1251 "])
def test_it_is_that_of_a_worker(kind: Kind, encoding: str) -> None:
    request = Request(b"some bytes", "name", encoding=encoding, limits=limits(SETTINGS), ocr=ocr_as_set(SETTINGS))
    stored = extractor(replace(kind, revision=kind.revision + 1))
    assert expected_key(SETTINGS)(stored, encoding) == (extractor(kind), fingerprint(kind, request))


@pytest.mark.parametrize("stored", ["", "papyrus-1.1", "pdf"])
def test_what_nothing_reads_has_none(stored: str) -> None:
    assert expected_key(SETTINGS)(stored, "") is None


def test_a_host_that_cannot_recognise_pictures_can_tell_what_is_outdated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert expected_key(Extract(ocr_languages="eng"))("png-1.1", "") is not None
