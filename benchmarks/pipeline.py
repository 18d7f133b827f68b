"""`make bench`: what the pipeline does on this machine, as ratios against the raw limit taken in the same run.

2,000 text documents of 5 KB: accepted a second (single, bulk), drained a second against a raw multi-row insert of the
same passages with tsvector and GIN, 202 → searchable at 5 a second, recovery after kill -9, idle cost, memory. The
machine's absolute speed says little; the ratios and the CPU seconds do. fsync stays on.
"""

import argparse
import random
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self
from uuid import uuid4

import psutil
import redis
from sqlalchemy import text

from fencepost.local.postgres import LocalPostgres
from fencepost.local.valkey import LocalValkey
from indexer.extract import Request, extract
from indexer.search.backend import Entry
from indexer.search.postgres import Postgres
from pipeline import contents, indexes
from pipeline.acceptance import Submission, accept
from tests.support.servers import fresh_database, prepare_template
from tests.support.stack import Stack, running
from tests.support.waiting import until
from tests.support.world import World

ALIVE = "SELECT 1 FROM processes WHERE locked_at IS NOT NULL AND ended_at IS NULL AND lost_at IS NULL"
WORDS = (Path(__file__).parent / "words.txt").read_text().split()


@dataclass
class Bench:
    """One run's servers and measurements."""

    world: World
    stack: Stack
    broker_url: str
    documents: int
    results: dict[str, list[float]] = field(default_factory=dict)

    def note(self, name: str, value: float) -> None:
        """Keeps one measurement and prints it."""
        self.results.setdefault(name, []).append(value)
        print(f"  {name:48} {value:10.3f}", flush=True)

    def run(self, measurements: Sequence[Callable[[Self], None]], rounds: int) -> None:
        """Takes all measurements in each round, so that they share the machine's moods, and prints the medians."""
        for round_ in range(rounds):
            print(f"round {round_ + 1} of {rounds}", flush=True)
            for measure in measurements:
                measure(self)
        print("\nmedian of the rounds")
        for name, values in self.results.items():
            print(f"  {name:48} {statistics.median(values):10.3f}   ({min(values):.3f} to {max(values):.3f})")


def document(n: int, size: int = 5000) -> str:
    """English-like text of about so many characters, different for each n."""
    chance = random.Random(n)  # noqa: S311 - reproducible text
    words: list[str] = []
    length = 0
    while length < size:
        word = WORDS[min(int(chance.expovariate(8 / len(WORDS))), len(WORDS) - 1)]
        words.append(word + ("." if chance.random() < 0.08 else ""))
        length += len(words[-1]) + 1
    return " ".join(words)


def accept_single(bench: Bench, seconds: float = 4) -> None:
    """One document a transaction, without HTTP, against one-client commits of one row."""
    with bench.world.engine.connect() as connection:
        connection.execute(text("CREATE TABLE IF NOT EXISTS raw_commits (id bigserial PRIMARY KEY, x text)"))
        connection.commit()
        started, commits = time.monotonic(), 0
        while time.monotonic() - started < seconds / 2:
            connection.execute(text("INSERT INTO raw_commits (x) VALUES ('x')"))
            connection.commit()
            commits += 1
        raw = commits / (time.monotonic() - started)
    bodies = [document(1_000_000 + n).encode() for n in range(2000)]
    started, accepted = time.monotonic(), 0
    while time.monotonic() - started < seconds and accepted < len(bodies):
        submit(bench.world, [bodies[accepted]])
        accepted += 1
    rate = accepted / (time.monotonic() - started)
    bench.note("accepted singly /s", rate)
    bench.note("accepted singly / raw commits", rate / raw)
    clear(bench.world)


def submit(world: World, bodies: list[bytes]) -> None:
    """Accepts documents in one transaction."""
    hashes = {sha256(body).digest(): body for body in bodies}
    with world.engine.begin() as connection:
        contents.store_small(connection, hashes)
        accept(
            connection,
            [Submission(sha256=name, size=len(body), title="bench", filename="a.txt", media_type="text/plain")
             for name, body in hashes.items()],
            partitions=world.settings.partitions,
        )  # fmt: skip


