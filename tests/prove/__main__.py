"""Removes guards and runs their tests, two copies of the tree at a time."""

import shutil
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from pipeline.settings import environment
from tests.prove import GUARDS
from tests.prove.guard import Guard

ROOT = Path(__file__).parents[2]
AT_A_TIME = 2
SECONDS = 300
STOPPED = -1


def main() -> int:
    """Prints one line a guard and what its test said; returns 1 unless all are proven."""
    parser = ArgumentParser(prog="make prove", description="Removes each guard in turn and sees its test go red.")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="guards whose name contains one of these")
    only = parser.parse_args().only
    guards = [guard for guard in GUARDS if not only or any(name in guard.name for name in only)]
    start = monotonic()
    if red := _red_anyway(guards):
        _say(f"With all guards in place these tests are not green, so they would prove nothing:\n{red}")
        return 1
    with ThreadPoolExecutor(AT_A_TIME) as threads:
        proven = sum(threads.map(_is_proven, guards))
    _say(f"{proven} of {len(guards)} guards proven in {(monotonic() - start) / 60:.0f} minutes")
    return 0 if guards and proven == len(guards) else 1


def _red_anyway(guards: list[Guard]) -> str:
    """What pytest says of the tests in an untouched copy, nothing if all are green."""
    with _copy() as tree:
        run = _run(tree, *sorted({guard.test for guard in guards}))
    return run.said if run.code else ""


def _is_proven(guard: Guard) -> bool:
    with _copy() as tree:
        path = tree / guard.file
        code = path.read_text()
        assert code.count(guard.code) == 1, f"{guard.file} must contain {guard.code!r} once"
        path.write_text(code.replace(guard.code, guard.without))
        run = _run(tree, "-x", guard.test, seconds=SECONDS)
    red = next((line for line in run.said.splitlines() if line.startswith(("FAILED", "ERROR"))), "")
    verdict = {0: "NOT PROVEN", 1: "proven", STOPPED: "TOO SLOW"}.get(run.code, "BROKEN")
    _say(f"{verdict:10}  {guard.name:34} {run.seconds:4.0f} s  {red if run.code == 1 else run.said}")
    return verdict == "proven"


@contextmanager
def _copy() -> Iterator[Path]:
    with TemporaryDirectory(prefix="fencepost-prove-") as folder:
        tree = Path(folder)
        for name in ("pipeline", "ingest", "indexer", "fencepost", "tests", "pyproject.toml"):
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, tree / name)
        yield tree


@dataclass(frozen=True)
class _Run:
    """How pytest ended, STOPPED if it had to be told, after how long, and the end of what it said."""

    code: int
    seconds: float
    said: str


def _run(tree: Path, *arguments: str, seconds: float | None = None) -> _Run:
    start = monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", *arguments],
        cwd=tree,
        env=environment() | {"PYTHONPATH": str(tree), "COLUMNS": "200"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            said, _ = process.communicate(timeout=seconds)
            code = process.returncode
        except subprocess.TimeoutExpired:
            process.terminate()  # it takes its servers down
            said, _ = process.communicate()
            code = STOPPED
    return _Run(code, monotonic() - start, said[-2000:])


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - the result


if __name__ == "__main__":
    sys.exit(main())
