"""The path of headings above a section."""

from indexer.extract.headings import Outline


def test_a_section_has_the_path_to_it():
    outline = Outline()
    assert outline.enter(1, "Harbour") == "Harbour"
    assert outline.enter(2, " Pilots \n and boats") == "Harbour › Pilots and boats"
    assert outline.enter(3, "Night") == "Harbour › Pilots and boats › Night"
    assert outline.enter(2, "Tides") == "Harbour › Tides"
    assert outline.enter(1, "Light") == "Light"


def test_levels_may_be_missing_and_headings_empty():
    outline = Outline()
    assert outline.enter(3, "Deep first") == "Deep first"
    assert outline.enter(2, "") is None
    assert outline.enter(4, "Below") == "Below"


def test_a_path_is_never_longer_than_it_can_be_shown():
    assert len(Outline().enter(1, "x" * 10_000) or "") == 500
