"""Documents of many languages in one index: each is stemmed in its own, and found by a query in any."""

import re

import pytest

from indexer.extract.types import Passage
from tests.support.languages import SENTENCES
from tests.support.search_index import SearchIndex

FORMS = [
    ("de", "Die Häuser am Hafen sind alt.", ["Haus", "Häusern", "HÄUSER", '"Haus am Hafen"'], "Häuser"),
    ("fr", "Les chevaux mangent près du port.", ["cheval", "chevaux", "ports"], "chevaux"),
    ("es", "Las canciones de los marineros eran tristes.", ["canción", "canciones", "marinero"], "canciones"),
    ("ru", "Он стоял между старыми домами и смотрел на маяки.", ["дом", "дома", "домов", "маяк"], "домами"),
    ("tr", "Evlerimiz denize bakıyor.", ["ev", "evler"], "Evlerimiz"),
    ("fi", "Me asumme vanhassa talossa.", ["talo", "talot"], "talossa"),
    ("nl", "De huizen staan aan het water.", ["huis", "huizen"], "huizen"),
    ("pl", "Statki mijały stare latarnie.", ["latarnia", "latarni"], "latarnie"),
    ("it", "I pescatori cantavano vecchie canzoni.", ["pescatore", "canzone"], "pescatori"),
]
LANGUAGES = [form[0] for form in FORMS]


def marked(html: str) -> list[str]:
    return re.findall("<mark>(.*?)</mark>", html)


def mixed(index: SearchIndex) -> None:
    """A document of each language, and one of which nobody knows the language."""
    entries = [index.entry(code, text, language=code) for code, text, *_ in FORMS]
    english = index.entry("en", "The keepers were running along the houses.", language="en")
    index.publish(*entries, english, index.entry("none", "Some keepers were watching."))


@pytest.mark.parametrize(("code", "text", "queries", "form"), FORMS, ids=LANGUAGES)
def test_every_form_of_a_word_is_found_and_marked(
    index: SearchIndex, code: str, text: str, queries: list[str], form: str
):
    index.add("a", text, language=code)
    for query in queries:
        assert index.find(query) == ["a"], query
    assert form in marked(index.only(queries[0]).passages[0].html)


def test_one_index_holds_many_languages(index: SearchIndex):
    mixed(index)
    for code, _, queries, _ in FORMS:
        for query in queries:
            assert index.find(query)[:1] == [code], query
    assert index.find("house") == ["en"]
    assert sorted(index.find("keeper")) == ["en", "none"]
    assert index.find("ran") == []


def test_without_a_language_words_are_stemmed_as_english(index: SearchIndex):
    index.add("a", "The keepers were running.")
    index.add("b", "Die Häuser am Hafen.")
    index.add("c", "早晨的港口", language="zh")
    assert index.find("keeper run") == ["a"]
    assert index.find("Haus") == []
    assert index.find("Häuser") == ["b"]
    assert index.find("港口") == ["c"]


def test_english_words_in_a_text_of_another_script_are_english(index: SearchIndex):
    index.add("a", "Слово lighthouses встречается и здесь.", language="ru")
    assert index.find("lighthouse") == ["a"]


def test_titles_are_stemmed_in_the_language_of_the_document(index: SearchIndex):
    index.add("a", "Text", title="Alte Häuser", language="de")
    assert index.find("Haus") == ["a"]


def test_the_language_of_the_newest_version_counts(index: SearchIndex):
    index.add("a", "Die Häuser am Hafen.")
    index.add("a", "Die Häuser am Hafen.", language="de", version=2)
    assert index.find("Haus") == ["a"]
    index.delete("a", version=3)
    assert index.find("Haus") == []


def test_a_phrase_is_found_in_the_forms_of_one_language(index: SearchIndex):
    mixed(index)
    index.add("x", "Am Hafen sind alt die Häuser.", language="de")
    assert index.find('"Hafen sind alt"')[0] in {"de", "x"}
    assert index.find('"Haus am Hafen"') == ["de"]
    assert marked(index.only('"Haus am Hafen"').passages[0].html) == ["Häuser am Hafen"]


def test_what_must_not_be_there_must_not_be_in_any_form(index: SearchIndex):
    index.add("a", "Die Häuser am Hafen.", language="de")
    index.add("b", "Das Boot am Hafen.", language="de")
    assert index.find("Hafen -Haus") == ["b"]
    assert index.find('Hafen -"Haus am"') == ["b"]


