import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.sanitise import clean_json, clean_text


def test_keeps_what_people_write():
    text = "Käse,\tnaïve 日本語\r\n🙂 مرحبا\n"
    assert clean_text(text) == text


def test_strips_nul_and_control_characters():
    assert clean_text("a\x00b\x01c\x1bd\x7f") == "abcd\x7f"


@pytest.mark.parametrize("code", sorted(set(range(0x20)) - set(b"\t\n\r\v\f")))
@pytest.mark.parametrize("around", ["", "many words " * 1000])
def test_strips_each_of_them_from_short_and_long_texts(code: int, around: str):
    assert clean_text(f"{around}a{chr(code)}b{around}") == f"{around}ab{around}"


def test_a_form_feed_still_parts_words():
    assert clean_text("one\x0ctwo\x0bthree") == "one\ntwo\nthree"


def test_joins_a_pair_of_surrogates_and_replaces_a_lone_one():
    assert clean_text("\ud83d\ude42 \ud83d end \ude42") == "🙂 \ufffd end \ufffd"


def test_cleans_keys_and_values_of_json():
    dirty = {"a\x00": ["b\x00", {"c": "\ud800"}], "n": 1, "t": True, "none": None}
    assert clean_json(dirty) == {"a": ["b", {"c": "\ufffd"}], "n": 1, "t": True, "none": None}


@given(st.text(st.characters(exclude_categories=[])))
def test_whatever_comes_in_can_be_stored(text: str):
    cleaned = clean_text(text)
    cleaned.encode()
    assert "\x00" not in cleaned
    assert clean_text(cleaned) == cleaned
