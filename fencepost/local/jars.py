"""What a local OpenSearch runs from: jars that `jgo` fetches once, each checked here against its pinned SHA-256.

CACHE/opensearch-VERSION-PINS   the finished folder; it appears whole or not at all
CACHE/opensearch.fetched        what has been fetched for it, kept while a run is interrupted or repeated
CACHE/opensearch.lock           held by the one process that fetches; the others wait for it

The pins are in opensearch.jars. jgo checks SHA-1 sums of the same server, and only warns.
"""

import fcntl
import hashlib
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.local import binaries
from fencepost.local.processes import StartError
from fencepost.local.progress import shown
from pipeline.logs import hide_secrets

if TYPE_CHECKING:
    from jgo.maven import MavenContext

VERSION = "3.9.0"
PINS = Path(__file__).with_name("opensearch.jars")
AT_ONCE = 8
TIMEOUT_SECONDS = 30
TRIES = 2  # a torn download is dropped and fetched once more

MODULES = {
    "analysis-common": "org.opensearch.analysis.common.CommonAnalysisModulePlugin",
    "lang-painless": "org.opensearch.painless.PainlessModulePlugin",
    "reindex": "org.opensearch.index.reindex.ReindexModulePlugin",
    "transport-netty4": "org.opensearch.transport.Netty4ModulePlugin",
}
DESCRIPTOR = """name={0}
description={0}
version={1}
opensearch.version={1}
java.version=21
classname={2}
extended.plugins=
has.native.controller=false
"""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Jar:
    """One file: its Maven coordinates, its pinned sum and size, and the folder that it goes to."""

    folder: str
    name: str
    sha256: str
    size: int


def pinned() -> Iterator[Jar]:
    """The jars of opensearch.jars."""
    folder = ""
    for line in PINS.read_text().splitlines():
        if line.startswith("["):
            folder = line.strip("[]")
        elif line and not line.startswith("#"):
            name, sha256, size = line.split()
            yield Jar(folder, name, sha256, int(size))


def home(cache: Path, say: Say, repository: str = "") -> Path:
    """The folder of OpenSearch, made when it is missing; `repository` replaces Maven Central. Raises StartError."""
    made = cache / f"opensearch-{VERSION}-{_fingerprint()}"
    if made.is_dir():
        return made
    try:
        binaries.make_cache(cache)
        with _alone(cache / "opensearch.lock", say):
            if not made.is_dir():
                fetched = cache / "opensearch.fetched"
                _assemble(_fetch_all(fetched, say, repository), cache / "opensearch.new").rename(made)
                shutil.rmtree(fetched)
    except OSError as error:
        raise StartError(f"OpenSearch cannot be put into {cache}: {error.strerror or error}.") from error
    return made


def _fingerprint() -> str:
    return hashlib.sha256(f"{PINS.read_text()}{MODULES}{DESCRIPTOR}".encode()).hexdigest()[:12]


@contextmanager
def _alone(path: Path, say: Say) -> Iterator[None]:
    with path.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another process that fetches OpenSearch")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch_all(folder: Path, say: Say, repository: str) -> list[tuple[Jar, Path]]:
    jars, maven = list(pinned()), _maven(folder, repository)
    pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="fetches jars")
    what = f"OpenSearch {VERSION} ({len(jars)} files, kept in {folder.parent})"
    with shown(what, sum(jar.size for jar in jars), say) as advance:
        try:
            jar_of = {pool.submit(_fetch, jar, maven): jar for jar in jars}
            for done in as_completed(jar_of):
                done.result()
                advance(jar_of[done].size)
        finally:
            pool.shutdown(cancel_futures=True)
    return [(jar, each.result()) for each, jar in jar_of.items()]


def _maven(folder: Path, repository: str) -> "MavenContext":
    try:
        from jgo.maven import MavenContext  # noqa: PLC0415 - of an extra
    except ImportError:
        raise StartError(
            "A local OpenSearch is not installed: say pip install 'fencepost[opensearch-local]', "
            "or set FENCEPOST_OPENSEARCH_URL."
        ) from None
    chosen = {"chosen": repository.rstrip("/")} if repository else None
    return MavenContext(repo_cache=folder, timeout=TIMEOUT_SECONDS, remote_repos=chosen)


def _fetch(jar: Jar, maven: "MavenContext") -> Path:
    group, artifact, version = jar.name.split(":")
    part = maven.project(group, artifact).at_version(version).artifact()
    trouble = ""
    for _ in range(TRIES):
        try:
            path: Path = part.resolve()
            got = hashlib.sha256(path.read_bytes()).hexdigest()
        except Exception as error:  # noqa: BLE001 - jgo lets through whatever its own libraries raise
            trouble = f"could not be fetched; what has come is kept, so try again ({_first_line(error)})"
        else:
            if got == jar.sha256:
                return path
            trouble = f"is refused: what was sent has the SHA-256 {got} instead of {jar.sha256}"
        if part.cached_path:
            part.cached_path.unlink(missing_ok=True)
    raise StartError(f"{jar.name} {trouble}.")


def _first_line(error: Exception) -> str:
    return hide_secrets(next(iter(str(error).splitlines()), type(error).__name__))


def _assemble(jars: list[tuple[Jar, Path]], fresh: Path) -> Path:
    """Moves the jars to where OpenSearch looks for them."""
    if fresh.exists():
        shutil.rmtree(fresh)  # an earlier run was killed here
    for folder in ("bin", "plugins"):
        (fresh / folder).mkdir(parents=True)
    for jar, path in jars:
        target = fresh / "lib" if jar.folder == "lib" else fresh / "modules" / jar.folder
        target.mkdir(parents=True, exist_ok=True)
        path.rename(target / path.name)
    for name, plugin in MODULES.items():
        (fresh / "modules" / name / "plugin-descriptor.properties").write_text(DESCRIPTOR.format(name, VERSION, plugin))
        (fresh / "modules" / name / "plugin-security.policy").touch()
    binaries.open_to_servers(fresh)
    return fresh
