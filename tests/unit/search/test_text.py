import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.search.text import pairs, runs, search_text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Quick-Brown fox's e-mail: a/b_c@d.example?", "the quick brown fox s e mail a b c d example"),
        ("Ünïcode “quotes” — and… dashes", "ünïcode quotes and dashes"),
        ("\uff26\uff55\uff4c\uff4c ﬁne ｶﾅ \uff11\uff12", "full fine カナ ナ 12"),
        ("東京都は", "東京 京都 都は は"),
        ("猫", "猫"),
        ("서울에서", "서울 울에 에서 서"),
        ("iPhone用ケース", "iphone 用ケ ケー ース ス"),
        ("हिन्दी भाषा", "हिन्दी भाषा"),
        ("if a<b & c>d", "if a b c d"),
        ("\0\ud800 🙂", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_the_normal_form(text: str, words: str):
    assert " ".join(search_text(text).split()) == words


@given(st.text())
def test_it_holds_words_and_spaces_only(text: str):
    for character in search_text(text):
        assert character.isalnum() or character == " " or unicodedata.category(character) in {"Mn", "Mc"}


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_it_is_the_same_for_every_way_to_write_a_text(text: str):
    assert search_text(unicodedata.normalize("NFD", text)) == search_text(unicodedata.normalize("NFC", text))


@given(st.text(alphabet="東京都aé ", min_size=1))
def test_runs_put_together_are_the_word(text: str):
    assert "".join(part for part, _ in runs(text)) == text


def test_every_character_of_a_run_begins_a_pair():
    assert [pair[0] for pair in pairs("東京都庁").split()] == list("東京都庁")
