"""Every answer to a bulk call, by itself: what is written, tried again, given back or refused."""

import threading
from typing import Any

import orjson
import pytest

from pipeline.outcomes import Outcome, Rejected, RetryLater, Superseded
from tests.support.entries import entry
from tests.support.node_index import backend_of
from tests.support.scripted_engine import (
    DROPPED,
    Answer,
    Item,
    Reply,
    ScriptedEngine,
    everything,
    everything_written,
    failure,
    refusal,
    some_items,
)

BUSY = refusal(429, "rejected_execution_exception", "queue is full")
NO_SHARD = refusal(503, "unavailable_shards_exception")
CONFLICT = refusal(409, "version_conflict_engine_exception", "current version [9] is higher than the one provided [1]")
DISK = refusal(429, "cluster_block_exception", "index [x] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block];")  # fmt: skip  # noqa: E501 - as it comes
GONE = refusal(404, "index_not_found_exception", "no such index [live-write] and [require_alias] request flag is [true] and [live-write] is not an alias")  # fmt: skip  # noqa: E501 - as it comes


def publish(
    scripted: ScriptedEngine, count: int, targets: tuple[str, ...] = ("live",), **group: Any
) -> list[Outcome | None]:
    """Publishes so many documents; their outcomes in order."""
    entries = [entry() for _ in range(count)]
    outcomes = backend_of(scripted.url, **group).publish(None, targets, entries)
    assert outcomes.keys() <= {one.document_id for one in entries}
    return [outcomes.get(one.document_id) for one in entries]


def known(version: int | None) -> Answer:
    """What the index has of each document that it is asked for."""
    state = (
        {"found": False} if version is None else {"found": True, "_source": {"version": version, "tombstone": False}}
    )
    return lambda call: Reply(
        body=orjson.dumps({"docs": [{"_id": name, **state} for name in orjson.loads(call.body)["ids"]]})
    )


def test_every_item_has_a_fate_of_its_own(scripted: ScriptedEngine):
    mapper = refusal(
        400, "mapper_parsing_exception", "failed to parse field [x]. Preview of field's value: 'secret text'"
    )
    scripted.script(some_items(201, CONFLICT, mapper, BUSY, 200, NO_SHARD), everything_written, known(9))
    outcomes = publish(scripted, 6)
    assert outcomes[0] is outcomes[3] is outcomes[4] is outcomes[5] is None
    assert outcomes[1] == Superseded()
    assert outcomes[2] == Rejected("index_refused", "OpenSearch answered 400 (mapper_parsing_exception).")
    sent, again, _ = scripted.calls
    assert [action["_id"] for action in again.actions] == [sent.actions[n]["_id"] for n in (3, 5)]


def test_a_call_is_conditional_on_the_version_and_makes_no_index(scripted: ScriptedEngine):
    publish(scripted, 1, ("live", "filling"))
    (call,) = scripted.calls
    assert call.query["require_alias"] == ["true"]
    assert [(action["_index"], action["version"], action["version_type"]) for action in call.actions] == [
        ("live-write", 1, "external_gte"),
        ("filling-write", 1, "external_gte"),
    ]


def test_a_conflict_with_an_entry_that_was_removed_is_tried_again_later(scripted: ScriptedEngine):
    scripted.script(some_items(CONFLICT), known(None))
    (outcome,) = publish(scripted, 1)
    assert isinstance(outcome, RetryLater)
    assert (outcome.code, outcome.refund) == ("index_refused", False)


def test_what_stays_busy_while_others_are_written_counts_against_its_job(scripted: ScriptedEngine):
    scripted.script(some_items(201, BUSY), *[everything(BUSY)] * 3)
    written, busy = publish(scripted, 2)
    assert written is None
    assert busy == RetryLater("index_overloaded", "OpenSearch is overloaded (rejected_execution_exception).")
    assert len(scripted.calls) == 4


