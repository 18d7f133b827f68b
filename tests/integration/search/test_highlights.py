import html
import re

from indexer.extract.types import Passage
from tests.support.search_index import SearchIndex

ATTACK = "before <img src=x onerror=alert(1)> & \"quoted\" 'single' <mark>forged</mark> </mark> after lighthouse <b>"


def test_a_document_cannot_put_markup_into_the_page(index: SearchIndex):
    index.add("a", ATTACK)
    for query in ["lighthouse", "onerror", "mark", "forged img", "b", "script OR quoted"]:
        text = index.only(query).passages[0].html
        assert re.findall("<[^>]*>", text)
        assert set(re.findall("<[^>]*>", text)) == {"<mark>", "</mark>"}
        assert html.unescape(re.sub("</?mark>", "", text)).strip("…") in ATTACK
    assert "&lt;mark&gt;<mark>forged</mark>&lt;/mark&gt;" in index.only("forged").passages[0].html


def test_every_form_of_a_word_is_marked(index: SearchIndex):
    index.add("a", "She runs while others were RUNNING; a runner is another word, and so is prune.")
    assert re.findall("<mark>(.*?)</mark>", index.only("run").passages[0].html) == ["runs", "RUNNING"]


def test_irregular_stems_are_marked(index: SearchIndex):
    index.add("a", "Many are dying in skies.")
    assert "<mark>dying</mark>" in index.only("die").passages[0].html
    assert "<mark>skies</mark>" in index.only("sky").passages[0].html


def test_only_the_whole_phrase_is_marked(index: SearchIndex):
    index.add("a", "The state of the art is the art of the state.")
    assert re.findall("<mark>(.*?)</mark>", index.only('"state of the art"').passages[0].html) == ["state of the art"]


def test_the_window_is_where_most_words_are(index: SearchIndex):
    index.add("a", "lighthouse " + "filler " * 300 + "the lighthouse by the harbour " + "filler " * 300)
    passage = index.only("lighthouse harbour").passages[0]
    assert "<mark>lighthouse</mark> by the <mark>harbour</mark>" in passage.html
    assert passage.html.startswith("…")
    assert passage.html.endswith("…")
    assert len(passage.html) < 500


def test_each_place_has_its_page(index: SearchIndex):
    pages = [Passage("filler " * 200, n) for n in range(1, 8)]
    pages[2] = Passage("the lighthouse " + "filler " * 200, 3)
    pages[5] = Passage("the harbour " + "filler " * 200, 6)
    index.add("a", pages)
    places = {passage.page: passage.html for passage in index.only("lighthouse harbour").passages}
    assert set(places) == {3, 6}
    assert "<mark>lighthouse</mark>" in places[3]
    assert "<mark>harbour</mark>" in places[6]


def test_a_passage_that_runs_over_pages_knows_them(index: SearchIndex):
    index.add("a", [Passage("first page. second page has a lighthouse", 7, breaks=((12, 8),))])
    assert index.only("lighthouse").passages[0].page == 8
    assert index.only("first").passages[0].page == 7


def test_members_are_named(index: SearchIndex):
    index.add("a", [Passage("the letter"), Passage("the lighthouse", member="attachment.txt")])
    assert [passage.member for passage in index.only("lighthouse").passages] == ["attachment.txt"]


def test_each_place_has_its_heading(index: SearchIndex):
    passages = [
        Passage("Before all headings. "),
        Passage("The lighthouse. " + "filler " * 90, heading="Coast › Towers"),
        Passage("The harbour. ", heading="Coast › Ports"),
        Passage("No more.", heading=None),
    ]
    index.add("a", passages)
    for word, heading in [
        ("before", None),
        ("lighthouse", "Coast › Towers"),
        ("harbour", "Coast › Ports"),
        ("no", None),
    ]:
        assert index.only(word).passages[0].heading == heading


def test_a_match_in_the_title_shows_how_the_text_begins(index: SearchIndex):
    index.add("a", "It begins like this. " * 100, title="Lighthouse")
    (passage,) = index.only("lighthouse").passages
    assert passage.html.startswith("It begins like this.")
    assert "<mark>" not in passage.html


def test_pairs_of_characters_are_marked_as_one(index: SearchIndex):
    index.add("a", "昨日、東京都庁へ行きました。ﾄｳｷｮｳ")
    assert "<mark>東京都</mark>庁" in index.only("東京都").passages[0].html
    assert "<mark>ﾄｳｷｮｳ</mark>" in index.only("トウキョウ").passages[0].html


def test_a_huge_document_among_the_hits_is_shown_like_the_others(index: SearchIndex):
    index.add("small", "the lighthouse")
    index.add("huge", [Passage(("filler " * 10_000) + "lighthouse " + "filler " * 10_000) for _ in range(30)])
    hits = {hit.key: hit for hit in index.search("lighthouse").hits}
    assert set(hits) == {"small", "huge"}
    for hit in hits.values():
        assert 1 <= len(hit.passages) <= 3
        assert all(len(passage.html) < 600 and "<mark>lighthouse</mark>" in passage.html for passage in hit.passages)


def test_millions_of_characters_break_no_search(index: SearchIndex):
    index.add("small", "the lighthouse " + "filler " * 50)
    index.add("long", [Passage(f"lighthouse page{n} " + "filler words " * 300, n) for n in range(1, 1026)])
    hits = {hit.key: hit for hit in index.search("lighthouse").hits}
    assert set(hits) == {"small", "long"}
    for hit in [*hits.values(), index.only("page1025 lighthouse", limit=1)]:
        assert 1 <= len(hit.passages) <= 3
        assert all(len(passage.html) < 600 and "<mark>lighthouse</mark>" in passage.html for passage in hit.passages)
    assert index.only('"lighthouse page777"').passages[0].page == 777


def test_a_match_in_the_title_of_a_document_without_text_shows_nothing(index: SearchIndex):
    index.add("a", (), title="Lighthouse")
    index.add("b", "", title="Lighthouse")
    assert {hit.key: "".join(passage.html for passage in hit.passages) for hit in index.search("lighthouse").hits} == {
        "a": "", "b": "",
    }  # fmt: skip
