"""The data folder: where it is, that it is ours alone, and who holds it.

DATA/lock                held by the running stack; contains its process id
DATA/address             where the running stack is served, for the command line
DATA/search              the search backend of the last start, for the next one
DATA/running/NAME        one note per child process, so that the next start finds those of a killed stack
DATA/postgres  .password  .log
DATA/valkey    .log
DATA/opensearch  .pid  .log
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fencepost.local.processes import StartError
from pipeline.settings import environment


def default() -> Path:
    """/var/lib/fencepost for root, else `fencepost` in the user's XDG data home."""
    if os.getuid() == 0:
        return Path("/var/lib/fencepost")
    home = Path(environment().get("XDG_DATA_HOME", ""))
    return (home if home.is_absolute() else Path.home() / ".local" / "share") / "fencepost"


def address(data: Path) -> str | None:
    """Where the stack of this data folder is served, None when none is running (or it was killed)."""
    with suppress(OSError):
        return (data / "address").read_text().strip() or None
    return None


@contextmanager
def announced(data: Path, url: str) -> Iterator[None]:
    """Tells the command line where the stack is served, for as long as it is."""
    (data / "address").write_text(url)
    try:
        yield
    finally:
        (data / "address").unlink(missing_ok=True)


def search_backend(data: Path) -> str | None:
    """The search backend that this folder was last started with, None before its first start."""
    with suppress(OSError):
        return next((each for each in ("postgres", "opensearch") if each == (data / "search").read_text()), None)
    return None


def remember_search_backend(data: Path, backend: str) -> None:
    """Keeps it for the next start, which may not name one."""
    (data / "search").write_text(backend)


@contextmanager
def held(data: Path) -> Iterator[None]:
    """Makes the folder when it is missing and holds it alone, for as long as this process lives.

    Raises StartError: it is somebody else's, has other things in it, or is held by another process.
    """
    _make(data)
    with (data / "lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = (data / "lock").read_text().strip() or "another process"
            raise StartError(f"{data} is in use by process {holder}; stop that, or choose another --data.") from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def _make(data: Path) -> None:
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        if data.stat().st_uid != os.getuid():
            raise StartError(f"{data} belongs to another user; choose another --data.")
        if not (data / "lock").exists() and any(data.iterdir()):
            raise StartError(f"{data} has other files in it; choose an empty folder or a new one with --data.")
        if data.stat().st_mode & 0o067:  # a running OpenSearch may need to pass through it: 0o710
            data.chmod(0o700)
    except OSError as error:
        raise StartError(f"{data} cannot be the data folder: {error.strerror}.") from error
