"""Publishing on a real node: conditional writes, tombstones, restarts, blocks, and hard documents."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from fencepost.local.opensearch import LocalOpenSearch
from indexer.extract.types import Passage
from indexer.search.backend import EntryState
from pipeline.errors import IndexUnavailable
from pipeline.outcomes import Outcome, Rejected, RetryLater, Superseded
from tests.support.entries import HARD_BODIES, entry, tombstone
from tests.support.node_index import NOWHERE, NodeIndex
from tests.support.waiting import until

DISK = "The index is read-only (disk); free space on the nodes of OpenSearch."


def only(outcomes: dict[UUID, Outcome]) -> Outcome:
    (outcome,) = outcomes.values()
    return outcome


def test_a_repeat_is_written_and_an_older_version_is_refused(node: NodeIndex):
    document = uuid4()
    assert node.publish(entry("harbour", 2, document_id=document)) == {}
    assert node.publish(entry("harbour", 2, document_id=document)) == {}
    assert node.publish(entry("lighthouse", 1, document_id=document)) == {document: Superseded()}
    assert node.found("harbour") == [document]
    assert node.found("lighthouse") == []


def test_of_two_versions_in_one_call_the_newer_counts(node: NodeIndex):
    document = uuid4()
    assert node.publish(entry("new", 2, document_id=document), entry("old", 1, document_id=document)) == {}
    assert node.state(document) == EntryState(document, 2, tombstone=False)


def test_a_late_version_after_a_delete_is_refused_even_when_the_engine_restarted(
    node: NodeIndex, opensearch: LocalOpenSearch
):
    document = uuid4()
    node.publish(entry("lighthouse", 2, document_id=document))
    assert node.publish(tombstone(document, 3)) == {}
    assert node.publish(entry("lighthouse", 2, document_id=document)) == {document: Superseded()}
    opensearch.restart()
    until(lambda: node.publish(entry("lighthouse", 2, document_id=document)) == {document: Superseded()})
    assert node.state(document) == EntryState(document, 3, tombstone=True)
    assert node.found("lighthouse") == []
    assert node.publish(entry("again", 4, document_id=document)) == {}
    assert node.found("again") == [document]


def test_the_engines_memory_of_deletes_is_not_needed(node: NodeIndex):
    node.settings(index__gc_deletes="0s")
    document = uuid4()
    node.publish(tombstone(document, 2))
    node.ask("POST", f"/{node.name}/_refresh")
    node.ask("POST", f"/{node.name}/_flush")
    assert node.publish(entry("lighthouse", 1, document_id=document)) == {document: Superseded()}


def test_an_entry_that_somebody_removed_can_be_published_again(node: NodeIndex):
    document = uuid4()
    node.publish(entry("lighthouse", 5, document_id=document))
    node.ask("DELETE", f"/{node.name}/_doc/{document}")
    outcome = node.publish(entry("lighthouse", 5, document_id=document)).get(document)
    assert outcome is None or isinstance(outcome, RetryLater), "the removed entry is never taken for a newer one"
    until(lambda: node.publish(entry("lighthouse", 5, document_id=document)) == {})
    assert node.state(document) == EntryState(document, 5, tombstone=False)


def test_an_index_that_was_wiped_is_not_made_anew(node: NodeIndex):
    node.ask("PUT", "/_cluster/settings", {"transient": {"action.auto_create_index": "true"}})
    node.ask("DELETE", f"/{node.name}")
    outcome = only(node.publish(entry()))
    assert outcome == RetryLater(
        "index_unavailable",
        f"The index {node.name} is not in OpenSearch any more; `fencepost index rebuild` makes a new one.",
        refund=True,
    )
    with pytest.raises(IndexUnavailable, match="not in OpenSearch any more"):
        node.backend.probe([node.name])
    with pytest.raises(IndexUnavailable, match="not in OpenSearch any more"):
        node.state(uuid4())
    with pytest.raises(IndexUnavailable, match="not in OpenSearch any more"):
        node.backend.remove(NOWHERE, node.name, EntryState(uuid4(), 1, tombstone=False))
    assert node.http.head(f"/{node.name}").status_code == 404


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("index.blocks.read_only_allow_delete", DISK),
        ("index.blocks.write", "The index is read-only (FORBIDDEN/8/index write (api))."),
        ("index.blocks.read_only", "The index is read-only (FORBIDDEN/5/index read-only (api))."),
    ],
)  # fmt: skip
def test_a_read_only_index_pauses_publishing_until_the_block_is_gone(node: NodeIndex, block: str, reason: str):
    node.backend.probe([node.name])
    node.settings(**{block: True})
    assert only(node.publish(entry())) == RetryLater("index_unavailable", reason, refund=True)
    with pytest.raises(IndexUnavailable) as raised:
        node.backend.probe([node.name])
    assert str(raised.value) == reason
    node.settings(**{block: None})
    node.backend.probe([node.name])
    assert node.publish(entry()) == {}


def test_a_closed_index_pauses_publishing_until_it_is_opened(node: NodeIndex):
    node.http.post(f"/{node.name}/_close").raise_for_status()
    reason = "The index is closed; open it again in OpenSearch."
    assert only(node.publish(entry())) == RetryLater("index_unavailable", reason, refund=True)
    with pytest.raises(IndexUnavailable, match="is closed"):
        node.backend.probe([node.name])
    node.http.post(f"/{node.name}/_open").raise_for_status()
    node.backend.probe([node.name])
    assert node.publish(entry()) == {}


def test_the_probes_entry_is_seen_by_nobody(node: NodeIndex):
    node.backend.probe([node.name])
    node.backend.probe([node.name])
    assert node.backend.states_after(NOWHERE, node.name, None, 10) == []


def test_entries_come_in_the_order_of_documents_page_by_page(node: NodeIndex):
    entries = [entry("x", n + 1, tombstone=n % 3 == 0) for n in range(25)]
    node.publish(*entries)
    expected = sorted(EntryState(one.document_id, one.version, one.tombstone) for one in entries)
    seen: list[EntryState] = []
    while page := node.backend.states_after(NOWHERE, node.name, seen[-1].document_id if seen else None, 10):
        seen += page
    assert seen == expected
    assert sorted(node.backend.states_of(NOWHERE, node.name, [one.document_id for one in entries])) == expected


def test_an_entry_is_removed_only_if_it_is_as_told(node: NodeIndex):
    document = uuid4()
    node.publish(entry("lighthouse", 3, document_id=document))
    assert not node.backend.remove(NOWHERE, node.name, EntryState(document, 2, tombstone=False))
    assert not node.backend.remove(NOWHERE, node.name, EntryState(document, 3, tombstone=True))
    assert not node.backend.remove(NOWHERE, node.name, EntryState(uuid4(), 3, tombstone=False))
    assert node.found("lighthouse") == [document]
    assert node.backend.remove(NOWHERE, node.name, EntryState(document, 3, tombstone=False))
    assert not node.backend.remove(NOWHERE, node.name, EntryState(document, 3, tombstone=False))
    assert node.state(document) is None


def test_an_entry_that_changes_meanwhile_is_not_removed(node: NodeIndex, monkeypatch: pytest.MonkeyPatch):
    document = uuid4()
    node.publish(entry("lighthouse", 3, document_id=document))
    delete = node.backend._client.delete

    def late(**request: Any) -> Any:
        node.publish(entry("harbour", 4, document_id=document))
        return delete(**request)

    monkeypatch.setattr(node.backend._client, "delete", late)
    assert not node.backend.remove(NOWHERE, node.name, EntryState(document, 3, tombstone=False))
    assert node.found("harbour") == [document]


def test_a_tombstone_keeps_nothing_of_the_document(node: NodeIndex):
    document = uuid4()
    node.publish(entry("secret", document_id=document, title="Secret", metadata={"name": "secret"}))
    node.publish(entry("secret", 2, document_id=document, tombstone=True, title="Secret", metadata={"name": "secret"}))
    source = node.ask("GET", f"/{node.name}/_doc/{document}")["_source"]
    assert source == {"document_id": str(document), "version": 2, "tombstone": True, "collection_id": 1}
    assert node.found("secret") == node.found("secret", "words") == []


def test_a_field_that_the_mapping_lacks_pauses_publishing(node: NodeIndex):
    other = node.name.replace("-1", "-2")
    few = {"dynamic": "strict", "properties": {"version": {"type": "long"}}}
    node.http.delete(f"/_index_template/{node.prefix}")
    node.ask("PUT", f"/{other}", {"aliases": {f"{other}-write": {}}, "mappings": few})
    outcome = only(node.backend.publish(None, [other], [entry()]))
    assert isinstance(outcome, RetryLater)
    assert (outcome.code, outcome.refund) == ("index_unavailable", True)
    assert "lacks a field" in outcome.message


def test_four_million_characters(node: NodeIndex):
    document = entry(
        [Passage(f"page{n} " + "harbour lights " * 80, n) for n in range(1, 3301)] + [Passage(" lastword")]
    )
    assert node.publish(document, entry("small")) == {}
    assert node.found("page3300") == node.found("lastword") == [document.document_id]


def test_ten_thousand_members_and_twenty_million_characters(node: NodeIndex):
    members = entry([Passage(f"member{n} text", member=f"folder/{n}.txt") for n in range(10_000)])
    assert node.publish(members) == {}
    assert node.found("member9999") == [members.document_id]
    long = entry([Passage("lighthouse keeper " * 70, n) for n in range(15_880)] + [Passage(" lastword")])
    assert node.publish(long) == {}
    assert node.found("lastword") == [long.document_id]


def test_an_entry_that_the_node_takes_in_no_request(node: NodeIndex):
    """The node takes 100 MB; the settings would allow more."""
    careless = NodeIndex(node.url, node.prefix, node.physical, bulk_bytes=200_000_000, entry_bytes=200_000_000)
    giant, small = entry("lighthouse " * 5_000_000), [entry("small") for _ in range(4)]
    outcomes = careless.publish(*small[:2], giant, *small[2:])
    assert outcomes.keys() == {giant.document_id}
    assert isinstance(outcomes[giant.document_id], Rejected)
    assert sorted(node.found("small")) == sorted(one.document_id for one in small)


def test_an_entry_that_the_node_never_has_memory_for_is_refused_and_pauses_nobody(node: NodeIndex):
    """Indexing may use a tenth of the heap, which is half a gigabyte; this entry has 67 MB."""
    giant, small = entry("lighthouse " * 3_200_000), entry("small")
    outcomes = node.publish(giant, small)
    outcome = only(outcomes)
    assert outcomes.keys() == {giant.document_id}
    assert isinstance(outcome, Rejected)
    assert outcome.code == "index_payload_too_large"
    assert node.found("small") == [small.document_id]


@pytest.mark.parametrize("body", HARD_BODIES)
def test_no_text_breaks_the_index(node: NodeIndex, body: str):
    document = entry([Passage(body), Passage(" lastword")], title="t" * 1000, key="ü" * 500)
    assert node.publish(document) == {}
    assert node.found("lastword") == [document.document_id]


@pytest.mark.parametrize(
    "metadata",
    [
        pytest.param({f"field{n}": f"value{n}" for n in range(2000)}, id="two thousand fields"),
        pytest.param({"long": "x" * 60_000}, id="a value of 60,000 bytes"),
        pytest.param({"日" * 20_000: "x"}, id="a name of 60,000 bytes"),
        pytest.param({"a": {"b" * 900: {"c" * 900: {"d" * 9000: "é" * 20_000}}}}, id="long names in each other"),
        pytest.param({"": 1, ".": 2, "a..b": 3, " ": 4, "a.b": 5, "=": 6, "*": 7, "_id": 8}, id="odd names"),
        pytest.param({"a": {"b": 1}, "a.b": [1, "two", None, 2.5, True, {"c": [[]]}]}, id="odd values"),
        pytest.param({"n": 2**63, "m": -(2**63), "f": 1e300, "tiny": 5e-324}, id="large numbers"),
    ],
)
def test_no_metadata_breaks_the_index(node: NodeIndex, metadata: dict[str, object]):
    document = entry(metadata=metadata)
    assert node.publish(document) == {}
    assert node.state(document.document_id)


def test_metadata_is_found_by_its_value(node: NodeIndex):
    document = entry(metadata={"author": "Ada", "pages": 12, "rate": 5.0, "draft": False, "tags": ["sea", "storm"]})
    node.publish(document)
    node.ask("POST", f"/{node.name}/_refresh")
    for name, value in (("author", "Ada"), ("pages", "12"), ("rate", "5"), ("draft", "false"), ("tags", "storm")):
        body = {"query": {"term": {f"metadata.{name}": value}}}
        assert node.ask("POST", f"/{node.name}/_count", body)["count"] == 1, name


def test_an_entry_that_is_too_large_is_refused_and_others_are_written(node: NodeIndex):
    limited = NodeIndex(node.url, node.prefix, node.physical, entry_bytes=100_000)
    giant, small = entry("x " * 100_000), entry("small")
    outcomes = limited.publish(giant, small)
    assert outcomes.keys() == {giant.document_id}
    assert isinstance(outcomes[giant.document_id], Rejected)
    assert node.found("small") == [small.document_id]
