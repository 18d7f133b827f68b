"""Whoever reads documents is killed or stopped at any moment: children, fork servers, workers. Nothing shows of it."""

import contextlib
import os
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple
from uuid import UUID

import psutil
import pytest

from fencepost.local.postgres import LocalPostgres
from fencepost.local.valkey import LocalValkey
from indexer.extract import Limits
from tests.samples import Sample, samples
from tests.support.sessions import shared
from tests.support.stack import Stack
from tests.support.waiting import until
from tests.support.world import World

SHORT_LEASE = {"FENCEPOST_LEASE__SECONDS": "3", "FENCEPOST_LEASE__BEAT_SECONDS": "1"}
DOCUMENTS = 200
KILLS = 12
SEED = 5
_pause = threading.Event()


class Scene(NamedTuple):
    """What was uploaded, how often somebody was killed, what of it still lived at the end, and what lay around."""

    world: World
    uploaded: dict[UUID, Sample]
    killed: Counter[str]
    alive: list[psutil.Process]
    left: list[Path]


@pytest.fixture(scope="module")
def scene(postgres: LocalPostgres, valkey: LocalValkey, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("temporary")
    random = Random(SEED)  # noqa: S311 - the same kills in every run
    with shared(postgres, valkey) as (world, stack):
        stack.variables |= {"TMPDIR": str(folder), **SHORT_LEASE}
        uploaded = uploads(world, random)
        stack.start("relay")
        stack.start("sweeper")
        workers = [stack.start("worker") for _ in range(2)]
        seen: set[psutil.Process] = set()
        killed: Counter[str] = Counter()
        while killed.total() < KILLS and unfinished(world):
            kill_one(random, stack, workers, killed)
            seen |= readers(workers)
            _pause.wait(random.uniform(0.1, 1.5))
        until(lambda: not unfinished(world), seconds=120, what="the end of all jobs")
        seen |= readers(workers)
        for worker in workers:
            worker.kill()
            worker.wait()
        stack.start("worker")  # the next one removes what a killed fork server could not
        with contextlib.suppress(AssertionError):
            until(lambda: not living(seen) and not list(folder.iterdir()), what="the end of all readers")
        yield Scene(world, uploaded, killed, living(seen), list(folder.rglob("*")))


def uploads(world: World, random: Random) -> dict[UUID, Sample]:
    """Uploads samples of every format in any order, some of them twice."""
    fit = [sample for sample in samples() if not sample.large and sample.limits == Limits()]
    chosen = (fit * (1 + DOCUMENTS // len(fit)))[:DOCUMENTS]
    random.shuffle(chosen)
    return {upload(world, str(n), sample): sample for n, sample in enumerate(chosen)}


def upload(world: World, key: str, sample: Sample) -> UUID:
    metadata = {"encoding": sample.encoding} if sample.encoding else {}
    return world.upload(sample.make(), key=key, filename=sample.name, metadata=metadata).document_id


def unfinished(world: World) -> int:
    return int(world.row("SELECT count(*) AS n FROM jobs WHERE state IN ('queued', 'leased', 'retry_wait')")["n"])


def readers(workers: list[subprocess.Popen[bytes]]) -> set[psutil.Process]:
    """All processes below these."""
    found: set[psutil.Process] = set()
    for worker in workers:
        with contextlib.suppress(psutil.NoSuchProcess):
            found |= set(psutil.Process(worker.pid).children(recursive=True))
    return found


def kill_one(random: Random, stack: Stack, workers: list[subprocess.Popen[bytes]], killed: Counter[str]) -> None:
    """Kills a worker or what reads for it, or stops one for a moment."""
    worker = random.choice(workers)
    below = sorted(readers([worker]), key=lambda process: process.pid)
    whom = random.choice(["child", "child", "server", "worker"])
    victims = {"server": below[:1], "child": below[1:], "worker": [psutil.Process(worker.pid)]}[whom]
    if not victims:
        return
    victim = random.choice(victims)
    killed[whom] += 1
    with contextlib.suppress(ProcessLookupError):
        if random.random() < 0.3:
            os.kill(victim.pid, signal.SIGSTOP)
            _pause.wait(random.uniform(0.1, 1))
            os.kill(victim.pid, signal.SIGCONT)
            return
        os.kill(victim.pid, signal.SIGKILL)
    if whom == "worker":
        worker.wait()
        workers[workers.index(worker)] = stack.start("worker")


def living(processes: set[psutil.Process]) -> list[psutil.Process]:
    """Those that are not dead; what the killed workers made is adopted by this very process, which waits for nobody."""
    return [process for process in processes if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]


def test_everything_ended_as_it_would_have_without(scene: Scene) -> None:
    """But for the few whose reader was killed while it read them, a second time and alone; or a member of one."""
    rows = scene.world.rows("""
        SELECT j.document_id, j.state, q.code,
               ARRAY(SELECT CASE WHEN r.facts ? 'left_out' THEN 'extractor_crashed' ELSE r.text_quality END
                     FROM results r WHERE r.sha256 = v.sha256) AS qualities
        FROM jobs j JOIN versions v USING (document_id) LEFT JOIN quarantine q USING (job_id)
    """)
    assert len(rows) == DOCUMENTS
    others = []
    for row in rows:
        expected = scene.uploaded[row["document_id"]].outcome
        found = row["qualities"] if row["state"] == "succeeded" else [row["code"]]
        if expected not in found:
            others.append((scene.uploaded[row["document_id"]].name, *found))
    crashes = scene.world.row("SELECT count(*) AS n FROM attempts WHERE code = 'extractor_crashed'")["n"]
    assert {code for _, *found in others for code in found} <= {"extractor_crashed"}
    assert 2 * len(others) <= crashes <= 2 * scene.killed.total(), "a fork server takes its two children along"
    scene.world.check()


def test_nothing_was_applied_or_stored_twice(scene: Scene) -> None:
    counts = scene.world.row("""
        SELECT (SELECT count(*) FROM fencepost_1_1.entries) AS entries,
               (SELECT count(*) FROM jobs WHERE state = 'succeeded') AS succeeded,
               (SELECT count(*) FROM results) AS results,
               (SELECT count(*) FROM (SELECT DISTINCT sha256, extractor, fingerprint FROM results) AS r) AS keys
    """)
    assert counts["entries"] == counts["succeeded"]
    assert counts["results"] == counts["keys"]


def test_nothing_outlives_the_workers(scene: Scene) -> None:
    assert scene.killed.total() > KILLS // 2, "otherwise this shows little"
    assert scene.alive == []
    assert scene.left == []
