import time
import unicodedata
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from indexer.search.folding import folded
from indexer.search.text import search_text

ODD = st.text(
    alphabet="aZ \n.\u00adéß東ﬁ\u0301\u0323ｶﾞÅ㎏İΣ한\u1112\u1161\u11ab\u200d\u200b👩\U0001f3fd\u0e33กﷺ\u212b٣\u0651",
    max_size=60,
)


@given(ODD)
def test_every_character_knows_where_it_comes_from(text: str):
    form = folded(text)
    places = [form.place(at, at + 1) for at in range(len(form.text))]
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert all(before <= after for (before, _), (after, _) in pairwise(places))
    for (start, end), character in zip(places, form.text, strict=True):
        assert character in unicodedata.normalize("NFKC", text[start:end]).lower() or character in "σς"


@given(st.text(alphabet="aB é東ﬁÅ\u00ad㎏ｶ한", max_size=60))
def test_it_has_the_words_that_are_searched(text: str):
    assert search_text(folded(text).text).split() == search_text(text).split()


def test_plain_text_needs_no_way_back():
    assert folded("Grüße aus 東京, Москва").starts is None


def test_folding_takes_linear_time():
    def spent(text: str) -> float:
        started = time.process_time()
        folded(text)
        return time.process_time() - started

    for unit in ("ﬁ", "a\u00ad", "ｶﾞ", "é\u00ad ", "a\u0301"):
        short = spent(unit * 5_000)
        assert spent(unit * 40_000) < 8 * short * 4 + 0.05, unit
