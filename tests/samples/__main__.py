"""Writes all samples into a folder: `python -m tests.samples FOLDER`."""

import sys
from pathlib import Path

from tests.samples import samples

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for sample in samples():
        (folder / sample.name).write_bytes(sample.make())
