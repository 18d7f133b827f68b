import random
import time

import pytest

from indexer.extract.extraction import extract
from indexer.extract.function_words import FUNCTION_WORDS
from indexer.extract.language import SAMPLES, STRETCHES, language_in, language_of, sample
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
    ("text", "code"),
    [
        ("L'usuari que l'ha creat té accés a tota la carpeta, i també a l'obertura d'altres fitxers.", "ca"),
        ("S'ha d'escollir l'idioma abans d'instal·lar el sistema a l'ordinador.", "ca"),
        ("De regels zijn van toepassing op alle bestanden die niet door een ander worden gebruikt.", "nl"),
        ("Bruk dette bare dersom du ikke har noen annen måte å gjøre det på.", "no"),
        ("Brug kun dette, hvis du ikke har nogen anden måde at gøre det på.", "da"),
        ("A configuração não pode ser alterada depois que o sistema foi iniciado.", "pt"),
        ("A configuración non se pode cambiar despois de que o sistema foi iniciado.", "gl"),
    ],
)
def test_a_sentence_is_not_taken_for_a_sister_language(text: str, code: str):
    assert (found := language_in(text)) is not None
    assert found.code == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (
            "Команда mkfs.ext4 (-t ext4 --verbose DEVICE) создаёт файловую систему на том устройстве, которое указано.",
            "ru",
        ),
        ("Η εντολή mount --bind OLDDIR NEWDIR εμφανίζει τον ίδιο κατάλογο και σε άλλη θέση.", "el"),
        (
            "getent database key コマンドは、 指定されたキーにマッチするエントリーを nsswitch.conf に従って表示する。",
            "ja",
        ),
    ],
)
def test_names_and_code_in_latin_letters_do_not_hide_the_language(text: str, code: str):
    assert (found := language_in(text)) is not None
    assert found.code == code


def test_a_text_that_quotes_another_script_is_in_its_own_language():
    assert (found := language_in(SENTENCES["en"] + " 漁師たちは辛抱強く太陽を待っていました。")) is not None
    assert found.code == "en"


@pytest.mark.parametrize("code", ["de", "en", "fi"])
def test_repetition_proves_nothing_and_hides_nothing(code: str):
    assert language_in(SENTENCES[code] * 5) == language_in(SENTENCES[code])


@pytest.mark.parametrize("around", ["„{}“", "« {} »", "‹{}›", "¿{}?", "–{}—", "\u202f{}…"])
def test_signs_and_spaces_beyond_ascii_are_no_part_of_a_word(around: str):
    quoted = "".join(around.format(word) for word in SENTENCES["fr"].split())
    assert (found := language_in(quoted)) is not None
    assert found.code == "fr"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Haus",
        "α, β, γ, Δx ≈ 0.1 Ω",
        "4711 0815 " * 50,
        "Smith, John; Müller, Hans; Dupont, Jean; García, José; Rossi, Mario",
        "id,name,price\n1,apple,3\n2,pear,4\n" * 20,
        "or\n" * 500,
        "x" * 1500,
        "".join(f"{n:o}\t{n}\tLATIN LETTER\t{chr(n)}\n" for n in range(192, 256)),
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


def test_words_that_a_sample_cuts_are_not_taken_for_others():
    text = "".join(f"understanding{n}thereof " for n in range(2_000))
    *found, _ = sample([Block(text)], 1200).split()
    of_two = [word for word in found if word not in text.split()]
    assert len(of_two) == STRETCHES - 1
    assert language_in(" ".join([*of_two, "4711 " * 30])) is None


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