def accept_bulk(bench: Bench, first: int) -> None:
    """100 documents a transaction: fills the queue that `drain` empties."""
    bodies = [document(first + n).encode() for n in range(bench.documents)]
    started = time.monotonic()
    for start in range(0, len(bodies), 100):
        submit(bench.world, bodies[start : start + 100])
    bench.note("accepted in bulk /s", len(bodies) / (time.monotonic() - started))


def raw_insert(bench: Bench, first: int) -> float:
    """The raw limit: the same passages, already extracted, 100 documents a statement, one client."""
    entries = []
    for n in range(bench.documents):
        extraction = extract(Request(content=document(first + n).encode(), filename="a.txt"))
        entries.append(
            Entry(
                uuid4(),
                1,
                False,
                1,
                None,
                "bench",
                "text/plain",
                {},
                datetime(2026, 1, 1, tzinfo=UTC),
                extraction.passages,
            )
        )
    started = time.monotonic()
    for start in range(0, len(entries), 100):
        with bench.world.engine.begin() as connection:
            Postgres().publish(connection, indexes.targets(connection), entries[start : start + 100])
    rate = bench.documents / (time.monotonic() - started)
    clear(bench.world)
    return rate


def drain(bench: Bench, workers: int = 1) -> None:
    """Empties a full queue with real processes that are already warm; the raw limit is taken seconds before."""
    raw = raw_insert(bench, first=random.randrange(10**9))  # noqa: S311 - only to be fresh
    with processes(bench, workers) as started_processes:
        cpu_before = {name: cpu(process) for name, process in started_processes.items()}
        accept_bulk(bench, first=random.randrange(10**9))  # noqa: S311 - the same
        remaining = unfinished(bench.world)
        started = time.monotonic()
        until(lambda: unfinished(bench.world) == 0, seconds=600, what="the drain")
        rate = remaining / (time.monotonic() - started)
        whole = bench.documents
        for name, process in started_processes.items():
            bench.note(f"CPU s per 1000 documents, {name}", (cpu(process) - cpu_before[name]) / whole * 1000)
            if name.startswith("worker"):
                bench.note("worker memory MiB", psutil.Process(process.pid).memory_info().rss / 2**20)
    bench.note(f"drained /s, {workers} worker", rate)
    bench.note(f"drained / raw, {workers} worker", rate / raw)
    clear(bench.world)


def latency(bench: Bench, seconds: float = 12) -> None:
    """202 → searchable at 5 a second through HTTP, from the acceptance to the commit that publishes."""
    import httpx  # noqa: PLC0415 - only here

    with processes(bench, 1), api(bench) as url, httpx.Client(base_url=url) as client:
        client.post("/v1/documents", params={"filename": "w.txt"}, content=b"warm").raise_for_status()
        until(lambda: unfinished(bench.world) == 0)
        for n in range(int(seconds * 5)):
            began = time.monotonic()
            client.post(
                "/v1/documents", params={"filename": f"{n}.txt"}, content=document(n + 77).encode(),
                headers={"Content-Type": "text/plain"},
            ).raise_for_status()  # fmt: skip
            pause(began + 0.2 - time.monotonic())
        until(lambda: unfinished(bench.world) == 0)
        rows = bench.world.rows("""
            SELECT extract(epoch FROM d.published_at - j.accepted_at) * 1000 AS ms,
                   extract(epoch FROM a.started_at - j.accepted_at) * 1000 AS to_lease_ms
            FROM jobs j JOIN documents d USING (document_id) JOIN attempts a USING (job_id)
            ORDER BY j.accepted_at OFFSET 1
        """)
        bench.note("202 to leased p50 ms", statistics.median(float(row["to_lease_ms"]) for row in rows))
    times = sorted(float(row["ms"]) for row in rows)
    bench.note("202 to searchable p50 ms", statistics.median(times))
    bench.note("202 to searchable p90 ms", times[int(len(times) * 0.9)])
    bench.note("202 to searchable p99 ms", times[int(len(times) * 0.99)])
    clear(bench.world)


