from uuid import uuid4

import pytest

from indexer.extract.types import Passage
from tests.support.entries import HARD_BODIES
from tests.support.search_index import SearchIndex


def test_a_repeat_succeeds_and_changes_nothing(index: SearchIndex):
    entry = index.entry("a", "lighthouse")
    assert index.publish(entry) == set()
    assert index.publish(entry) == set()
    assert index.find("lighthouse") == ["a"]
    assert index.search("lighthouse").total == 1


def test_an_older_version_is_refused_and_leaves_no_trace(index: SearchIndex):
    assert index.add("a", "lighthouse", version=2)
    assert not index.add("a", "harbour", version=1)
    assert index.find("harbour") == []
    assert index.find("lighthouse") == ["a"]
    assert index.version_of("a") == 2


def test_a_newer_version_replaces_all_of_the_older_one(index: SearchIndex):
    index.add("a", [Passage(f"page{n} lighthouse " + "filler " * 400, n) for n in range(1, 41)], version=1)
    assert index.find("page40") == ["a"]
    index.add("a", [Passage(f"page{n} harbour", n) for n in range(1, 4)], version=2)
    assert index.find("page40") == []
    assert index.find("lighthouse") == []
    assert index.find("page3") == ["a"]


def test_a_late_old_version_cannot_bring_its_later_pages_back(index: SearchIndex):
    old = index.entry("a", [Passage(f"page{n} lighthouse " + "filler " * 400, n) for n in range(1, 41)], version=1)
    index.add("a", [Passage(f"page{n} harbour", n) for n in range(1, 4)], version=2)
    assert index.publish(old) == {old.document_id}
    assert index.find("page40") == []
    assert index.find("lighthouse") == []


def test_one_refused_entry_does_not_stop_the_others(index: SearchIndex):
    index.add("a", "newest", version=5)
    stale = index.entry("a", "stale", version=4)
    assert index.publish(stale, index.entry("b", "fresh"), index.entry("c", "fresh")) == {stale.document_id}
    assert sorted(index.find("fresh")) == ["b", "c"]
    assert index.find("stale") == []


def test_of_two_versions_in_one_batch_the_newer_counts(index: SearchIndex):
    new, old = index.entry("a", "new", version=2), index.entry("a", "old", version=1)
    index.publish(new, old)
    assert index.find("new OR old") == ["a"]
    assert index.find("old") == []


def test_a_tombstone_hides_the_document_everywhere(index: SearchIndex):
    index.add("a", "lighthouse", title="Lighthouse")
    index.add("b", "lighthouse")
    assert index.delete("a", version=2)
    page = index.search("lighthouse")
    assert [hit.key for hit in page.hits] == ["b"]
    assert page.total == 1
    assert [(facet.value, facet.count) for facet in page.facets["media_type"]] == [("text/plain", 1)]
    assert index.version_of("a") == 2


def test_a_late_index_after_a_delete_is_refused(index: SearchIndex):
    index.delete("a", version=2)
    assert not index.add("a", "lighthouse", version=1)
    assert index.find("lighthouse") == []


def test_a_document_may_come_back_after_its_delete(index: SearchIndex):
    index.add("a", "lighthouse")
    index.delete("a", version=2)
    assert index.add("a", "lighthouse again", version=3)
    assert index.find("lighthouse") == ["a"]


def test_a_late_delete_is_refused(index: SearchIndex):
    index.add("a", "lighthouse", version=3)
    assert not index.delete("a", version=2)
    assert index.find("lighthouse") == ["a"]


def test_only_the_tombstone_of_this_version_is_purged(index: SearchIndex):
    index.add("a", "lighthouse")
    with index.engine.begin() as connection:
        assert not index.backend.purge_tombstone(connection, index.ids["a"], 1)
    index.delete("a", version=2)
    with index.engine.begin() as connection:
        assert not index.backend.purge_tombstone(connection, index.ids["a"], 1)
        assert index.backend.purge_tombstone(connection, index.ids["a"], 2)
        assert not index.backend.purge_tombstone(connection, index.ids["a"], 2)
    assert index.version_of("a") is None


def test_versions_of_unknown_documents_are_left_out(index: SearchIndex):
    index.add("a", "lighthouse", version=7)
    with index.engine.connect() as connection:
        assert index.backend.version_of(connection, [index.ids["a"], uuid4()]) == {index.ids["a"]: 7}
        assert index.backend.version_of(connection, []) == {}


def test_publishing_nothing_is_fine(index: SearchIndex):
    assert index.publish() == set()


@pytest.mark.parametrize("body", HARD_BODIES)
def test_no_text_breaks_the_index(index: SearchIndex, body: str):
    assert index.add("a", [Passage(body), Passage(" lastword")])
    assert index.find("lastword") == ["a"]


def test_long_titles_keys_and_metadata_fit(index: SearchIndex):
    words = {f"field{n}": f"value{n}" * 20 for n in range(2000)}
    assert index.add("k" * 1000, "lighthouse", title="title " * 100_000, metadata=words | {"long": "x" * 100_000})
    assert index.find("title lighthouse") == ["k" * 1000]
    assert index.find("lighthouse", metadata={"field77": frozenset({words["field77"]})}) == ["k" * 1000]
