"""Every sample through the pool as a worker reads it: the words, pages and outcome that are promised."""

from collections.abc import Iterator

import pytest

from indexer.extract import Extraction, Request
from indexer.extract.isolation.pool import ExtractionPool
from pipeline.errors import Permanent
from pipeline.settings import Extract
from tests.samples import Sample, samples

SECONDS = 120
"""Enough for the largest ones also where other work goes on."""


@pytest.fixture(scope="module")
def pool() -> Iterator[ExtractionPool]:
    with ExtractionPool(Extract(seconds=SECONDS)) as made:
        yield made


def outcome(pool: ExtractionPool, sample: Sample) -> tuple[str, Extraction | None]:
    request = Request(sample.make(), sample.name, encoding=sample.encoding, limits=sample.limits)
    try:
        extraction = pool.submit(request).result(2 * SECONDS)
    except Permanent as refusal:
        return refusal.code, None
    return extraction.text_quality, extraction


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.name)
def test_what_becomes_of_a_sample(pool: ExtractionPool, sample: Sample) -> None:
    found, extraction = outcome(pool, sample)
    assert found == sample.outcome
    if extraction is None:
        return
    text = "".join(passage.text for passage in extraction.passages)
    assert [word for word in sample.words if word not in text] == []
    assert [word for word in sample.absent if word in text] == []
    named = "\n".join(map(str, extraction.facts.get("partial", [])))
    assert [name for name in sample.partial if name not in named] == []
    assert set(sample.members) <= {passage.member for passage in extraction.passages}
    if sample.pages is not None:
        assert extraction.facts["pages"] == sample.pages
    if sample.media_type:
        assert extraction.media_type == sample.media_type
