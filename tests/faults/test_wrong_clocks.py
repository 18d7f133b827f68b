"""Processes whose clocks are minutes off: the leases are timed by PostgreSQL alone, and nobody loses one."""

import shutil
import subprocess
import sys
import time

import pytest

from pipeline.settings import environment
from tests.faults.test_worker_faults import all_succeeded
from tests.support.hostile import endless_pdf
from tests.support.stack import Stack
from tests.support.waiting import until
from tests.support.world import World

SHORT_LEASE = {
    "FENCEPOST_LEASE__SECONDS": "3",
    "FENCEPOST_LEASE__BEAT_SECONDS": "1",
    "FENCEPOST_EXTRACT__SECONDS": "6",
    "FENCEPOST_BUDGET__ATTEMPT_SECONDS": "60",
}


@pytest.fixture(scope="module")
def library() -> str:
    """The path of libfaketime, as the command `faketime` preloads it."""
    command = shutil.which("faketime")
    if command is None:
        if environment().get("CI"):
            pytest.fail("CI must have faketime: .ci/run installs it")
        pytest.skip("no faketime here; install it to test wrong clocks")
    asked = [command, "-m", "-f", "+0", "sh", "-c", 'echo "$LD_PRELOAD"']
    path = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    shifted = environment() | {"LD_PRELOAD": path, "FAKETIME": "+10m"}
    told = subprocess.run(
        [sys.executable, "-c", "import time; print(time.time())"],
        env=shifted, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert float(told) > time.time() + 500, "it works here"
    return path


def test_ten_minutes_off_in_both_directions(world: World, stack: Stack, library: str) -> None:
    def start(kind: str, shift: str) -> None:
        stack.start(kind, LD_PRELOAD=library, FAKETIME=shift, FAKETIME_DONT_FAKE_MONOTONIC="1", **SHORT_LEASE)

    slow = world.upload(endless_pdf(), filename="slow.pdf").job_id
    for n in range(20):
        world.upload(f"words {n}")
    start("relay", "-10m")
    for kind in ("worker", "sweeper"):
        start(kind, "-10m")
        start(kind, "+10m")
    until(all_succeeded(world, 20), seconds=60, what="the end of all quick jobs")
    until(lambda: world.job(slow)["state"] == "quarantined", seconds=30, what="the end of the slow one")
    attempts = world.rows("SELECT outcome, code, ended_at - started_at AS took FROM attempts")
    assert len(attempts) == 21, "each job was leased once"
    assert {(row["outcome"], row["code"]) for row in attempts} == {
        ("published", None),
        ("rejected", "extractor_timeout"),
    }
    assert max(row["took"] for row in attempts).total_seconds() < 60
    assert world.rows("SELECT 1 FROM processes WHERE lost_at IS NOT NULL") == []
    assert world.rows("SELECT 1 FROM processes WHERE abs(extract(epoch FROM heartbeat_at - now())) > 300") == []
    world.check()
