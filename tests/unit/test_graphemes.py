import pytest

from indexer import passages
from indexer.extract.types import Block
from indexer.graphemes import boundary


@pytest.mark.parametrize(
    "whole",
    [
        "e\u0301",
        "👩🏽\u200d✈️",
        "👨\u200d👩\u200d👧\u200d👦",
        "🇩🇪",
        "1️⃣",
        "नि",
        "กำ",
        "각",
        "ｶﾞ",
        "\r\n",
        "🏴\U000e0067\U000e0062\U000e007f",
        "م\u064e",
    ],
)
def test_what_people_see_as_one_is_not_cut(whole: str):
    text = "x" * 9 + whole * 5 + "y"
    places = [9 + len(whole) * n for n in range(6)]
    for at in range(9, 9 + len(whole) * 5 + 1):
        assert boundary(text, at) == max(place for place in places if place <= at)


def test_ends_and_endless_heaps_are_left_alone():
    assert boundary("abc", 3) == 3
    assert boundary("abc", 0) == 0
    assert boundary("a" + "\u0301" * 500, 300) == 300
    assert boundary("\u0301\u0301", 1) == 1


@pytest.mark.parametrize("unit", ["👨\u200d👩\u200d👧\u200d👦", "नि", "กำ", "e\u0301\u0323"])
def test_passages_of_a_run_without_spaces_begin_with_whole_characters(unit: str):
    found = passages.cut([Block("x" + unit * 3000)])
    assert len(found) > 3
    assert all(passage.text.startswith(unit) for passage in found[1:])
    assert "".join(passage.text for passage in found) == "x" + unit * 3000


@pytest.mark.parametrize(
    ("sentence", "end"),
    [
        ("كانت المنارة تضيء كل ليلة، فهل رآها البحارة؟ ", "؟ "),
        ("मछुआरे धैर्य से इंतज़ार कर रहे थे। ", "। "),
        ("灯塔的光芒照亮了海港，渔船在夜里安全返航！", "！"),
        ("등대의 불빛은 매일 밤 바다를 비추었다. ", ". "),
        ("ชาวประมงรออย่างอดทน ", " "),
    ],
)
def test_passages_end_with_sentences_in_many_scripts(sentence: str, end: str):
    found = passages.cut([Block(sentence * 400)])
    assert len(found) > 3
    assert all(passage.text.endswith(end) for passage in found)
