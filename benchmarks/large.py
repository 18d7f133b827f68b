"""`make bench-large`: processor seconds for 20 MB of each format, prose as people write it, marks as programs do.

For archives the 20 MB are those of the unpacked part that has the words. Outlook's files are smaller: their seconds are
scaled to 20 MB. `ARGS="--beside FOLDER"` names another release's source: both are measured in turns, and the ratio is
told too, which alone means something on a shared machine.
"""

import argparse
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.large_files import FILES, SIZE, Prose

_HERE = Path(__file__).parents[1]
_READ = """
import sys, time
from pathlib import Path
from indexer.extract import Request, extract
path = Path(sys.argv[1])
content = path.read_bytes()
extract(Request(b"words of tides"))
started = time.process_time()
extract(Request(content, path.name))
print(time.process_time() - started)
"""


def _seconds(path: Path, source: Path) -> float:
    """The processor time that a release takes for a file, in a process of its own."""
    command = [sys.executable, "-c", _READ, str(path)]
    ran = subprocess.run(command, cwd=source, check=True, capture_output=True, text=True)  # noqa: S603 - our own
    return float(ran.stdout)


def main() -> None:
    """Measures all files, or the chosen ones, and prints medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", type=Path, help="the folder of another release's source")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", choices=[*FILES], default=[*FILES])
    chosen = parser.parse_args()
    print(f"{'file':14} {'s / 20 MB':>10} {'other / this':>13}")
    with TemporaryDirectory(prefix="fencepost-bench-") as folder:
        for name in chosen.only:
            path = Path(folder) / name
            path.write_bytes(FILES[name](Prose()))
            scale = SIZE / path.stat().st_size if name.endswith(".msg") else 1
            ours, ratios = [], []
            for _ in range(chosen.rounds):
                ours.append(_seconds(path, _HERE))
                ratios += [_seconds(path, chosen.beside) / ours[-1]] if chosen.beside else []
            path.unlink()
            ratio = f"{statistics.median(ratios):13.2f}" if ratios else ""
            print(f"{name:14} {statistics.median(ours) * scale:10.2f} {ratio}", flush=True)


if __name__ == "__main__":
    main()
