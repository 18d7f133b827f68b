"""`make bench-extraction`: what reading documents costs, and what a hostile one costs the others.

Documents a second by format through the pool, what the isolation adds to each, and then the real pipeline with 1,000
good documents at a steady pace: alone, beside one that hangs asleep, beside one that works without end, and beside a
process that has nothing to do with us and works without end, which shows what a busy core costs by itself. Whatever is
compared is taken in turns, for the machine is shared.
"""

import argparse
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import psutil

from benchmarks.pipeline import ALIVE, Bench, api, clear, document, pause, unfinished
from fencepost.local.postgres import LocalPostgres
from fencepost.local.valkey import LocalValkey
from fencepost.samples import files
from indexer.extract import Request, extract
from indexer.extract.isolation import sandbox
from indexer.extract.isolation.pool import ExtractionPool
from pipeline.outcomes import TextQuality
from pipeline.settings import Extract
from tests.samples import samples
from tests.support import documents, hostile
from tests.support.servers import fresh_database, prepare_template
from tests.support.stack import running
from tests.support.waiting import until
from tests.support.world import World

MIB = 1024 * 1024
_WARM = 10


TINY = Request(documents.pdf([["a short letter"]]), "letter.pdf")
ALONE, ASLEEP, AT_WORK, STRANGER = "alone", "asleep", "at work", "beside a stranger"


@dataclass
class Results:
    """All measurements by name."""

    values: dict[str, list[float]] = field(default_factory=dict)

    def note(self, name: str, value: float) -> None:
        """Keeps one measurement and prints it."""
        self.values.setdefault(name, []).append(value)
        print(f"  {name:60} {value:10.3f}", flush=True)

    def median(self, name: str) -> float:
        """The middle of what was measured."""
        return statistics.median(self.values[name])

    def print(self) -> None:
        """The medians, with what was lowest and highest."""
        print("\nmedian of the rounds")
        for name, values in self.values.items():
            print(f"  {name:60} {statistics.median(values):10.3f}   ({min(values):.3f} to {max(values):.3f})")


def formats(results: Results, seconds: float = 1.5) -> None:
    """Documents and megabytes a second of each format on all cores, and the most memory that a child has had."""
    readable = [
        *((path.name, path.read_bytes()) for path in files()),
        *((s.name, s.make()) for s in samples() if not s.large and s.outcome in set(TextQuality)),
    ]
    most = 0
    for name, group in groupby(sorted(readable, key=_format), _format):
        requests = [Request(content, filename) for filename, content in group]
        with ExtractionPool(Extract(processes=os.cpu_count() or 1)) as pool:
            wait([pool.submit(request) for request in requests])
            done, started = 0, time.monotonic()
            while time.monotonic() - started < seconds:
                wait([pool.submit(request) for request in requests])
                done += 1
            took = time.monotonic() - started
            most = max([most, *(_peak_bytes(child.pid) for child in pool._idle)])  # noqa: SLF001 - to look at it
        results.note(f"{name}: documents /s", done * len(requests) / took)
        results.note(f"{name}: MB /s", done * sum(len(request.content) for request in requests) / took / 1e6)  # type: ignore[arg-type] # bytes
    results.note("most memory of a child over all samples, MiB", most / MIB)


def isolation(results: Results, turns: int = 300) -> None:
    """A tiny PDF in a warm pool, minus the same in this process; in turns."""
    inside, outside, cpu = [], [], 0.0
    with ExtractionPool(Extract(processes=1, documents_per_process=10**6)) as pool:
        for _ in range(20):
            pool.submit(TINY).result()
            extract(TINY)
        for _ in range(turns):
            started, worked = time.perf_counter(), time.process_time()
            pool.submit(TINY).result()
            outside.append(time.perf_counter() - started)
            cpu += time.process_time() - worked
            started = time.perf_counter()
            extract(TINY)
            inside.append(time.perf_counter() - started)
    results.note("tiny PDF in this process, ms", statistics.median(inside) * 1000)
    results.note("isolation adds, ms", (statistics.median(outside) - statistics.median(inside)) * 1000)
    results.note("isolation: CPU of the worker, ms", cpu / turns * 1000)
    fresh = []
    with ExtractionPool(Extract(processes=1, documents_per_process=1)) as pool:
        pool.submit(TINY).result()
        for _ in range(20):
            started = time.perf_counter()
            pool.submit(TINY).result()
            fresh.append(time.perf_counter() - started)
    results.note("tiny PDF in a fresh child, ms", statistics.median(fresh) * 1000)