@pytest.mark.parametrize(
    "item", [BUSY, NO_SHARD, refusal(429, "circuit_breaking_exception", "[parent] Data too large")]
)
def test_when_everything_is_busy_it_is_nobodys_fault(scripted: ScriptedEngine, item: Item):
    scripted.script(*[everything(item)] * 4)
    outcomes = publish(scripted, 6, bulk_entries=2)
    assert {outcome.code for outcome in outcomes if isinstance(outcome, RetryLater) and outcome.refund} == {
        "index_unavailable"
    }
    assert len(scripted.calls) == 4, "the later batches are not tried"


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (DISK, "The index is read-only (disk); free space on the nodes of OpenSearch."),
        (DISK | {"status": 403}, "The index is read-only (disk); free space on the nodes of OpenSearch."),
        (
            refusal(403, "cluster_block_exception", "index [live] blocked by: [FORBIDDEN/8/index write (api)];"),
            "The index is read-only (FORBIDDEN/8/index write (api)).",
        ),
        (GONE, "The index live is not in OpenSearch any more; `fencepost index rebuild` makes a new one."),
        (
            refusal(400, "index_closed_exception", "closed"),
            "The index is closed; open it again in OpenSearch.",
        ),
        (
            refusal(400, "strict_dynamic_mapping_exception", "mapping set to strict, dynamic introduction of [x]"),
            "The index lacks a field that is written now; run `fencepost index rebuild`.",
        ),
        (
            refusal(400, "illegal_argument_exception", "no write index is defined for alias [live-write]. The write"),
            "A write alias leads to no index that may be written; run `fencepost index rebuild`.",
        ),
        (
            refusal(403, "security_exception", "no permissions for [indices:data/write/bulk] and User [name=bob]"),
            "OpenSearch does not allow this user to do that (security_exception); give it the rights that it needs.",
        ),
    ],
)  # fmt: skip
def test_an_index_that_takes_nothing_pauses_publishing(scripted: ScriptedEngine, item: Item, reason: str):
    scripted.script(everything(item))
    assert publish(scripted, 2) == [RetryLater("index_unavailable", reason, refund=True)] * 2
    assert len(scripted.calls) == 1, "it is not tried again at once"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        pytest.param(failure(429, "circuit_breaking_exception"), "short of memory", id="429"),
        pytest.param(failure(502), "answered 502", id="502"),
        pytest.param(failure(503, "cluster_manager_not_discovered_exception"), "answered 503", id="503"),
        pytest.param(failure(504), "answered 504", id="504"),
        pytest.param(failure(401), "does not know the user", id="401"),
        pytest.param(failure(403, "security_exception"), "does not allow this user", id="403"),
        pytest.param(failure(404), "answered 404", id="404"),
        pytest.param(failure(400, "illegal_argument_exception"), "answered 400", id="400"),
        pytest.param(Reply(502, b"<html>Bad Gateway</html>", "text/html"), "answered 502", id="a proxy's page"),
        pytest.param(Reply(200, b"<html>Welcome</html>", "text/html"), "does not speak like", id="a web page"),
        pytest.param(Reply(200, b'{"items": [{"ind'), "does not speak like", id="half an answer"),
        pytest.param(Reply(200, b'{"items": []}'), "does not speak like", id="too few items"),
        pytest.param(Reply(200, b'{"items": [1, 2, 3]}'), "does not speak like", id="items that are none"),
        pytest.param(Reply(200, b"[]"), "does not speak like", id="a list"),
        pytest.param(Reply(200), "does not speak like", id="nothing"),
        pytest.param(DROPPED, "connection to OpenSearch broke", id="dropped"),
    ],
)  # fmt: skip
def test_a_call_without_answers_gives_back_what_it_did_not_answer(scripted: ScriptedEngine, answer: Answer, words: str):
    scripted.script(everything_written, answer)
    outcomes = publish(scripted, 9, bulk_entries=3)
    assert outcomes[:3] == [None] * 3
    for outcome in outcomes[3:]:
        assert isinstance(outcome, RetryLater)
        assert (outcome.code, outcome.refund) == ("index_unavailable", True)
        assert words in outcome.message
    assert len(scripted.calls) == 2, "neither the client nor we try again, and the third batch waits"


def test_an_engine_that_does_not_answer_in_time(scripted: ScriptedEngine):
    never = threading.Event()
    scripted.script(Reply(waits_for=never))
    (outcome,) = publish(scripted, 1, timeout_seconds=0.3)
    never.set()
    assert outcome == RetryLater("index_unavailable", "OpenSearch did not answer in time.", refund=True)


def test_an_engine_that_is_away():
    document = entry()
    outcomes = backend_of("http://127.0.0.1:9").publish(None, ["live"], [document])
    assert outcomes[document.document_id] == RetryLater(
        "index_unavailable", "OpenSearch cannot be reached.", refund=True
    )


def test_without_an_index_nothing_counts_as_published(scripted: ScriptedEngine):
    (outcome,) = publish(scripted, 1, ())
    assert isinstance(outcome, RetryLater)
    assert (outcome.code, outcome.refund) == ("index_unavailable", True)
    assert scripted.calls == []


def test_of_two_indexes_the_worse_answer_counts(scripted: ScriptedEngine):
    scripted.script(some_items(201, GONE, 201, 201))
    first, second = publish(scripted, 2, ("live", "filling"))
    assert isinstance(first, RetryLater)
    assert second is None
