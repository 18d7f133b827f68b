import pytest

from indexer.extract.types import Passage
from pipeline.errors import Invalid
from tests.support.search_index import SearchIndex


def test_documents_with_all_words_come_before_those_with_some(index: SearchIndex):
    index.add("some", "harbour " * 50)
    index.add("all", "The lighthouse stands by the harbour. " + "Nothing else of interest here. " * 30)
    assert index.find("lighthouse harbour") == ["all", "some"]


def test_the_words_may_be_on_different_pages(index: SearchIndex):
    pages = [Passage("lighthouse " + "filler " * 900, 1), Passage("filler " * 900, 2), Passage("harbour", 3)]
    index.add("some", "harbour " * 50)
    index.add("all", pages)
    assert index.find("lighthouse harbour") == ["all", "some"]


def test_a_sentence_finds_what_answers_it(index: SearchIndex):
    index.add("answer", "The keeper of the lighthouse trims the lamp every evening.")
    index.add("other", "The harbour master counts the boats every morning.")
    index.add("stop words", "what is the of who and to")
    assert index.find("who is it that trims the lamp of the lighthouse?")[0] == "answer"
    assert "stop words" not in index.find("who is it that trims the lamp of the lighthouse?")


def test_function_words_are_found_when_there_is_nothing_else(index: SearchIndex):
    index.add("hamlet", "To be, or not to be: that is the question.")
    index.add("other", "the question is old")
    assert index.find('"to be or not to be"') == ["hamlet"]
    assert index.find("to be or not to be") == ["hamlet"]


def test_a_phrase_must_be_there(index: SearchIndex):
    index.add("phrase", "a hot dog in a bun")
    index.add("words", "a dog in a hot car, dog hot")
    assert index.find('"hot dog"') == ["phrase"]
    assert index.find('"hot dog" car') == ["phrase"]
    assert index.find('car "hot dog"') == ["phrase"]
    assert set(index.find("hot dog")) == {"phrase", "words"}


def test_a_phrase_in_curly_quotes_or_without_its_end(index: SearchIndex):
    index.add("phrase", "a hot dog in a bun")
    index.add("words", "a dog in a hot car")
    assert index.find("“hot dog”") == ["phrase"]
    assert index.find('"hot dog') == ["phrase"]


def test_a_phrase_on_a_late_page_is_found(index: SearchIndex):
    pages = [Passage("filler words on every page. " * 40, n) for n in range(1, 1000)]
    pages[899] = Passage("here lies the buried treasure chest", 900)
    index.add("long", pages)
    hit = index.only('"buried treasure"')
    assert hit.passages[0].page == 900
    assert "<mark>buried treasure</mark>" in hit.passages[0].html


def test_two_phrases_may_be_apart(index: SearchIndex):
    index.add("both", [Passage("a hot dog " + "filler " * 1000, 1), Passage("a cold beer", 2)])
    index.add("one", "a hot dog without a beer that is cold")
    assert index.find('"hot dog" "cold beer"') == ["both"]


def test_a_minus_excludes_wherever_the_word_is(index: SearchIndex):
    index.add("plain", "lighthouse")
    index.add("far", [Passage("lighthouse " + "filler " * 1000, 1), Passage("museum", 2)])
    index.add("title", "lighthouse", title="Museum")
    assert index.find("lighthouse -museum") == ["plain"]


def test_a_minus_excludes_a_phrase_only_as_a_whole(index: SearchIndex):
    index.add("phrase", "lighthouse and a hot dog")
    index.add("words", "lighthouse and a dog that is hot")
    assert index.find('lighthouse -"hot dog"') == ["words"]


def test_or_offers_alternatives(index: SearchIndex):
    index.add("cat food", "cat food")
    index.add("dog food", "dog food")
    index.add("food", "food food food")
    assert index.find("cat OR dog food")[-1] == "food"
    assert set(index.find("cat OR dog food")[:2]) == {"cat food", "dog food"}
    assert set(index.find('"cat food" OR "dog food"')) == {"cat food", "dog food"}


@pytest.mark.parametrize("query", ["run", "running", "RUNS", "\uff32unning"])
def test_words_are_stemmed_on_both_sides(index: SearchIndex, query: str):
    index.add("a", "She runs every day.")
    assert index.find(query) == ["a"]


def test_a_title_counts_more_than_the_text(index: SearchIndex):
    index.add("text", "The lighthouse and its lighthouse keeper saw another lighthouse. " * 3, title="Notes")
    index.add("title", "A tall building by the sea with a lamp on its top.", title="The old lighthouse")
    assert index.find("lighthouse") == ["title", "text"]