def plain_text(results: Results, turns: int = 20) -> None:
    """Processor time of the worker for texts of 5 KB, which it reads itself.

    Our licence is prose. Our documentation has tables, which are hard to cut. The made-up ones have few of the small
    words that tell a language, so that half of them need a second look. In turns with them a bare loop is measured,
    which says how fast this interpreter is just now: the same Python of another build, or in another hour, is up to
    twice as fast.
    """
    ours = Path(__file__).parents[1]
    texts = {
        "prose": _pieces((ours / "LICENSE").read_text()),
        "documentation": _pieces("".join(path.read_text() for path in sorted((ours / "docs").glob("*.md")))),
        "made up": [document(n) for n in range(100)],
    }
    with ExtractionPool(Extract()) as pool:
        for name, of_a_name in texts.items():
            requests = [Request(text.encode(), "a.txt") for text in of_a_name]
            _cpu_each(requests, lambda request: pool.submit(request).result())
            taken = [
                (
                    _cpu_each(requests, lambda request: pool.submit(request).result()),
                    _cpu_each(requests, extract),
                    _additions(),
                )
                for _ in range(turns)
            ]
            took, inside, bare = (sum(column) / turns for column in zip(*taken, strict=True))
            results.note(f"plain text of 5 KB, {name}: CPU of the worker, ms", took * 1000)
            results.note(f"plain text of 5 KB, {name}: of that, the pool adds, ms", (took - inside) * 1000)
            results.note(f"plain text of 5 KB, {name}: times 1,000 additions", took / bare)