def recovery(bench: Bench) -> None:
    """Kill -9 of a worker in the middle of its work → its jobs are leased by the other worker."""
    with processes(bench, 1):
        victim = bench.stack.start_armed("kill:after_lease", "worker")
        until(lambda: len(bench.world.rows(ALIVE + " AND kind = 'worker'")) == 2)
        n = 0
        while victim.poll() is None:
            submit(bench.world, [document(5_000_000 + n).encode()])
            n += 1
            pause(0.02)
        died = bench.world.row("SELECT clock_timestamp() AS at")["at"]
        until(lambda: unfinished(bench.world) == 0, seconds=60)
        again = bench.world.row("SELECT max(started_at) AS at FROM attempts WHERE generation > 1")["at"]
    bench.note("recovery after kill -9, s", (again - died).total_seconds())
    clear(bench.world)


def idle(bench: Bench, seconds: float = 10) -> None:
    """What relay, worker and sweeper cost together when there is nothing to do."""
    with processes(bench, 1) as started_processes, redis.Redis.from_url(bench.broker_url) as broker:
        pause(3)
        before = sum(cpu(process) for process in started_processes.values())
        operations = broker.info("stats")["total_commands_processed"]
        pause(seconds)
        bench.note("idle CPU % of a core", (sum(cpu(p) for p in started_processes.values()) - before) / seconds * 100)
        bench.note(
            "idle broker operations /s", (broker.info("stats")["total_commands_processed"] - operations) / seconds
        )


@contextmanager
def processes(bench: Bench, workers: int) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """A relay, workers and a sweeper that are registered; ended afterwards."""
    kinds = ["relay", "sweeper", *(f"worker-{n + 1}" for n in range(workers))]
    started = {name: bench.stack.start(name.partition("-")[0]) for name in kinds}
    until(lambda: len(bench.world.rows(ALIVE)) >= len(kinds), seconds=60)
    pause(1)
    try:
        yield started
    finally:
        bench.stack.close()


@contextmanager
def api(bench: Bench) -> Iterator[str]:
    """An API process on a free port."""
    from fencepost.local.ports import free_port  # noqa: PLC0415 - only here

    port = free_port()
    bench.stack.start("api", FENCEPOST_PORT=str(port))
    url = f"http://127.0.0.1:{port}"
    import httpx  # noqa: PLC0415 - only here

    def answers() -> bool:
        try:
            return httpx.get(f"{url}/health/ready").status_code == 200
        except httpx.TransportError:
            return False

    until(answers, seconds=60)
    yield url


def cpu(process: subprocess.Popen[bytes]) -> float:
    """CPU seconds of a process and its children."""
    whole = psutil.Process(process.pid)
    return sum(sum(p.cpu_times()[:2]) for p in [whole, *whole.children(recursive=True)])


def unfinished(world: World) -> int:
    """Jobs that are not final."""
    return int(world.row("SELECT count(*) AS n FROM jobs WHERE finished_at IS NULL")["n"])


def clear(world: World) -> None:
    """Empties the tables between measurements."""
    world.execute(
        "TRUNCATE documents, jobs, outbox, attempts, contents, results, processes, "
        "fencepost_1_1.entries, fencepost_1_1.passages CASCADE"
    )


def pause(seconds: float) -> None:
    """Waits; a benchmark's pace is no condition to wait for."""
    if seconds > 0:
        time.sleep(seconds)  # noqa: TID251 - see above


MEASUREMENTS = {"accept": accept_single, "drain": drain, "latency": latency, "recovery": recovery, "idle": idle}


def main() -> None:
    """Runs the chosen measurements, interleaved, and prints the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", choices=MEASUREMENTS, default=list(MEASUREMENTS))
    chosen = parser.parse_args()
    with TemporaryDirectory(prefix="fencepost-bench-") as folder:
        path = Path(folder)
        with LocalPostgres(path) as server, LocalValkey(path) as broker:
            prepare_template(server)
            with fresh_database(server) as database, running(database.url, broker.url, path) as stack:
                bench = Bench(World(database.engine), stack, broker.url, chosen.documents)
                bench.run([MEASUREMENTS[name] for name in chosen.only], chosen.rounds)


if __name__ == "__main__":
    main()
