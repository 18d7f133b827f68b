from sqlalchemy import text

from indexer.search import schemas, statistics
from tests.support.search_index import SearchIndex


def maintain(index: SearchIndex) -> None:
    with index.engine.begin() as connection:
        index.backend.maintain(connection)


def fill(index: SearchIndex, documents: int) -> None:
    """Half of the documents have "common", and many words are rare."""
    index.publish(*(index.entry(f"{n}", f"{'common ' if n % 2 else ''}filler rare{n}") for n in range(documents)))
    with index.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE fencepost_1_1.passages"))


def shares(index: SearchIndex) -> dict[str, float]:
    with index.engine.connect() as connection:
        return {row.lexeme: row.share for row in connection.execute(text("SELECT * FROM fencepost_1_1.search_lexemes"))}


def test_common_words_are_known_with_their_share_and_rare_ones_are_not(index: SearchIndex):
    fill(index, 2000)
    maintain(index)
    known = shares(index)
    assert known.keys() == {"common", "filler"}
    assert abs(known["common"] - 0.5) < 0.1
    assert known["filler"] == 1
    with index.engine.connect() as connection:
        schemas.choose_live(connection)
        estimates = statistics.statistics(connection)
    assert 1000 < estimates.passages < 4000
    assert 2 < estimates.average_length < 5


def test_estimates_are_refreshed_when_they_are_old_or_the_index_has_grown(index: SearchIndex):
    fill(index, 1500)
    maintain(index)
    with index.engine.begin() as connection:
        connection.execute(text("DELETE FROM fencepost_1_1.search_lexemes"))
    maintain(index)
    assert shares(index) == {}
    with index.engine.begin() as connection:
        connection.execute(
            text("UPDATE fencepost_1_1.search_statistics SET refreshed_at = refreshed_at - interval '2 hours'")
        )
    maintain(index)
    assert shares(index).keys() == {"common", "filler"}
    with index.engine.begin() as connection:
        connection.execute(text("UPDATE fencepost_1_1.search_statistics SET passages = 100000"))
        connection.execute(text("DELETE FROM fencepost_1_1.search_lexemes"))
    maintain(index)
    assert shares(index).keys() == {"common", "filler"}


def test_words_that_are_common_no_more_are_forgotten(index: SearchIndex):
    fill(index, 1500)
    with index.engine.begin() as connection:
        connection.execute(text("INSERT INTO fencepost_1_1.search_lexemes VALUES ('bygone', 0.9), ('common', 0.1)"))
    maintain(index)
    assert abs(shares(index).get("common", 0) - 0.5) < 0.1
    assert "bygone" not in shares(index)


def test_an_empty_index_is_maintained(index: SearchIndex):
    maintain(index)
    assert shares(index) == {}


def test_two_maintain_at_once_without_waiting(index: SearchIndex):
    fill(index, 1200)
    with index.engine.begin() as one, index.engine.begin() as other:
        index.backend.maintain(one)
        other.execute(text("SET LOCAL lock_timeout = '1s'"))
        index.backend.maintain(other)


def test_ranking_is_the_same_with_estimates_as_with_counts(index: SearchIndex):
    fill(index, 1200)
    before = index.find("common filler rare77", limit=5)
    maintain(index)
    assert index.find("common filler rare77", limit=5)[0] == before[0] == "77"