def _pieces(text: str) -> list[str]:
    last = len(text) - 5000
    return [text[last * n // 99 : last * n // 99 + 5000] for n in range(100)]


def _cpu_each(requests: list[Request], read: Callable[[Request], object]) -> float:
    """Processor seconds for one of them."""
    started = time.process_time()
    for request in requests:
        read(request)
    return (time.process_time() - started) / len(requests)


def _additions(times: int = 100) -> float:
    started = time.process_time()
    for _ in range(times):
        total = 0
        for n in range(1000):
            total += n
    return (time.process_time() - started) / times


def book(results: Results) -> None:
    """A PDF of 300 pages, 40 lines each."""
    pages = [
        [f"line {line} of page {page}: " + "words and more words " * 3 for line in range(40)] for page in range(300)
    ]
    request = Request(documents.pdf(pages), "book.pdf")
    with ExtractionPool(Extract(processes=1)) as pool:
        pool.submit(TINY).result()
        started = time.monotonic()
        pool.submit(request).result()
        results.note("PDF of 300 pages, s", time.monotonic() - started)


def hostility(results: Results, count: int, pace: float, rounds: int) -> None:
    """The pipeline alone, beside a document that sleeps or works without end, and beside a stranger, in turns."""
    with TemporaryDirectory(prefix="fencepost-bench-") as folder:
        path = Path(folder)
        with LocalPostgres(path) as server, LocalValkey(path) as broker:
            prepare_template(server)
            with fresh_database(server) as database, running(database.url, broker.url, path) as stack:
                bench = Bench(World(database.engine), stack, broker.url, count)
                modes = (ALONE, ASLEEP, AT_WORK, STRANGER)
                for round_ in range(rounds):
                    for mode in modes if round_ % 2 == 0 else reversed(modes):
                        _beside(results, bench, pace, mode)
    for mode, other in ((ASLEEP, ALONE), (AT_WORK, ALONE), (AT_WORK, STRANGER)):
        for what in ("accepted to published p50, ms", "CPU of a good document, ms"):
            ones, others = (results.values[f"{one}: {what}"] for one in (mode, other))
            for a, b in zip(ones, others, strict=True):
                results.note(f"{mode} / {other}: {what.partition(',')[0]}", a / b)


def _beside(results: Results, bench: Bench, pace: float, mode: str) -> None:
    """One measurement; accepted over HTTP, so that the relay is woken as it is in life."""
    world, count, seconds = bench.world, bench.documents, bench.documents / pace + 15
    bench.stack.start("relay")
    worker = psutil.Process(bench.stack.start("worker", FENCEPOST_EXTRACT__SECONDS=str(seconds)).pid)
    until(lambda: len(world.rows(ALIVE)) >= 2, seconds=60)
    with api(bench) as url, httpx.Client(base_url=url) as client:
        for n in range(_WARM):
            _accept(client, _letter(-1 - n))
        until(lambda: unfinished(world) == 0)
        before, processes = worker.memory_info().rss, len(worker.children(recursive=True))
        culprit = _hang(client, worker, asleep=mode == ASLEEP) if mode in {ASLEEP, AT_WORK} else None
        with _stranger() if mode == STRANGER else nullcontext():
            cpu = _cpu(worker, culprit)
            began = time.monotonic()
            for n in range(count):
                _accept(client, _letter(n))
                pause(began + (n + 1) / pace - time.monotonic())
            until(lambda: unfinished(world) == (culprit is not None), seconds=60)
    assert culprit is None or culprit.is_running(), "it must outlast the others: this machine is too busy"
    results.note(f"{mode}: CPU of a good document, ms", (_cpu(worker, culprit) - cpu) / count * 1000)
    waits = world.rows(
        """
        SELECT extract(epoch FROM published_at - accepted_at) * 1000 AS ms
        FROM jobs JOIN documents USING (document_id) WHERE published_at IS NOT NULL
        ORDER BY accepted_at OFFSET :warm
    """,
        warm=_WARM,
    )
    assert len(waits) == count
    results.note(f"{mode}: accepted to published p50, ms", statistics.median(float(row["ms"]) for row in waits))
    if culprit is not None:
        until(lambda: world.rows("SELECT 1 FROM jobs WHERE state = 'quarantined'"), seconds=2 * seconds)
        assert not culprit.is_running()
        assert len(worker.children(recursive=True)) <= processes + 1
    results.note(f"{mode}: memory of the worker grew by, MiB", (worker.memory_info().rss - before) / MIB)
    bench.stack.close()
    clear(world)


@contextmanager
def _stranger() -> Iterator[None]:
    """A process that is not ours and works without end."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()


def _hang(client: httpx.Client, worker: psutil.Process, *, asleep: bool) -> psutil.Process:
    """Sends the document without end; the child that reads it, which is stopped if it is to sleep."""
    _accept(client, hostile.endless_pdf(200_000))
    started = {child.pid: sum(child.cpu_times()[:2]) for child in worker.children(recursive=True)}

    def busy() -> list[psutil.Process]:
        children = worker.children(recursive=True)
        return [child for child in children if sum(child.cpu_times()[:2]) - started.get(child.pid, 0) > 0.5]

    until(busy, seconds=30)
    (culprit,) = busy()
    if asleep:
        culprit.send_signal(signal.SIGSTOP)
    return culprit


def _cpu(worker: psutil.Process, culprit: psutil.Process | None) -> float:
    """Processor seconds of a worker and of all that it has started, but for one."""
    others = [one for one in worker.children(recursive=True) if one != culprit]
    return sum(worker.cpu_times()[:2]) + sum(sum(one.cpu_times()[:4]) for one in others)


def _letter(n: int) -> bytes:
    return documents.pdf([[f"letter {n}", *document(n, 2000).split(". ")]])


def _accept(client: httpx.Client, body: bytes) -> None:
    client.post("/v1/documents", params={"filename": "a.pdf"}, content=body).raise_for_status()


def _format(named: tuple[str, bytes]) -> str:
    return named[0].rpartition(".")[2]


def _peak_bytes(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


MEASUREMENTS: dict[str, Callable[[Results], None]] = {
    "isolation": isolation,
    "text": plain_text,
    "book": book,
    "formats": formats,
}


def main() -> None:
    """Runs the chosen measurements and prints the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1000, help="good ones beside the hostile one")
    parser.add_argument("--pace", type=float, default=20, help="good ones a second")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", choices=[*MEASUREMENTS, "hostile"], default=[*MEASUREMENTS, "hostile"])
    chosen = parser.parse_args()
    results = Results()
    print(f"extraction sandbox: {sandbox.summary()}")
    for round_ in range(chosen.rounds):
        print(f"round {round_ + 1} of {chosen.rounds}", flush=True)
        for name, measure in MEASUREMENTS.items():
            if name in chosen.only:
                measure(results)
    if "hostile" in chosen.only:
        hostility(results, chosen.documents, chosen.pace, chosen.rounds)
    results.print()


if __name__ == "__main__":
    main()
