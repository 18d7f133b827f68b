from sqlalchemy import text

from pipeline import indexes
from tests.support.search_index import SearchIndex


def test_nothing_is_committed_before_the_caller_commits(index: SearchIndex):
    with index.engine.connect() as connection:
        index.backend.publish(connection, indexes.targets(connection), [index.entry("a", "lighthouse")])
        connection.rollback()
    assert index.find("lighthouse") == []


def test_two_transactions_publish_the_same_new_kinds_at_once(index: SearchIndex):
    kinds = ["text/a", "text/b"]
    with index.engine.connect() as connection:
        targets = indexes.targets(connection)
        index.backend.publish(connection, targets, [index.entry("1", "word", media_type=kinds[1])])
        connection.execute(text("SET LOCAL lock_timeout = '5s'"))
        with index.engine.connect() as other:
            index.backend.publish(other, targets, [index.entry("2", "word", media_type=kinds[0])])
            other.commit()
        index.backend.publish(connection, targets, [index.entry("3", "word", media_type=kinds[0])])
        connection.commit()
    assert sorted(index.find("word")) == ["1", "2", "3"]
