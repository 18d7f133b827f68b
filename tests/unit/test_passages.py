from hypothesis import given
from hypothesis import strategies as st

from indexer import passages
from indexer.extract.types import Block, Passage

SENTENCE = "The keeper walks the wall at dusk and counts the boats that are still out. "


def joined(blocks: list[Block]) -> str:
    return "".join(block.text for block in blocks)


def test_short_text_is_one_passage():
    (passage,) = passages.cut([Block("A line.\n", 3, "a.txt", "Head")])
    assert (passage.text, passage.page, passage.member, passage.heading) == ("A line.\n", 3, "a.txt", "Head")


def test_long_text_is_cut_after_sentences():
    found = passages.cut([Block(SENTENCE * 100)])
    assert len(found) > 4
    assert all(passage.text.endswith("out. ") for passage in found)
    assert all(600 <= len(passage.text) <= 1500 for passage in found)


def test_a_paragraph_is_a_better_end_than_a_sentence():
    paragraph = SENTENCE * 12 + "\n\n"
    assert all(passage.text.endswith("\n\n") for passage in passages.cut([Block(paragraph * 5)]))


def test_japanese_is_cut_after_its_full_stop():
    found = passages.cut([Block("灯台守は毎晩三十分ごとに時計仕掛けを巻き上げた。" * 200)])
    assert len(found) > 3
    assert all(passage.text.endswith("。") for passage in found)


def test_words_without_sentences_are_not_broken():
    words = " ".join(f"word{n}" for n in range(2000))
    assert all(passage.text.endswith(" ") for passage in passages.cut([Block(words)])[:-1])


def test_a_cut_inside_an_endless_run_leaves_accents_on_their_letter():
    found = passages.cut([Block("x" + "e\u0301" * 3000)])
    assert all(passage.text.startswith("e") for passage in found[1:])


def test_small_sections_of_a_page_share_a_passage_and_pages_do_not():
    blocks = [Block("one\n\n", 1, None, "One"), Block("two\n\n", 1, None, "Two"), Block("three\n\n", 2)]
    assert [(p.text, p.page, p.heading) for p in passages.cut(blocks)] == [
        ("one\n\ntwo\n\n", 1, "One"),
        ("three\n\n", 2, None),
    ]


def page_at(passage: Passage, offset: int) -> int | None:
    return [passage.page, *(page for start, page in passage.breaks if start <= offset)][-1]


def test_a_document_of_many_pages_keeps_its_page_breaks():
    found = passages.cut([Block(f"page {n}\n\n", n) for n in range(1, 6001)])
    assert 1000 < len(found) <= passages.MOST_PASSAGES
    for passage in found:
        for n in {passage.page, *(page for _, page in passage.breaks)}:
            at = passage.text.index(f"page {n}\n")
            assert page_at(passage, at) == n
            assert page_at(passage, at + len(f"page {n}")) == n


def test_a_very_long_text_gets_larger_passages():
    blocks = [Block(SENTENCE * 30, n) for n in range(1, 4001)]
    found = passages.cut(blocks)
    assert len(found) <= passages.MOST_PASSAGES
    assert "".join(passage.text for passage in found) == joined(blocks)


def test_members_never_share_a_passage():
    found = passages.cut([Block("a", None, "x"), Block("b", None, "y")])
    assert [(p.text, p.member) for p in found] == [("a", "x"), ("b", "y")]


@given(st.lists(st.builds(Block, st.text(min_size=1), st.integers(1, 5)), max_size=20))
def test_nothing_is_lost(blocks: list[Block]):
    found = passages.cut(blocks)
    assert "".join(passage.text for passage in found) == joined(blocks)


@given(st.text("ab. \n。", min_size=1000, max_size=9000))
def test_passages_have_a_bounded_size(text: str):
    assert all(len(passage.text) <= 1500 for passage in passages.cut([Block(text)]))


def test_words_broken_at_line_ends_are_joined():
    assert passages.join_broken_words("the in-\nsurance of a light\u00ad\n house, chrono\ufffemeter") == (
        "the insurance of a lighthouse, chronometer"
    )


def test_a_hyphen_before_a_capital_or_a_number_stays():
    text = "Nord-\nOstsee and 10-\n20 and a -\nlist"
    assert passages.join_broken_words(text) == text
    assert passages.join_broken_words("Nord\ufffeOstsee, 10\ufffe20") == "Nord-Ostsee, 10-20"
