"""What people are told of a text, and what programs are."""

from typing import Any

import pytest

from pipeline.outcomes import OUT_OF_TIME_HINT, QUALITY_HINTS, QUALITY_SENTENCES, TextQuality
from pipeline.text_facts import ENCODING_HINT, TextFacts, sentences


def test_every_quality_has_a_sentence_and_each_that_lacks_something_a_hint() -> None:
    assert set(QUALITY_SENTENCES) == set(TextQuality)
    assert set(QUALITY_HINTS) == set(TextQuality) - {TextQuality.OK}
    assert all(sentence.endswith(".") for sentence in (*QUALITY_SENTENCES.values(), *QUALITY_HINTS.values()))


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({}, []),
        ({"characters": 5}, []),
        ({"pages": 1}, ["1 page."]),
        ({"pages": 12, "pages_without_text": 0}, ["12 pages."]),
        ({"pages": 12, "pages_without_text": 3}, ["12 pages, 3 of them without text: probably scanned."]),
        ({"pages": 2, "pages_without_text": 2}, ["2 pages, all of them without text: probably scanned."]),
        ({"pages": 1, "pages_without_text": 1}, ["1 page, without text: probably scanned."]),
        ({"pages": 1200, "pages_approximate": True}, ["About 1,200 pages."]),
        (
            {"pages": 9, "ocr_pages": 8, "pages_without_text": 1},
            ["9 pages, 8 of them recognised from pictures, 1 of them without text."],
        ),
        ({"pages": 1, "ocr_pages": 1}, ["1 page, recognised from pictures."]),
        ({"pages": 3, "ocr_pages": 3}, ["3 pages, all of them recognised from pictures."]),
        (
            {"truncated": True, "characters": 20_000_000},
            ["The text was cut at 20,000,000 characters: what comes after is not found."],
        ),
        (
            {"truncated": True, "out_of_time": True, "characters": 0},
            ["The time was up after 0 characters: what comes after is not found."],
        ),
        (
            {"partial": ["page 3: it is damaged", "a.pdf: it needs a password"]},
            ["Some parts could not be read: page 3: it is damaged; a.pdf: it needs a password."],
        ),
        ({"partial": [*"abcde"]}, ["Some parts could not be read: a; b; c; and 2 more."]),
        ({"partial": [*"abcde"], "partial_more": 7}, ["Some parts could not be read: a; b; c; and 9 more."]),
        ({"encoding": "utf-8", "encoding_confidence": 1.0}, ["Read as utf-8."]),
        (
            {"encoding": "cp1251", "encoding_confidence": 0.8},
            ["Read as cp1251 (80 % sure)."],
        ),
        ({"language": "de", "language_confidence": 0.99}, ["Its language is German."]),
        ({"language": "de", "language_confidence": 0.6}, ["Its language is German (60 % sure)."]),
        ({"language": "xx"}, ["Its language is xx."]),
    ],
)
def test_facts_in_words(facts: dict[str, Any], said: list[str]) -> None:
    assert list(sentences("ok", facts)) == said


def test_what_is_missing_is_said_first() -> None:
    first, second = sentences("no_text", {"pages": 3, "pages_without_text": 3})
    assert first.startswith("Nothing to read was found")
    assert second.startswith("3 pages")


def test_what_is_said_in_detail_is_not_said_in_general() -> None:
    assert list(sentences("partial", {"partial": ["a: no"]})) == ["Some parts could not be read: a: no."]
    assert len(list(sentences("truncated", {"truncated": True, "characters": 5, "partial": ["a: no"]}))) == 2
    assert list(sentences("partial", {})) == [QUALITY_SENTENCES[TextQuality.PARTIAL]]


@pytest.mark.parametrize(
    ("facts", "helps"),
    [
        ({}, "Save it as a PDF"),
        ({"ocr": "off"}, "OCR was off"),
        ({"pages": 2, "pages_without_text": 2}, "set FENCEPOST_EXTRACT__OCR_LANGUAGES"),
        ({"ocr_languages": "eng", "ocr_pages": 1}, "upload a copy with text"),
        ({"partial": ["a.txt: it is encrypted"]}, "Mend the parts that are named"),
    ],
)
def test_what_helps_where_nothing_was_read(facts: dict[str, Any], helps: str) -> None:
    told = TextFacts.of("no_text", facts)
    assert told is not None
    assert helps in (told.hint or "")


@pytest.mark.parametrize("quality", ["truncated", "partial", "no_text"])
def test_where_the_time_was_up_more_of_it_helps(quality: str) -> None:
    told = TextFacts.of(quality, {"out_of_time": True, "truncated": True, "partial": ["Log: the time was up"]})
    assert told is not None
    assert told.hint == OUT_OF_TIME_HINT
    assert told.out_of_time


def test_nothing_helps_plain_text_without_words() -> None:
    told = TextFacts.of("no_text", {"encoding": "utf-8", "encoding_confidence": 1.0})
    assert told is not None
    assert told.hint is None


@pytest.mark.parametrize(("confidence", "says_how"), [(0.8, True), (0.9, False), (1.0, False), (None, False)])
def test_a_guessed_encoding_says_how_to_name_the_right_one(confidence: float | None, *, says_how: bool) -> None:
    told = TextFacts.of("ok", {"encoding": "cp1251", "encoding_confidence": confidence})
    assert told is not None
    assert ("--encoding" in (told.hint or "")) is says_how


def test_a_guess_is_told_beside_what_else_helps() -> None:
    guess = {"encoding": "cp1251", "encoding_confidence": 0.8}
    cut = TextFacts.of("truncated", {"truncated": True, **guess})
    assert cut is not None
    assert cut.hint == f"{QUALITY_HINTS[TextQuality.TRUNCATED]} {ENCODING_HINT}"
    garbage = TextFacts.of("text_unreliable", guess)
    assert garbage is not None
    assert garbage.hint == QUALITY_HINTS[TextQuality.TEXT_UNRELIABLE]


def test_programs_get_the_known_facts_and_nothing_else() -> None:
    facts = TextFacts.of("partial", {"pages": 3, "partial": ["page 2: no"], "secret_of_a_reader": 1, "title": None})
    assert facts is not None
    told = facts.model_dump()
    assert (told["quality"], told["pages"], told["partial"], told["title"]) == ("partial", 3, ["page 2: no"], None)
    assert "secret_of_a_reader" not in told
    assert told["hint"] == QUALITY_HINTS[TextQuality.PARTIAL]


def test_what_is_not_published_has_none() -> None:
    assert TextFacts.of(None, None) is None
