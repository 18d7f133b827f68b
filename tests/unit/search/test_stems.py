import pytest

from indexer.search.languages import chosen
from indexer.search.stems import forms_of, has_stemmer, stems


@pytest.mark.parametrize(
    ("words", "language", "expected"),
    [
        ("häuser haus", "de", "haus haus"),
        ("running runs", "en", "run run"),
        ("running runs", None, "run run"),
        ("running", "zz", "run"),
        ("домами lighthouses", "ru", "дом lighthous"),
        ("東京 京都", "de", "東京 京都"),
        ("x" * 3_000_000, "de", "x" * 3_000_000),
        ("", "de", ""),
    ],
)
def test_stems(words: str, language: str | None, expected: str):
    assert stems(words, language) == expected


def test_the_forms_of_words_are_told_once():
    assert forms_of(("häuser", "am"), ("en", "de", "en", "de")) == [("häuser", "am"), ("haus", "am")]
    assert forms_of(("4711",), ("en", "de", "fr", "tr")) == [("4711",)]


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("de", "de"), (" DE-at ", "de"), ("pt_BR", "pt"), ("", "en"), ("German", "en"), (5, "en"), (None, "en"),
        ("d", "en"), ("de-\n", "de"),
    ],
)  # fmt: skip
def test_metadata_overrides_what_was_detected(said: object, language: str):
    assert chosen({"language": said}, "en") == language


def test_languages_without_a_stemmer_have_none():
    assert has_stemmer("de")
    assert not has_stemmer("ja")
    assert not has_stemmer(None)
