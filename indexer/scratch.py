"""Folders for files that live while a document is in work. A killed worker leaves its own; the next one ends them.

In a container every worker has the same process id, so a folder of that id is somebody's who died: ask before the first
folder of this process is made.
"""

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
    """Removes our folders of processes that are gone; returns how many. Called once, when a worker starts."""
    left = [path for path in Path(gettempdir()).glob(f"{PREFIX}*-*") if _is_ours(path) and not _lives(path)]
    for path in left:
        shutil.rmtree(path, ignore_errors=True)
    return len(left)


def _is_ours(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and path.stat().st_uid == os.getuid()


def _lives(path: Path) -> bool:
    number = path.name.removeprefix(PREFIX).partition("-")[0]
    if number == str(os.getpid()):
        return False
    try:
        os.kill(int(number), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        pass
    return True
