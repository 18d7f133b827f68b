"""How much goes into one call, and what becomes of what is too large."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
import pytest

from indexer.search.opensearch.bulk import Publisher
from indexer.search.opensearch.connection import connect
from indexer.search.opensearch.limiter import Limiter
from pipeline.outcomes import Rejected, RetryLater, is_outage
from pipeline.settings import OpenSearch, Settings
from tests.support.entries import entry
from tests.support.node_index import backend_of
from tests.support.scripted_engine import (
    DROPPED,
    Answer,
    Reply,
    ScriptedEngine,
    everything,
    everything_written,
    failure,
    refusal,
)
from tests.support.waiting import until

KB = 1000
NOT_THERE = Reply(body=b'{"docs": []}')
"""Whether an earlier try has written a giant is asked first."""
TOO_LARGE = Rejected("index_payload_too_large", "The engine takes no request as large as this document's entry.")


def test_batches_are_cut_by_bytes_and_by_count(scripted: ScriptedEngine):
    large, small = [entry("x " * 2 * KB) for _ in range(10)], [entry() for _ in range(10)]
    assert backend_of(scripted.url, bulk_bytes=20 * KB, bulk_entries=7).publish(None, ["live"], large + small) == {}
    assert [len(call.actions) for call in scripted.calls] == [2, 2, 2, 2, 7, 5]
    assert max(len(call.body) for call in scripted.calls[:4]) < 20 * KB
    sent = [action["_id"] for call in scripted.calls for action in call.actions]
    assert sent == [str(one.document_id) for one in large + small]


def test_an_empty_list_asks_nothing(scripted: ScriptedEngine):
    assert backend_of(scripted.url).publish(None, ["live"], []) == {}
    assert scripted.calls == []


def test_a_call_that_is_too_large_is_halved_until_the_one_is_known(scripted: ScriptedEngine):
    scripted.largest = 30 * KB
    entries = [entry("x " * (20 * KB if n == 5 else KB)) for n in range(8)]
    outcomes = backend_of(scripted.url).publish(None, ["live"], entries)
    assert outcomes == {entries[5].document_id: TOO_LARGE}
    written = [action["_id"] for call in scripted.calls if len(call.body) <= 30 * KB for action in call.actions]
    assert sorted(written) == sorted(str(one.document_id) for n, one in enumerate(entries) if n != 5)


def test_an_entry_over_the_limit_is_never_sent(scripted: ScriptedEngine):
    giant, small = entry("x " * 50 * KB), entry()
    outcomes = backend_of(scripted.url, entry_bytes=100 * KB).publish(None, ["live"], [giant, small])
    assert outcomes == {giant.document_id: TOO_LARGE}
    assert [action["_id"] for call in scripted.calls for action in call.actions] == [str(small.document_id)]


IN_TROUBLE = pytest.mark.parametrize(
    "answer",
    [
        pytest.param(failure(429, "circuit_breaking_exception"), id="no memory for the call"),
        pytest.param(failure(503), id="503"),
        pytest.param(DROPPED, id="dropped"),
        pytest.param(Reply(waits_for=threading.Event()), id="no answer in time"),
    ],
)


@IN_TROUBLE
def test_trouble_with_a_giant_alone_is_its_own(scripted: ScriptedEngine, answer: Answer):
    scripted.script(everything_written, NOT_THERE, answer, everything_written)
    before, giant, after = entry(), entry("x " * 50 * KB), entry()
    backend = backend_of(scripted.url, bulk_bytes=20 * KB, timeout_seconds=0.5)
    outcomes = backend.publish(None, ["live"], [before, giant, after])
    assert outcomes.keys() == {giant.document_id}
    outcome = outcomes[giant.document_id]
    assert isinstance(outcome, RetryLater)
    assert (outcome.code, outcome.refund) == ("index_refused", False)


@IN_TROUBLE
def test_an_outage_costs_a_giant_one_attempt_and_everybody_waits_for_its_end(scripted: ScriptedEngine, answer: Answer):
    scripted.script(everything_written, NOT_THERE, answer, answer)
    before, giant, after = entry(), entry("x " * 50 * KB), entry()
    backend = backend_of(scripted.url, bulk_bytes=20 * KB, timeout_seconds=0.5)
    outcomes = backend.publish(None, ["live", "new"], [before, giant, after])
    assert all(isinstance(outcome, RetryLater) and is_outage(outcome) for outcome in outcomes.values())
    refunds = {one: outcome.refund for one, outcome in outcomes.items() if isinstance(outcome, RetryLater)}
    assert refunds == {giant.document_id: False, after.document_id: True}
    assert len(scripted.calls) == 4, "the rest was not tried"


def test_a_giant_that_was_written_after_all_is_not_sent_again(scripted: ScriptedEngine):
    giant, other = entry("x " * 50 * KB), entry("y " * 50 * KB)
    there = [
        {"_id": str(one.document_id), "found": True, "_source": {"version": version, "tombstone": False}}
        for one, version in ((giant, giant.version), (other, other.version - 1))
    ]
    scripted.script(*[Reply(body=orjson.dumps({"docs": [state]})) for state in there])
    assert backend_of(scripted.url, bulk_bytes=20 * KB).publish(None, ["live"], [giant, other]) == {}
    assert [call.path for call in scripted.calls] == ["/live/_mget", "/live/_mget", "/_bulk"]
    assert [action["_id"] for action in scripted.calls[-1].actions] == [str(other.document_id)]


PRESSURE = (
    "rejected execution of coordinating operation [coordinating_and_primary_bytes=0, replica_bytes=0, all_bytes=0, "
    "coordinating_operation_bytes=66500000, max_coordinating_and_primary_bytes={}]"
)
BREAKER = (
    "[parent] Data too large, data for [<http_request>] would be [99000000/94.4mb], which is larger than the limit of "
    "[{}/50mb], real usage: [1/1b], new bytes reserved: [99000000/94.4mb]"
)
NO_ROOM = pytest.mark.parametrize(
    ("kind", "reason"),
    [("rejected_execution_exception", PRESSURE), ("circuit_breaking_exception", BREAKER)],
    ids=["indexing pressure", "breaker"],
)


@NO_ROOM
@pytest.mark.parametrize("where", ["call", "item"])
def test_what_can_never_fit_is_refused_at_once(scripted: ScriptedEngine, kind: str, reason: str, where: str):
    why = reason.format(90 * KB)
    refused = failure(429, kind, why) if where == "call" else everything(refusal(429, kind, why))
    scripted.script(NOT_THERE, refused, everything_written)
    giant, after = entry("x " * 50 * KB), entry()
    outcomes = backend_of(scripted.url, bulk_bytes=20 * KB).publish(None, ["live"], [giant, after])
    outcome = outcomes.pop(giant.document_id)
    assert isinstance(outcome, Rejected)
    assert outcome.code == "index_payload_too_large"
    assert outcome.message.startswith("OpenSearch has room for 0.1 MB at a time; this document's entry has 0.")
    assert outcomes == {}
    assert len(scripted.calls) == 3, "it is sent once"


@NO_ROOM
def test_what_would_fit_at_another_time_is_not_refused(scripted: ScriptedEngine, kind: str, reason: str):
    refused = failure(429, kind, reason.format(10**9))
    scripted.script(NOT_THERE, refused, everything_written)
    giant = entry("x " * 50 * KB)
    outcomes = backend_of(scripted.url, bulk_bytes=20 * KB).publish(None, ["live"], [giant])
    assert isinstance(outcomes[giant.document_id], RetryLater)


@NO_ROOM
def test_a_call_for_which_there_is_never_room_is_halved(scripted: ScriptedEngine, kind: str, reason: str):
    scripted.script(failure(429, kind, reason.format(30 * KB)))
    entries = [entry("x " * 10 * KB) for _ in range(2)]
    assert backend_of(scripted.url).publish(None, ["live"], entries) == {}
    assert [len(call.actions) for call in scripted.calls] == [2, 1, 1]


def test_a_giant_that_has_no_room_for_ever_spends_its_attempts(scripted: ScriptedEngine):
    scripted.script(NOT_THERE, *[everything(refusal(429, "circuit_breaking_exception"))] * 4)
    giant = entry("x " * 50 * KB)
    outcome = backend_of(scripted.url, bulk_bytes=20 * KB).publish(None, ["live"], [giant])[giant.document_id]
    assert isinstance(outcome, RetryLater)
    assert (outcome.code, outcome.refund) == ("index_refused", False)


def test_an_engine_that_is_away_is_not_the_giants_fault():
    giant = entry("x " * 50 * KB)
    outcome = backend_of("http://127.0.0.1:9", bulk_bytes=20 * KB).publish(None, ["live"], [giant])[giant.document_id]
    assert isinstance(outcome, RetryLater)
    assert outcome.refund


def publisher(scripted: ScriptedEngine, **group: Any) -> Publisher:
    settings = Settings(opensearch_url=scripted.url, opensearch=OpenSearch(**group))
    return Publisher(connect(settings), settings.opensearch)


def test_threads_share_the_limit_of_calls_under_way(scripted: ScriptedEngine):
    gate = threading.Event()
    scripted.script(*[_held(gate)] * 8)
    shared = publisher(scripted, concurrency=3)
    with ThreadPoolExecutor(8) as threads:
        done = [threads.submit(shared.publish, ["live"], [entry()]) for _ in range(8)]
        until(lambda: scripted.most_at_once == 3)
        gate.set()
        assert [future.result() for future in done] == [{}] * 8
    assert scripted.most_at_once == 3


def test_an_overloaded_engine_gets_fewer_calls_at_a_time(scripted: ScriptedEngine):
    shared = publisher(scripted, concurrency=4)
    scripted.script(everything(refusal(429, "rejected_execution_exception")), everything_written)
    assert shared.publish(["live"], [entry()]) == {}
    assert shared.limiter.limit == 2
    scripted.script(failure(429))
    shared.publish(["live"], [entry()])
    assert shared.limiter.limit == 1


def test_the_limit_grows_slowly_back_to_where_it_began():
    limiter = Limiter(4)
    for _ in range(5):
        limiter.overloaded()
    assert limiter.limit == 1
    for _ in range(9):
        limiter.went_well()
    assert limiter.limit == 1
    for _ in range(100):
        limiter.went_well()
    assert limiter.limit == 4


def _held(gate: threading.Event) -> Answer:
    return lambda call: Reply(body=everything(201)(call).body, waits_for=gate)
