"""Ten times more work than there are hands: whoever only waits is not taken for dead, and nobody hoards."""

import redis

from pipeline.broker import NAMESPACE
from tests.faults.test_slow_documents import SHORT_LEASE
from tests.faults.test_worker_faults import all_succeeded
from tests.support.hostile import endless_pdf
from tests.support.stack import Stack
from tests.support.waiting import until
from tests.support.world import World


def test_waiting_long_behind_busy_workers_fails_nothing(world: World, stack: Stack, broker_url: str) -> None:
    """Each is slow to read, and the last ones wait for longer than a lease."""
    slow = endless_pdf(1)
    jobs = [world.upload(slow + b"\n%% %d" % n, filename=f"slow{n}.pdf").job_id for n in range(10)]
    tight = {"FENCEPOST_SWEEP__RESEND_FIRST_SECONDS": "1", "FENCEPOST_EXTRACT__PROCESSES": "1", **SHORT_LEASE}
    for kind in ("relay", "worker", "sweeper"):
        stack.start(kind, **tight)
    most_fetched = 0

    def done() -> bool:
        nonlocal most_fetched
        most_fetched = max(most_fetched, sum(map(broker.scard, broker.scan_iter(f"{NAMESPACE}:__acks__.*"))))
        return all_succeeded(world, len(jobs))()

    with redis.Redis.from_url(broker_url) as broker:
        until(done, seconds=60, what="the end of all jobs")
    assert most_fetched <= 3, "a process fetches no more messages than it has threads"
    took = world.row("SELECT max(finished_at) - min(accepted_at) AS took FROM jobs")["took"]
    assert took.total_seconds() > 3, "longer than a lease, else this shows nothing"
    assert world.row("SELECT count(*) AS n FROM attempts")["n"] == len(jobs), "each was tried once"
    assert world.rows("SELECT 1 FROM quarantine") == []
    world.check()
