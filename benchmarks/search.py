"""`python -m benchmarks.search`: how long searches take among many documents of 5 KB, and what publishing them costs.

The mark: p95 at most 50 ms at 50,000 documents for one common word, three words, a phrase and a sentence. Queries of a
kind differ from each other, and every answer is complete: hits with highlights, total and facets. With
`--search opensearch` it asks a node of its own.
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

from pydantic import SecretStr
from sqlalchemy import Engine, text

from fencepost.local.opensearch import LocalOpenSearch
from fencepost.local.postgres import LocalPostgres
from indexer.adopting import adopt
from indexer.extract.types import Block
from indexer.passages import cut
from indexer.search.backend import Entry, SearchBackend, SearchRequest, Sort
from indexer.search.backends import backend as backend_of
from indexer.search.postgres import Postgres
from pipeline import indexes
from pipeline.database import connect
from pipeline.schema import migrate
from pipeline.settings import Settings

BASE = (Path(__file__).parent / "words.txt").read_text().split()
VOCABULARY = [*BASE, *(first + second for first in BASE[100:280] for second in BASE[300:500])]
CHANCES = list(accumulate(1 / (rank + 2.7) for rank in range(len(VOCABULARY))))  # as in a natural language
FUNCTION_WORDS = 42
MEDIA_TYPES = ("text/plain", "text/html", "application/pdf")
BATCH = 64


def document(n: int, size: int = 5000) -> str:
    """Text of about so many characters, whose words are as unevenly common as those of a language."""
    chance = random.Random(n)  # noqa: S311 - reproducible text
    words = chance.choices(VOCABULARY, cum_weights=CHANCES, k=size // 4)
    ends = set(accumulate(chance.choices(range(6, 20), k=len(words) // 6)))
    return "".join(word + (". " if at in ends else " ") for at, word in enumerate(words))[:size]


def entry(n: int) -> Entry:
    """The n-th document."""
    return Entry(
        document_id=UUID(int=random.Random(-n).getrandbits(128)),  # noqa: S311 - the same
        version=1,
        tombstone=False,
        collection_id=1,
        key=f"folder/{n}.txt",
        title=" ".join(document(n, 60).split()[:5]),
        media_type=MEDIA_TYPES[n % len(MEDIA_TYPES)],
        metadata={"year": 2000 + n % 25},
        accepted_at=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=n),
        passages=cut([Block(document(n))]),
    )


QUERIES: dict[str, Callable[[random.Random], SearchRequest]] = {
    "one common word": lambda chance: SearchRequest(VOCABULARY[chance.randrange(50, 150)]),
    "one of the commonest words": lambda chance: SearchRequest(VOCABULARY[chance.randrange(0, 10)]),
    "one rare word": lambda chance: SearchRequest(VOCABULARY[chance.randrange(10_000, 30_000)]),
    "three words": lambda chance: SearchRequest(" ".join(VOCABULARY[chance.randrange(100, 3000)] for _ in range(3))),
    "three common words": lambda chance: SearchRequest(" ".join(chance.sample(VOCABULARY[50:150], 3))),
    "a phrase": lambda chance: SearchRequest(f'"{_excerpt(chance, 3)}"'),
    "a phrase of function words": lambda chance: SearchRequest(f'"{" ".join(chance.sample(BASE[:8], 2))}"'),
    "a sentence": lambda chance: SearchRequest(_excerpt(chance, 10)),
    "a word without another": lambda chance: SearchRequest(f"{VOCABULARY[chance.randrange(100, 500)]} -{BASE[60]}"),
    "common word, media type": lambda chance: SearchRequest(
        VOCABULARY[chance.randrange(50, 150)], media_types=frozenset({"text/html"})
    ),
    "common word, metadata": lambda chance: SearchRequest(
        VOCABULARY[chance.randrange(50, 150)], metadata={"year": frozenset({"2005"})}
    ),
    "common word, newest": lambda chance: SearchRequest(VOCABULARY[chance.randrange(50, 150)], sort=Sort.NEWEST),
    "common word, by title": lambda chance: SearchRequest(VOCABULARY[chance.randrange(50, 150)], sort=Sort.TITLE),
    "rare word, newest": lambda chance: SearchRequest(VOCABULARY[chance.randrange(5000, 9000)], sort=Sort.NEWEST),
}


def _excerpt(chance: random.Random, words: int) -> str:
    """Words that follow each other in a document and begin with one that is no function word."""
    body = document(chance.randrange(1000)).split()
    starts = [at for at, word in enumerate(body[:-words]) if word not in BASE[:FUNCTION_WORDS] and "." not in word]
    start = chance.choice(starts)
    return " ".join(body[start : start + words]).replace(".", "")


def fill(backend: SearchBackend, engine: Engine, documents: int) -> float:
    """Publishes the documents; returns how many a second, without making them."""
    spent = 0.0
    for start in range(0, documents, BATCH):
        entries = [entry(n) for n in range(start, min(documents, start + BATCH))]
        started = time.monotonic()
        with engine.begin() as connection:
            assert not backend.publish(connection, indexes.targets(connection), entries)
        spent += time.monotonic() - started
    return documents / spent


def against_raw(engine: Engine, documents: int) -> float:
    """How long publishing takes, as a multiple of a plain multi-row insert of the same text with tsvector and GIN."""
    entries = [entry(n) for n in range(documents)]
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE raw (id uuid PRIMARY KEY, title text, body text, tsv tsvector)"))
        connection.execute(text("CREATE INDEX ON raw USING gin (tsv)"))
    insert = text("""
        INSERT INTO raw SELECT id, title, body,
               setweight(to_tsvector('english', title), 'A') || to_tsvector('english', body)
        FROM unnest(CAST(:ids AS uuid[]), CAST(:titles AS text[]), CAST(:bodies AS text[])) AS r (id, title, body)
    """)
    spent = {"raw": 0.0, "publish": 0.0}
    for start in range(0, documents, BATCH):
        some = entries[start : start + BATCH]
        started = time.monotonic()
        with engine.begin() as connection:
            columns = {
                "ids": [one.document_id for one in some],
                "titles": [one.title for one in some],
                "bodies": ["".join(passage.text for passage in one.passages) for one in some],
            }
            connection.execute(insert, columns)
        spent["raw"] += time.monotonic() - started
        started = time.monotonic()
        with engine.begin() as connection:
            Postgres().publish(connection, indexes.targets(connection), some)
        spent["publish"] += time.monotonic() - started
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE raw"))
        connection.execute(text("TRUNCATE fencepost_1_1.entries, fencepost_1_1.passages"))
    return spent["publish"] / spent["raw"]


def measure(
    backend: SearchBackend,
    engine: Engine,
    ask: Callable[[random.Random], SearchRequest],
    *,
    rounds: int,
    seconds: float,
) -> str:
    """p50, p95 and worst of one kind of query in milliseconds, with the median total."""
    chance = random.Random(7)  # noqa: S311 - reproducible queries
    times: list[float] = []
    totals: list[int] = []
    deadline = time.monotonic() + seconds
    while len(times) < rounds and time.monotonic() < deadline:
        request = ask(chance)
        started = time.perf_counter()
        page = backend.search(engine, request)
        times.append((time.perf_counter() - started) * 1000)
        totals.append(page.total)
    times.sort()
    p95 = times[int(len(times) * 0.95)]
    columns = f"{statistics.median(times):8.1f} {p95:8.1f} {times[-1]:8.1f}   {statistics.median(totals):8.0f}"
    return f"{columns}  ({len(times)})"


@contextmanager
def database(url: str | None) -> Iterator[Engine]:
    """A migrated database: the one at this address, or one of a server of our own."""
    if url:
        engine = connect(url)
        migrate(engine)
        yield engine
        engine.dispose()
        return
    with TemporaryDirectory(prefix="fencepost-bench-") as folder, LocalPostgres(Path(folder)) as server:
        engine = connect(server.url)
        migrate(engine)
        yield engine
        engine.dispose()


@contextmanager
def search_backend(kind: str, engine: Engine) -> Iterator[SearchBackend]:
    """PostgreSQL with its live index, or a new index on a node of our own."""
    if kind == "postgres":
        yield Postgres()
        return
    with TemporaryDirectory(prefix="fencepost-bench-") as folder, LocalOpenSearch(Path(folder)) as node:
        settings = Settings(opensearch_url=SecretStr(node.url))
        backend = backend_of(settings)
        adopt(engine, backend, settings)
        yield backend


def prepare(backend: SearchBackend, engine: Engine, documents: int) -> None:
    """Fills an empty index and brings it into the state of one that has been there for a while."""
    with engine.connect() as connection:
        live = indexes.live(connection)
        assert live is not None
        is_empty = not backend.states_after(connection, live.name, None, 1)
    if is_empty and backend.in_transaction:
        print(f"publish / raw insert      {against_raw(engine, 1000):8.2f} x")
    if is_empty:
        print(f"published                 {fill(backend, engine, documents):8.0f} documents/s", flush=True)
    if backend.in_transaction:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(f"VACUUM ANALYZE {live.name}.entries, {live.name}.passages"))
    else:  # by the clock it would be there within a second
        with engine.connect() as connection:
            backend.states_after(connection, live.name, None, 1)
    started = time.monotonic()
    with engine.begin() as connection:
        backend.maintain(connection)
    print(f"maintain                  {time.monotonic() - started:8.2f} s")


def main() -> None:
    """Fills an empty index, then searches."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--search", choices=["postgres", "opensearch"], default="postgres")
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=60, help="queries of each kind")
    parser.add_argument("--seconds", type=float, default=10, help="the most for each kind")
    parser.add_argument("--url", help="a database to use; filled only if it is empty")
    options = parser.parse_args()
    with database(options.url) as engine, search_backend(options.search, engine) as backend:
        prepare(backend, engine, options.documents)
        print(f"{'ms':26} {'p50':>8} {'p95':>8} {'worst':>8}   {'total':>8}")
        for name, ask in QUERIES.items():
            line = measure(backend, engine, ask, rounds=options.rounds, seconds=options.seconds)
            print(f"{name:26} {line}", flush=True)


if __name__ == "__main__":
    main()
