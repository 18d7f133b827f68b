"""Folders for files that live while a document is in work. A killed worker leaves its own; the next one ends them."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

PREFIX = "fencepost-load-"


@contextmanager
def folder() -> Iterator[Path]:
    """A folder of this process, removed after the block. Its name has the process id."""
    with TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-") as path:
        yield Path(path)


def remove_left() -> int:
    """Removes our folders of processes that are gone; returns how many. Called when a worker starts."""
    left = [path for path in Path(gettempdir()).glob(f"{PREFIX}*-*") if _is_ours(path) and not _lives(path)]
    for path in left:
        shutil.rmtree(path, ignore_errors=True)
    return len(left)


def _is_ours(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and path.stat().st_uid == os.getuid()


def _lives(path: Path) -> bool:
    number = path.name.removeprefix(PREFIX).partition("-")[0]
    try:
        os.kill(int(number), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        pass
    return True
