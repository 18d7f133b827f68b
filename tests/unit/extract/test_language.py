import random
import time

import pytest

from indexer.extract.extraction import extract
from indexer.extract.function_words import FUNCTION_WORDS
from indexer.extract.language import SAMPLES, language_in, language_of, sample
from indexer.extract.types import Block, Request
from tests.samples import text as samples
from tests.support.languages import SENTENCES


@pytest.mark.parametrize("code", SENTENCES)
def test_running_text_tells_its_language(code: str):
    found = language_in(SENTENCES[code])
    assert found is not None
    assert found.code == code
    assert 0.8 <= found.confidence <= 1


def test_hardly_any_sentence_alone_is_taken_for_another_language():
    told = {code: found.code for code, text in SENTENCES.items() if (found := language_in(text.split(".")[0]))}
    assert [(code, other) for code, other in told.items() if code != other] == []
    assert len(told) >= 0.8 * len(SENTENCES)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (samples.RUSSIAN, "ru"),
        (samples.GERMAN, "de"),
        (samples.GREEK, "el"),
        (samples.POLISH, "pl"),
        (samples.JAPANESE, "ja"),
        (samples.CHINESE, "zh"),
        (samples.TRADITIONAL, "zh"),
        (samples.KOREAN, "ko"),
        (samples.ARABIC, "ar"),
        (samples.HEBREW, "he"),
        ("東京都は日本の首都です。", "ja"),
    ],
)
def test_the_samples_tell_theirs(text: str, code: str):
    assert (found := language_in(text)) is not None
    assert found.code == code


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Haus",
        "4711 0815 " * 50,
        "Smith, John; Müller, Hans; Dupont, Jean; García, José; Rossi, Mario",
        "id,name,price\n1,apple,3\n2,pear,4\n" * 20,
        "or\n" * 500,
        "🐋" * 100,
        "\ue000\ue001" * 100,
    ],
)
def test_what_tells_nothing_has_no_language(text: str):
    assert language_in(text) is None


def test_the_language_is_that_of_most_of_the_document():
    cover = Block("Annual report of the company for the year, and what was done with the money of the owners.\n")
    body = [Block(SENTENCES["de"] + "\n") for _ in range(40)]
    assert (found := language_of([cover, *body])) is not None
    assert found.code == "de"


@pytest.mark.parametrize("size", [1, 7, 300, 100_000])
def test_a_sample_is_small_and_from_all_over_the_text(size: int):
    text = "".join(f"w{n} " for n in range(20_000))
    found = sample([Block(text[at : at + size]) for at in range(0, len(text), size)], 1200)
    kept = found.replace(" ", "")
    assert len(kept) <= 1200
    for n in (2, 5100, 10_100, 15_100):
        assert any(f"w{near}" in kept for near in range(n, n + 900))


def test_a_short_text_is_its_own_sample():
    assert sample([Block("one"), Block("two")], 6) == "one two"


def test_what_few_characters_do_not_tell_more_of_them_do():
    text = ("4711 " * 40 + SENTENCES["de"] + "\n") * 4
    few, _ = SAMPLES
    assert language_in(sample([Block(text)], few)) is None
    assert (found := language_of([Block(text)])) is not None
    assert found.code == "de"


def test_a_long_text_costs_no_more_than_a_short_one():
    chance = random.Random(1)  # noqa: S311 - reproducible text
    words = [word for words in FUNCTION_WORDS.values() for word in words.split()]
    long = [Block(" ".join(chance.choices(words, k=500_000)))]
    started = time.process_time()
    for _ in range(20):
        language_of(long)
    assert (time.process_time() - started) / 20 < 0.005


def test_an_extraction_says_its_language():
    facts = extract(Request(SENTENCES["de"].encode(), "a.txt")).facts
    assert facts["language"] == "de"
    assert 0.8 <= float(str(facts["language_confidence"])) <= 1
    assert "language" not in extract(Request(b"4711", "a.txt")).facts
