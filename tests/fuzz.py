"""`make fuzz`: broken copies of all samples through a real pool; ARGS="--seconds 300 --seed 7 --keep DIR".

Whatever a document is, it must end as text or as a refusal, within its time, with nothing in its text that the database
or a reader of it could not take; and the pool must stand afterwards, with the worker no larger. A reader that lets an
exception out is a fault of ours; native code that dies is told, and its document kept, but it dies alone. Document N
of a seed is the same in every run.
"""

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from random import Random

import psutil

from fencepost.samples import files
from indexer.extract import Extraction, Request
from indexer.extract.allowance import limits
from indexer.extract.isolation.deaths import Crashed
from indexer.extract.isolation.pool import ExtractionPool
from pipeline.errors import Permanent
from pipeline.outcomes import TextQuality
from pipeline.settings import Extract
from tests.samples import samples
from tests.support import documents
from tests.support.mutations import MOST_BYTES, mutated

MIB = 1024 * 1024
SETTINGS = Extract(
    processes=2, seconds=6, memory_bytes=512 * MIB, characters=2_000_000, member_bytes=16 * MIB, total_bytes=48 * MIB
)
REFUSALS = {"corrupt", "password_required", "unsupported_format", "limit_exceeded", "empty_file"}
GROWTH_BYTES = 48 * MIB
LETTER = Request(documents.pdf([["a short letter"]]), "letter.pdf")
_IN_FLIGHT = 2 * SETTINGS.processes
_PATIENCE_SECONDS = 3 * SETTINGS.seconds
_WARM_DOCUMENTS = 300
_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")


@dataclass
class Row:
    """What became of the documents made from samples of one format."""

    documents: int = 0
    text: int = 0
    refused: int = 0
    timed_out: int = 0
    crashed: int = 0
    violations: int = 0
    slowest: float = 0


@dataclass(frozen=True)
class Case:
    """One broken document."""

    number: int
    format: str
    content: bytes
    filename: str
    started: float


@dataclass
class Run:
    """One run over so many documents or seconds, whichever ends first."""

    seed: int
    seconds: float
    documents: int = sys.maxsize
    keep: Path | None = None
    progress: bool = False
    rows: dict[str, Row] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)
    told: Counter[str] = field(default_factory=Counter)

    def run(self) -> None:
        """Reads broken documents until the end; what must not happen is in `violations` afterwards."""
        with ExtractionPool(SETTINGS) as pool:
            resident = 0
            for done in self._through(pool):
                if done == _WARM_DOCUMENTS:
                    resident = _resident()
                if self.progress and done % 1000 == 0:
                    print(f"{done:,} documents, {len(self.violations)} wrong", file=sys.stderr)  # noqa: T201 - asked for
            if resident and _resident() - resident > GROWTH_BYTES:
                self.violations.append(f"the worker grew by {(_resident() - resident) / MIB:.0f} MiB")
            if pool.submit(LETTER).result(_PATIENCE_SECONDS).text_quality != "ok":
                self.violations.append("the pool does not read a good document any more")

    def _through(self, pool: ExtractionPool) -> Iterator[int]:
        cases = self._cases()
        under_way: dict[Future[Extraction], Case] = {}
        done = 0
        while True:
            while len(under_way) < _IN_FLIGHT and (case := next(cases, None)) is not None:
                under_way[pool.submit(Request(case.content, case.filename, limits=limits(SETTINGS)))] = case
            if not under_way:
                return
            finished, _ = wait(under_way, _PATIENCE_SECONDS, FIRST_COMPLETED)
            if not finished:
                self.violations += [f"document {case.number} hangs" for case in under_way.values()]
                return
            for future in finished:
                self._judge(under_way.pop(future), future)
                done += 1
                yield done

    def _cases(self) -> Iterator[Case]:
        seeds = _seeds()
        contents = [content for _, content in seeds]
        by_format = [list(group) for _, group in groupby(sorted(seeds, key=_format), _format)]
        end = time.monotonic() + self.seconds
        for number in range(self.documents):
            if time.monotonic() > end:
                return
            chance = Random(f"{self.seed}:{number}")  # noqa: S311 - reproducible
            name, content = seeds[number] if number < len(seeds) else chance.choice(chance.choice(by_format))
            broken = mutated(chance, content, contents)
            yield Case(number, _format((name, content)), broken, _filename(chance, name, seeds), time.monotonic())

    def _judge(self, case: Case, future: Future[Extraction]) -> None:
        row = self.rows.setdefault(case.format, Row())
        row.documents += 1
        row.slowest = max(row.slowest, time.monotonic() - case.started)
        outcome = ""
        try:
            wrong = _wrong(future.result())
            row.text += 1
        except Permanent as refusal:
            row.timed_out += (is_slow := refusal.code == "extractor_timeout")
            row.refused += not is_slow
            outcome = refusal.code if is_slow else ""
            wrong = "" if is_slow or refusal.code in REFUSALS else f"is refused as {refusal.code}"
        except Crashed as crash:
            row.crashed += 1
            outcome = "crashed"
            wrong = "" if "The process" in crash.message and "sense" not in crash.message else crash.message
            self.told[crash.message] += 1
        except Exception as error:  # noqa: BLE001 - the worst of all
            wrong = f"{type(error).__name__}: {error}"
        if wrong:
            row.violations += 1
            outcome = "violation"
            self.violations.append(f"document {case.number} ({case.filename!r}): {wrong}")
        if outcome and self.keep is not None:
            self.keep.mkdir(parents=True, exist_ok=True)
            name = f"{self.seed}-{case.number}-{outcome}-{re.sub('[^A-Za-z0-9._-]', '_', case.filename)[-60:]}"
            (self.keep / name).write_bytes(case.content)


