"""The repository's own samples, and real files where they are at hand, against what must be found in them."""

import csv
from pathlib import Path

import pytest

from fencepost import samples
from indexer.extract import KINDS, Extraction, Limits, Ocr, Request, choose_kind, extract, extractor, fingerprint
from pipeline.errors import Permanent
from pipeline.outcomes import TextQuality
from tests.support import make_samples
from tests.support.kinds import OtherKinds

REAL = Path(__file__).parents[4] / "shared" / "documents"
CODES = {"encrypted": "password_required", "corrupt": "corrupt"}


def real_documents() -> list[dict[str, str]]:
    if not REAL.is_dir():
        return []
    with (REAL / "expected.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def text(extraction: Extraction) -> str:
    return "".join(passage.text for passage in extraction.passages)


@pytest.mark.parametrize("question", samples.questions(), ids=lambda question: question.query)
def test_every_question_has_its_answer(question: samples.Question):
    found = extract(Request(samples.FOLDER / question.file, question.file))
    assert found.text_quality is TextQuality.OK
    words = question.query.strip('"').lower().split()
    if question.query.startswith('"'):
        words = [" ".join(words)]
    pages = {p.page for p in found.passages if all(word in " ".join(p.text.lower().split()) for word in words)}
    assert pages == {question.page}


def test_every_sample_is_asked_for():
    assert {path.name for path in samples.files()} == {question.file for question in samples.questions()}


def test_the_made_samples_are_what_their_script_makes():
    assert {name: (samples.FOLDER / name).read_bytes() for name in make_samples.samples()} == make_samples.samples()


@pytest.mark.skipif(not REAL.is_dir(), reason="the real documents are not at hand")
@pytest.mark.parametrize("row", real_documents(), ids=lambda row: row["file"])
def test_real_documents(row: dict[str, str]):
    path = REAL / row["file"]
    code = CODES.get(row["outcome"])
    if code:
        with pytest.raises(Permanent) as refusal:
            extract(Request(path, path.name))
        assert refusal.value.code == code
        return
    found = extract(Request(path, path.name))
    assert found.text_quality is (TextQuality.NO_TEXT if row["outcome"] == "empty" else TextQuality.OK)
    assert [word for word in row["must_contain"].split("|") if word not in text(found)] == []
    assert [word for word in row["must_not_contain"].split("|") if word and word in text(found)] == []
    if row["pages"]:
        assert found.facts["pages"] == int(row["pages"])


def test_the_fingerprint_is_of_what_changes_the_text():
    text, pdf = KINDS["text"], KINDS["pdf"]
    base = fingerprint(text, Request(b""))
    assert base == fingerprint(choose_kind(b"words", "a.txt"), Request(b"words", "a.txt", limits=Limits(pages=7)))
    assert base != fingerprint(KINDS["csv"], Request(b""))
    assert base != fingerprint(text, Request(b"", encoding="cp932"))
    assert base != fingerprint(text, Request(b"", limits=Limits(characters=5)))
    assert fingerprint(pdf, Request(b"")) != fingerprint(pdf, Request(b"", limits=Limits(pages=7)))
    assert fingerprint(pdf, Request(b"")) != fingerprint(pdf, Request(b"", limits=Limits(seconds=60)))
    assert fingerprint(pdf, Request(b"")) != fingerprint(pdf, Request(b"", ocr=Ocr("eng")))
    assert fingerprint(pdf, Request(b"", ocr=Ocr("deu"))) != fingerprint(pdf, Request(b"", ocr=Ocr("eng")))


def test_a_reader_that_changes_makes_new_results_of_its_kind_and_no_other(other_kinds: OtherKinds):
    before = [extractor(KINDS[name]) for name in ("pdf", "text", "zip")]
    other_kinds.revise("pdf")
    after = [extractor(KINDS[name]) for name in ("pdf", "text", "zip")]
    assert [old == new for old, new in zip(before, after, strict=True)] == [False, True, True]