@pytest.mark.parametrize("query", ["都", "京", "東京都", '"東京都 tower"', "tower", "報告書"])
def test_a_title_is_found_like_a_text(index: SearchIndex, query: str):
    index.add("annual", "nothing of that in the text", title="東京都 tower 報告書")
    index.add("tokyo tower annual", "something else")
    found = [hit for hit in index.search(query).hits if hit.key == "annual"]
    assert [hit.passages[0].html for hit in found] == ["nothing of that in the text"]


def test_words_of_the_key_are_found(index: SearchIndex):
    index.add("reports/annual_report-2024.pdf", "nothing of that in the text")
    assert index.find("annual 2024") == ["reports/annual_report-2024.pdf"]
    assert index.find("annual_report-2024.pdf") == ["reports/annual_report-2024.pdf"]


@pytest.mark.parametrize(
    "query",
    ["example", "example.com", "https://example.com/a/b?c=d", "john", "john@example.com", "and/or", "3.14", "b"],
)
def test_what_punctuation_joins_is_found_as_a_whole_and_in_parts(index: SearchIndex, query: str):
    index.add("a", "Write to john@example.com or see https://example.com/a/b?c=d and/or 3.14 if a<b and c>d.")
    assert index.find(query) == ["a"]


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        (
            "東京都は日本の首都です。黒猫が好き",
            ["東京", "東京都", "首都", "猫", "黒猫", "都", "日本の首都", "東京 黒猫", "き"],
        ),
        ("北京大学位于北京市海淀区", ["北京", "大学", "北京大学", "区", "海淀", "北京大学位于北京市"]),
        ("서울에서 친구를 만나요", ["서울", "친구", "친구를", "만나요", "요"]),
        ("ﾄｳｷｮｳタワー", ["トウキョウ", "タワー", "ﾀﾜｰ"]),
        ("ประเทศไทยมีกรุงเทพ", ["กรุงเทพ", "ไทย"]),
        ("iPhone用ケースを買う", ["iphone", "ケース", "iPhone用ケース"]),
        ("ابن خلدون كتب المقدمة في قلعة", ["خلدون", "المقدمة", '"ابن خلدون"', "قلعة كتب"]),
        ("Москва — столица России", ["москва", '"столица России"']),
    ],
)
def test_scripts_without_spaces_are_found(index: SearchIndex, text: str, queries: list[str]):
    index.add("a", text)
    index.add("b", "something else entirely")
    for query in queries:
        assert index.find(query) == ["a"], query
        assert "<mark>" in index.only(query).passages[0].html, query


@pytest.mark.parametrize("query", ['"東京 tower"', '"the 東京 tower 大阪"', '"大阪 a"', '"tower 大"', "the東京tower"])
def test_phrases_run_over_scripts(index: SearchIndex, query: str):
    index.add("a", "see the 東京 tower 大阪 a")
    index.add("b", "大阪 東京 the")
    assert index.find(query)[0] == "a"
    assert "<mark>" in index.search(query).hits[0].passages[0].html


@pytest.mark.parametrize("query", ["京東", "都日", "犬", '"京都"'])
def test_characters_that_are_not_there_are_not_found(index: SearchIndex, query: str):
    index.add("a", "東京は日本の首都です。黒猫が好き")
    assert index.find(query) == []


def test_a_long_question_without_spaces_finds_something(index: SearchIndex):
    index.add("tower", "東京タワーの高さは三百三十三メートルです。")
    index.add("other", "大阪の天気は晴れです。")
    assert index.find("東京タワーの高さは何メートルありますか")[0] == "tower"


def test_combining_marks_and_ligatures_do_not_matter(index: SearchIndex):
    index.add("a", "cafe\u0301 ﬁne हिन्दी")
    assert index.find("café") == index.find("fine") == index.find("हिन्दी") == ["a"]


@pytest.mark.parametrize("query", ["", "   ", "!!!", "🙂", '""', "\0", "\ud800", "OR", "-", '"'])
def test_a_query_without_a_word_is_refused(index: SearchIndex, query: str):
    with pytest.raises(Invalid) as refusal:
        index.search(query)
    assert refusal.value.code == "query_empty"


def test_a_query_that_only_excludes_is_refused(index: SearchIndex):
    with pytest.raises(Invalid) as refusal:
        index.search('-museum -"hot dog"')
    assert refusal.value.code == "query_only_excludes"


def test_a_query_that_is_too_long_is_refused(index: SearchIndex):
    with pytest.raises(Invalid) as refusal:
        index.search("word " * 1000)
    assert refusal.value.code == "query_too_long"


def test_many_words_are_no_trouble(index: SearchIndex):
    index.add("a", "word7 word8")
    assert index.find(" ".join(f"word{n}" for n in range(250))) in ([], ["a"])
    assert index.find(" ".join(f"word{n}" for n in range(30))) == ["a"]