def _wrong(extraction: Extraction) -> str:
    """What is wrong with an extraction that succeeded."""
    if extraction.text_quality not in TextQuality:
        return f"has the quality {extraction.text_quality}"
    if _UNWANTED.search(repr(asdict(extraction))) or any(_UNWANTED.search(p.text) for p in extraction.passages):
        return "has text with control characters or surrogates"
    if sum(len(passage.text) for passage in extraction.passages) > SETTINGS.characters:
        return "has more text than is allowed"
    return ""


def _seeds() -> list[tuple[str, bytes]]:
    """Names and contents of all samples that are not large, ours to show and ours to test with."""
    shown = [(path.name, path.read_bytes()) for path in files()]
    tested = [(sample.name, sample.make()) for sample in samples() if not sample.large]
    return [(name, content) for name, content in shown + tested if len(content) <= MOST_BYTES]


def _filename(chance: Random, name: str, seeds: list[tuple[str, bytes]]) -> str:
    return chance.choice((name, name, chance.choice(seeds)[0], "", "no-suffix", "é\udcff\0.pdf"))


def _format(seed: tuple[str, bytes]) -> str:
    return seed[0].rpartition(".")[2]


def _resident() -> int:
    memory: int = psutil.Process().memory_info().rss
    return memory


def table(run: Run) -> str:
    """The run by format."""
    lines = [
        f"{'format':8}{'documents':>10}{'text':>8}{'refused':>8}{'too slow':>9}{'crashed':>8}{'wrong':>6}{'slowest':>9}"
    ]
    total = Row()
    for name, row in sorted(run.rows.items()):
        lines.append(_line(name, row))
        for key, value in asdict(row).items():
            setattr(total, key, max(value, total.slowest) if key == "slowest" else getattr(total, key) + value)
    return "\n".join([*lines, _line("all", total)])


def _line(name: str, row: Row) -> str:
    return (
        f"{name:8}{row.documents:10,}{row.text:8,}{row.refused:8,}{row.timed_out:9,}{row.crashed:8,}"
        f"{row.violations:6,}{row.slowest:8.1f}s"
    )


def main() -> int:
    """Prints what became of all documents; 1 if something happened that must not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--documents", type=int, default=sys.maxsize)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--keep", type=Path, help="a folder for the documents that crash, hang or do what they must not"
    )
    chosen = parser.parse_args()
    run = Run(chosen.seed, chosen.seconds, chosen.documents, chosen.keep, progress=True)
    run.run()
    print(table(run))  # noqa: T201 - the result
    for message, times in run.told.most_common():
        print(f"{times:6,} × {message}")  # noqa: T201 - the same
    for violation in run.violations[:50]:
        print(f"WRONG: {violation}")  # noqa: T201 - the same
    return 1 if run.violations else 0


if __name__ == "__main__":
    sys.exit(main())