def test_what_must_not_be_there_must_not_be_in_any_form_however_long_the_query(index: SearchIndex):
    mixed(index)
    index.add("a", "Satama on vanhassa talossa.", language="fi")
    index.add("b", "Satama on vanha.", language="fi")
    others = " ".join(f"satama{n}" for n in range(60))
    for unwanted in ("-talo", '-"vanha talo"'):
        assert index.find(f"satama {others} {unwanted}") == ["b"], unwanted


def test_function_words_of_the_language_of_the_query_are_left_out(index: SearchIndex):
    index.add("answer", "Der Wärter putzt die Lampe im Turm.", language="de")
    index.add("function words", "und das ist so wie der und die das", language="de")
    assert index.find("wer putzt denn die Lampe und das Glas?") == ["answer"]
    assert index.find("das und der")[0] == "function words"


def test_one_foreign_function_word_is_no_language(index: SearchIndex):
    index.add("en", "Old keepers die hard.", language="en")
    index.add("de", "Die Lampe.", language="de")
    assert index.find("die hard")[0] == "en"
    assert set(index.find("die")) == {"en", "de"}


def test_forms_of_a_word_count_as_one_word(index: SearchIndex):
    """In an index of many languages, documents are ranked as if there were only their own."""
    often = "Häuser und Häuser, und viele Häuser. " + "Nichts sonst ist hier zu sehen. " * 12
    once = "Ein Haus. " + "Nichts sonst ist hier zu sehen, und der Text ist gleich lang. " * 8
    index.publish(
        index.entry("often", often, language="de"),
        index.entry("once", once, language="de"),
        *(index.entry(f"{n}", "Something else about the harbour.", language="en") for n in range(10)),
    )
    before = index.find("Häuser")
    assert before == ["often", "once"]
    for code in ("fr", "tr", "nl", "fi"):
        index.add(code, SENTENCES[code], language=code)
    assert index.find("Häuser")[:2] == before


def test_a_question_of_many_words_in_a_mixed_index_is_answered(index: SearchIndex):
    mixed(index)
    for code in SENTENCES:
        index.add(f"{code} morning", SENTENCES[code], language=code)
    for code, text in SENTENCES.items():
        if " " in text:
            assert index.find(text[:400].replace("-", " "))[0] == f"{code} morning"


@pytest.mark.parametrize(
    ("text", "query", "mark"),
    [
        ("The of\ufb01ce is \ufb02ooded.", "office", "of\ufb01ce"),
        ("\uff26\uff35\uff2c\uff2c width", "full", "\uff26\uff35\uff2c\uff2c"),
        ("see ｶﾞﾗｽ here", "ガラス", "ｶﾞﾗｽ"),
        ("mc\u00b2 of x\u2075", "mc2", "mc\u00b2"),
        ("a light\u00adhouse", "lighthouse", "light\u00adhouse"),
        ("a light\u200bhouse", "lighthouse", "light\u200bhouse"),
        ("light\u2060house keep\ufeffers", '"lighthouse keeper"', "light\u2060house keep\ufeffers"),
        ("cafe\u0301 au lait", "café", "cafe\u0301"),
        ("5 ㎏ of it", "kg", "㎏"),
        ("der GRO\u1e9eE Turm", "große", "GRO\u1e9eE"),
        ("İstanbul'da", "i̇stanbul", "İstanbul"),
        ("Ⅷ. Kapitel", "viii", "Ⅷ"),
    ],
)
def test_text_is_found_by_its_plain_form_and_shown_as_it_was(index: SearchIndex, text: str, query: str, mark: str):
    index.add("a", "Before it. " + text)
    html = index.only(query).passages[0].html
    assert marked(html) == [mark]
    assert re.sub("</?mark>", "", html).replace("&#x27;", "'") == "Before it. " + text


def test_pages_stay_where_they_are_beside_characters_that_grow(index: SearchIndex):
    index.add("a", [Passage("\ufdfa " * 20 + "first", 1), Passage("second ㎏", 2), Passage("third", 3)])
    for word, page in [("first", 1), ("second", 2), ("kg", 2), ("third", 3)]:
        assert index.only(word).passages[0].page == page
