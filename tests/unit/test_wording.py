"""Numbers as people say them."""

from datetime import UTC, datetime

import pytest

from pipeline.wording import clause, counted, duration, moment, ordinal


@pytest.mark.parametrize(
    ("n", "said"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (13, "13th"), (21, "21st"),
     (22, "22nd"), (101, "101st"), (111, "111th"), (113, "113th"), (1000, "1,000th")],
)  # fmt: skip
def test_ordinals(n: int, said: str) -> None:
    assert ordinal(n) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-1, "0 s"), (4.4, "4 s"), (119, "119 s"), (120, "2 min"), (7199, "119 min"), (7200, "2 h"), (172_800, "2 d")],
)
def test_durations(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_counts_beyond_the_cap() -> None:
    assert counted(1_000, 1_000) == "1,000"
    assert counted(1_001, 1_000) == "1,000+"


def test_a_moment_names_its_date_only_on_another_day() -> None:
    now = datetime(2030, 1, 2, 13, 0, tzinfo=UTC)
    assert moment(datetime(2030, 1, 2, 12, 3, tzinfo=UTC), now) == "12:03 UTC"
    assert moment(datetime(2030, 1, 1, 12, 3, tzinfo=UTC), now) == "2030-01-01 12:03 UTC"


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("The index is read-only (disk).", "the index is read-only (disk)"),
        ("OpenSearch cannot be reached.", "OpenSearch cannot be reached"),
        ("Connection refused", "Connection refused"),
    ],
)
def test_a_sentence_ends_another(sentence: str, said: str) -> None:
    assert clause(sentence) == said
