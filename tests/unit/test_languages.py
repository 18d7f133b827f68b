"""Languages are told to people by their names."""

from itertools import product
from string import ascii_lowercase

from indexer.extract.function_words import FUNCTION_WORDS, TELLING_LETTERS
from indexer.extract.language import language_in
from indexer.search import stems
from pipeline.languages import NAMES, language_name


def test_every_language_that_can_be_told_or_stemmed_has_a_name() -> None:
    by_script = {
        found.code
        for start in (*range(0x370, 0xD7B0), *range(0xF900, 0xFFA0), 0x20000)
        if (found := language_in(chr(start) * 60)) is not None
    }
    assert {"el", "th", "zh", "ja", "ko"} <= by_script
    stemmed = set(filter(stems.has_stemmer, map("".join, product(ascii_lowercase, repeat=2))))
    assert by_script | set(FUNCTION_WORDS) | set(TELLING_LETTERS) | stemmed <= set(NAMES)


def test_an_unknown_code_stays_a_code() -> None:
    assert (language_name("de"), language_name("tlh")) == ("German", "tlh")
