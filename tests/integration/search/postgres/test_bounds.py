import pytest

from indexer.search import postgres_search
from indexer.search.backend import Sort
from tests.support.search_index import SearchIndex


@pytest.mark.parametrize("sort", list(Sort))
@pytest.mark.parametrize("limit", [1, 7, 40])
def test_paging_goes_on_after_the_candidates(
    index: SearchIndex, sort: Sort, limit: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(postgres_search, "MOST_CANDIDATES", 40)
    monkeypatch.setattr(postgres_search, "POOL", 10)
    index.publish(
        *(
            index.entry(f"{n}", "word " * (1 + n % 7) + ("rare " if n % 10 == 0 else "") + "filler " * (n % 13),
                        title=f"Title {n % 50:02}" if n % 3 else f"word {n % 50}")
            for n in range(250)
        )
    )  # fmt: skip
    hits = index.walk("word rare", limit=limit, sort=sort)
    assert len(hits) == len({hit.key for hit in hits}) == 250
