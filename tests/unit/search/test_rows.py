from datetime import UTC, datetime
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.extract.types import Passage
from indexer.search.backend import Entry
from indexer.search.rows import ROW_CHARACTERS, Row, rows_of


def rows(*passages: Passage, tombstone: bool = False) -> list[Row]:
    entry = Entry(uuid4(), 1, tombstone, 1, None, "", "text/plain", {}, datetime(2026, 1, 1, tzinfo=UTC), passages)
    return list(rows_of(entry))


def test_small_passages_share_a_row_that_knows_its_pages():
    (row,) = rows(Passage("one ", 1), Passage("more ", 1), Passage("two ", 2), Passage("three", 4))
    assert (row.n, row.page, row.body) == (1, 1, "one more two three")
    assert row.breaks == (9, 2, 13, 4)


def test_breaks_inside_a_passage_are_kept():
    (row,) = rows(Passage("one two ", 1, breaks=((4, 2),)), Passage("three", 3))
    assert row.breaks == (4, 2, 8, 3)


def test_no_word_runs_over_a_page():
    (row,) = rows(Passage("one", 1), Passage("two", 2))
    assert row.body == "one\ntwo"
    assert row.breaks == (4, 2)


def test_members_never_share_a_row():
    assert [row.member for row in rows(Passage("a "), Passage("b", member="m"), Passage("c", member="n"))] == [
        None, "m", "n",
    ]  # fmt: skip


def test_a_tombstone_has_no_rows():
    assert rows(Passage("text"), tombstone=True) == []


@given(
    st.lists(
        st.builds(
            Passage,
            st.text(alphabet="ab 東", max_size=30).map(lambda text: text * 400),
            st.none() | st.integers(1, 9),
            st.sampled_from([None, "m"]),
        )
    )
)
def test_nothing_is_lost_and_every_row_is_small(passages: list[Passage]):
    made = rows(*passages)
    assert "".join(row.body for row in made).replace("\n", "") == "".join(passage.text for passage in passages)
    assert all(len(row.body) <= ROW_CHARACTERS + len(passages) for row in made)
    assert [row.n for row in made] == list(range(1, len(made) + 1))


@pytest.mark.parametrize("text", ["x" * 20_000, "word " * 5000])
def test_a_long_passage_is_cut_between_words_if_it_has_any(text: str):
    made = rows(Passage(text))
    assert "".join(row.body for row in made) == text
    if " " in text:
        assert all(row.body.endswith(" ") for row in made)
