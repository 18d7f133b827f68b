import base64
import json
from contextlib import suppress

import pytest

from indexer.search import postgres_search
from indexer.search.backend import Sort
from indexer.search.opensearch import searching
from pipeline.errors import Invalid
from tests.support.search_index import SearchIndex


@pytest.fixture
def _counting_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is more than some dozens of matches is not counted."""
    monkeypatch.setattr(postgres_search, "MOST_CANDIDATES", 40)
    monkeypatch.setattr(postgres_search, "COUNTED_FIRST", 50)
    monkeypatch.setattr(postgres_search, "MOST_COUNTED", 100)
    monkeypatch.setattr(searching, "EXACT_TOTAL", 50)


@pytest.fixture
def many(index: SearchIndex) -> SearchIndex:
    """250 documents that have "word", some more than once, some also "rare"."""
    index.publish(
        *(
            index.entry(f"{n}", "word " * (1 + n % 7) + ("rare " if n % 10 == 0 else "") + "filler " * (n % 13),
                        title=f"Title {n % 50:02}" if n % 3 else f"word {n % 50}")
            for n in range(250)
        )
    )  # fmt: skip
    return index


@pytest.mark.parametrize("sort", list(Sort))
@pytest.mark.parametrize("limit", [1, 7, 100])
def test_paging_shows_every_document_once_and_in_order(many: SearchIndex, sort: Sort, limit: int):
    query = "rare" if limit == 1 else "word rare"
    hits = many.walk(query, limit=limit, sort=sort)
    page = many.search(query, sort=sort)
    assert len(hits) == len({hit.key for hit in hits}) == page.total == (25 if limit == 1 else 250)
    assert not page.total_capped
    if sort is Sort.RELEVANCE:
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    if sort is Sort.NEWEST:
        assert [hit.accepted_at for hit in hits] == sorted((hit.accepted_at for hit in hits), reverse=True)
    if sort is Sort.TITLE:
        assert [hit.title.lower() for hit in hits] == sorted(hit.title.lower() for hit in hits)


@pytest.mark.parametrize("sort", list(Sort))
def test_matches_in_titles_only_are_all_counted_and_shown(
    many: SearchIndex, sort: Sort, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(postgres_search, "MOST_CANDIDATES", 40)
    many.publish(*(many.entry(f"other {n}", "nothing", title="word") for n in range(100)))
    assert many.search("word", sort=sort).total == 350
    assert len({hit.key for hit in many.walk("word", limit=30, sort=sort)}) == 350


@pytest.mark.parametrize("sort", list(Sort))
@pytest.mark.usefixtures("_counting_little")
def test_more_matches_than_are_counted_are_said_to_be_more(many: SearchIndex, sort: Sort):
    page = many.search("word", sort=sort)
    assert page.total_capped
    assert 50 <= page.total <= 100
    hits = many.walk("word", limit=17, sort=sort)
    assert len(hits) == len({hit.key for hit in hits}) >= page.total
    if sort is Sort.NEWEST:
        assert [hit.key for hit in hits] == [str(n) for n in reversed(range(250))]
    assert all(hit.passages for hit in hits)


def test_documents_added_meanwhile_disturb_no_order(index: SearchIndex):
    index.publish(*(index.entry(f"{n}", "word " * (1 + n % 7) + "filler " * (n % 13)) for n in range(150)))
    page = index.search("word filler", limit=50)
    hits = page.hits
    while page.next is not None:
        index.publish(*(index.entry(f"new {len(hits)} {n}", "word filler " * 5, title="word") for n in range(20)))
        page = index.search("word filler", limit=50, cursor=page.next)
        hits += page.hits
    found = [hit.key for hit in hits]
    assert len(found) == len(set(found))
    assert {str(n) for n in range(150)} <= set(found)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def _forged(cursor: str, **changes: object) -> str:
    fields = json.loads(base64.urlsafe_b64decode(cursor + "==")) | changes
    return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")


@pytest.mark.parametrize("sort", list(Sort))
def test_what_is_no_cursor_is_refused(index: SearchIndex, sort: Sort):
    for cursor in ("", "x", "é", "\ud800", "bm90IGpzb24", "e30", "W10", "a" * 10_000):
        with pytest.raises(Invalid) as refusal:
            index.search("word", cursor=cursor, sort=sort)
        assert refusal.value.code == "bad_cursor"


FORGERIES: list[dict[str, object]] = [
    {"place": "x'; DROP TABLE entries; --"}, {"place": "NaN"}, {"place": "a\0b"}, {"place": None}, {"place": 1},
    {"document_id": "1"}, {"document_id": None}, {"stage": "first"}, {"stage": "last"}, {"request": 1},
    {"stage": "rest", "place": None},
    {"weights": {"dfs": {"'word'": -1}, "passages": 1, "average_length": 1}},
    {"weights": {"dfs": {"'word'": 1}, "passages": 1e300, "average_length": 1}},
    {"weights": {"dfs": {"'word'": 1}, "passages": 1, "average_length": 0}},
    {"weights": {"dfs": {"'word'": 1}, "passages": 1, "average_length": 1e-320}},
    {"place": "٣"}, {"place": "2020-W01-1"}, {"place": "2020-01-01T00"}, {"place": "2020-01-01 00:00:00+16:30"},
    {"place": "2020-02-30 00:00:00+00"}, {"place": "9" * 19}, {"place": "-1"}, {"place": "1E999"},
    {"point": ""}, {"point": "x"}, {"point": "é"}, {"point": "A" * 200}, {"point": "x" * 20_000}, {"point": 1},
]  # fmt: skip


@pytest.mark.parametrize("sort", list(Sort))
def test_a_forged_cursor_is_refused_or_harmless(index: SearchIndex, sort: Sort):
    index.publish(*(index.entry(f"{n}", "word") for n in range(10)))
    cursor = index.search("word", limit=5, sort=sort).next
    assert cursor is not None
    for changes in FORGERIES:
        with suppress(Invalid):
            index.search("word", limit=5, sort=sort, cursor=_forged(cursor, **changes))


def test_a_cursor_of_another_search_is_refused(many: SearchIndex):
    cursor = many.search("word", limit=5).next
    for other in ({"query": "rare"}, {"sort": Sort.TITLE}, {"collections": frozenset({"default"})}):
        request = {"query": "word", "limit": 5, "cursor": cursor} | other
        with pytest.raises(Invalid) as refusal:
            many.search(**request)
        assert refusal.value.code == "bad_cursor"
