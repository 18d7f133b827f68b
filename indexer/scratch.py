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

_PURPOSES = ("load", "extract")


def prefix(purpose: str) -> str:
    """How the name of a folder of this process begins."""
    return f"fencepost-{purpose}-{os.getpid()}-"


@contextmanager
def folder() -> Iterator[Path]:
    """A folder of this process for documents that are loaded, removed after the block."""
    with TemporaryDirectory(prefix=prefix("load")) as path:
        yield Path(path)


def remove_left() -> int:
    """Removes our folders of processes that are gone, and of this one; returns how many. For the start and the end."""
    folders = [path for purpose in _PURPOSES for path in Path(gettempdir()).glob(f"fencepost-{purpose}-*-*")]
    left = [path for path in folders if _is_ours(path) and not _lives(path)]
    for path in left:
        shutil.rmtree(path, ignore_errors=True)
    return len(left)


def _is_ours(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and path.stat().st_uid == os.getuid()


def _lives(path: Path) -> bool:
    number = path.name.split("-")[2]
    if number == str(os.getpid()):
        return False
    try:
        os.kill(int(number), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        pass
    return True
