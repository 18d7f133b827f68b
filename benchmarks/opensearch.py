"""`make bench-opensearch`: publishing to OpenSearch against `helpers.bulk` of the same bodies in the same run.

Text documents of 5 KB and of 50 KB are drained from a full queue by one worker and by two. The raw limit sends the
very entries that the workers publish, ready made, from one client. A rebuild is timed against the same limit. `--only
memory` watches a worker over 20,000 documents. Ratios and CPU seconds count; the machine's own speed says little.
"""

import argparse
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import orjson
import psutil
from opensearchpy import OpenSearch, helpers
from pydantic import SecretStr

from benchmarks.pipeline import Bench, cpu, document, processes, submit, unfinished
from fencepost.local.opensearch import LocalOpenSearch
from fencepost.local.postgres import LocalPostgres
from fencepost.local.valkey import LocalValkey
from indexer.extract import Request, extract
from indexer.search.backend import Entry
from indexer.search.opensearch.connection import Orjson
from indexer.search.opensearch.entries import source_of
from indexer.search.opensearch.mapping import FINGERPRINT
from pipeline import builds
from pipeline.builds import Phase
from pipeline.settings import MIB, LocalNode, Settings
from tests.support.servers import fresh_database, prepare_template
from tests.support.stack import running
from tests.support.waiting import until
from tests.support.world import World

CHUNK = 500
RAW = "fencepost-raw"


class _Text(Orjson):
    """As quick as ours, for helpers that want text."""

    def dumps(self, data: object) -> str:
        """The body of a request."""
        return data if isinstance(data, str) else orjson.dumps(data).decode()


@dataclass
class EngineBench(Bench):
    """One run's servers and measurements, with a node."""

    node: LocalOpenSearch | None = None

    def __post_init__(self) -> None:
        assert self.node is not None
        self.stack.variables |= {"FENCEPOST_OPENSEARCH_URL": self.node.url, "FENCEPOST_SEARCH": "opensearch"}
        self.settings = Settings(opensearch_url=SecretStr(self.node.url))
        self.client = OpenSearch(hosts=[self.node.url], serializer=_Text(), timeout=120)
        self.migrate()

    def migrate(self) -> None:
        """Makes the index that workers publish to."""
        process = self.stack.start("migrate")
        assert process.wait(60) == 0, self.stack.logs()

    def clear(self) -> None:
        """Empties the database and the engine between measurements."""
        names = self.world.rows("SELECT name FROM search_indexes WHERE backend = 'opensearch' AND state <> 'dropped'")
        for row in names:
            self.client.indices.delete(index=row["name"])
        self.world.execute(
            "TRUNCATE documents, jobs, outbox, attempts, contents, results, processes, builds, verifications CASCADE"
        )
        self.world.execute("DELETE FROM search_indexes WHERE backend = 'opensearch'")
        self.migrate()

    def cpu_of_the_engine(self) -> float:
        """CPU seconds of the node."""
        assert self.node is not None
        return sum(psutil.Process(self.node.pid).cpu_times()[:2])


def raw_bulk(bench: EngineBench, texts: list[str]) -> float:
    """The raw limit, in documents a second: the same entries, ready made, one client, 500 a call."""
    actions = [_action(entry) for entry in map(_entry, texts)]
    bench.client.indices.create(index=RAW)  # by the template of the installation
    started = time.monotonic()
    helpers.bulk(bench.client, actions, chunk_size=CHUNK)
    rate = len(texts) / (time.monotonic() - started)
    bench.client.indices.delete(index=RAW)
    return rate


def drain(bench: EngineBench, *, size: int, documents: int, workers: int) -> None:
    """Empties a full queue with processes that are already warm; the raw limit is taken seconds before."""
    name = f"{size // 1000} KB, {workers} worker{'s' if workers > 1 else ''}"
    raw = raw_bulk(bench, _texts(documents, size))
    with processes(bench, workers) as started_processes:
        workers_cpu, engine_cpu = _cpu(started_processes), bench.cpu_of_the_engine()
        _fill(bench, _texts(documents, size))
        remaining, started = unfinished(bench.world), time.monotonic()
        until(lambda: unfinished(bench.world) == 0, seconds=900, what="the drain")
        rate = remaining / (time.monotonic() - started)
        bench.note(f"worker CPU s per 1000, {name}", (_cpu(started_processes) - workers_cpu) / documents * 1000)
        bench.note(f"engine CPU s per 1000, {name}", (bench.cpu_of_the_engine() - engine_cpu) / documents * 1000)
    bench.note(f"drained /s, {name}", rate)
    bench.note(f"drained / raw, {name}", rate / raw)
    bench.clear()


def rebuild(bench: EngineBench) -> None:
    """A rebuild of an index with `documents`, one worker, nothing else to do, against the raw limit."""
    texts = _texts(bench.documents, 5000)
    raw = raw_bulk(bench, texts)
    with processes(bench, 1):
        _fill(bench, texts)
        until(lambda: unfinished(bench.world) == 0, seconds=900, what="the drain")
        with bench.world.engine.begin() as connection:
            builds.begin_rebuild(connection, backend="opensearch", fingerprint=FINGERPRINT, settings=bench.settings)
        until(lambda: _phase(bench.world) is Phase.FILLING, seconds=60, what="the filling")
        started = time.monotonic()
        until(lambda: _phase(bench.world) is not Phase.FILLING, seconds=900, what="the filled index")
        filling = time.monotonic() - started
        until(lambda: _phase(bench.world) is Phase.DONE, seconds=900, what="the swap")
        whole = time.monotonic() - started
    bench.note("rebuilt /s, while filling", bench.documents / filling)
    bench.note("rebuilt / raw, while filling", bench.documents / filling / raw)
    bench.note("rebuilt / raw, with verification and swap", bench.documents / whole / raw)
    bench.clear()


def memory(bench: EngineBench, documents: int = 20_000, step: int = 2_000) -> None:
    """What one worker process keeps, over 20,000 documents."""
    with processes(bench, 1) as started_processes:
        worker = psutil.Process(started_processes["worker-1"].pid)
        for done in range(0, documents, step):
            _fill(bench, _texts(step, 5000))
            until(lambda: unfinished(bench.world) == 0, seconds=900, what="the drain")
            bench.note(f"worker memory MiB after {done + step:6}", worker.memory_info().rss / 2**20)
    bench.clear()


def _phase(world: World) -> Phase:
    """Of the build that began last."""
    with world.engine.connect() as connection:
        build = builds.newest(connection)
    assert build is not None
    return build.phase


def _texts(count: int, size: int) -> list[str]:
    first = random.randrange(10**9)  # noqa: S311 - only to be fresh
    return [document(first + n, size) for n in range(count)]


def _fill(bench: EngineBench, texts: list[str]) -> None:
    for start in range(0, len(texts), 100):
        submit(bench.world, [text.encode() for text in texts[start : start + 100]])


def _entry(text: str) -> Entry:
    passages = extract(Request(content=text.encode(), filename="a.txt")).passages
    return Entry(uuid4(), 1, False, 1, None, "bench", "text/plain", {}, datetime(2026, 1, 1, tzinfo=UTC), passages)


def _action(entry: Entry) -> dict[str, Any]:
    return {
        "_op_type": "index", "_index": RAW, "_id": str(entry.document_id),
        "version": entry.version, "version_type": "external_gte", "_source": orjson.loads(source_of(entry)),
    }  # fmt: skip


def _cpu(started: dict[str, Any]) -> float:
    return sum(cpu(process) for name, process in started.items() if name.startswith("worker"))


@contextmanager
def _servers(documents: int, heap: int) -> Iterator[EngineBench]:
    with TemporaryDirectory(prefix="fencepost-bench-") as folder:
        path = Path(folder)
        with (
            LocalPostgres(path) as server,
            LocalValkey(path) as broker,
            LocalOpenSearch(path, LocalNode(heap_bytes=heap * MIB)) as node,
        ):
            prepare_template(server)
            with fresh_database(server) as database, running(database.url, broker.url, path) as stack:
                yield EngineBench(World(database.engine), stack, broker.url, documents, node=node)


MEASUREMENTS = {
    "small": lambda bench: drain(bench, size=5000, documents=bench.documents, workers=1),
    "two": lambda bench: drain(bench, size=5000, documents=bench.documents, workers=2),
    "large": lambda bench: drain(bench, size=50_000, documents=bench.documents // 5, workers=1),
    "rebuild": rebuild,
    "memory": memory,
}


def main() -> None:
    """Runs the chosen measurements, interleaved, and prints the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--heap-mib", type=int, default=1024)
    parser.add_argument("--only", nargs="*", choices=MEASUREMENTS, default=["small", "two", "large", "rebuild"])
    chosen = parser.parse_args()
    with _servers(chosen.documents, chosen.heap_mib) as bench:
        raw_bulk(bench, _texts(1000, 5000))  # the engine compiles itself first
        bench.run([MEASUREMENTS[name] for name in chosen.only], chosen.rounds)


if __name__ == "__main__":
    main()
