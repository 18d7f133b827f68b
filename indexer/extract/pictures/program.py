"""Tesseract as it is installed here: whether it has the languages, and which files it opens when it runs.

In the sandbox only the system's own folders can be read. Somebody's Tesseract may lie anywhere, and its libraries
elsewhere, so it is started once, outside, and looked at while it waits for its picture.
"""

import os
import select
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

NAME = "tesseract"

_ANSWER_SECONDS = 20
_PIECE = bytes(64 * 1024)


def missing(languages: str) -> str:
    """What must be installed before these languages can be read, as a sentence; empty if nothing is."""
    if shutil.which(NAME) is None:
        return "Tesseract is not installed (on Debian and Ubuntu: apt-get install tesseract-ocr)."
    absent = sorted(set(languages.split("+")) - set(_list_of_languages()[1:]))
    if not absent:
        return ""
    packages = " ".join(f"tesseract-ocr-{name.lower().replace('_', '-')}" for name in absent if name)
    return f"Tesseract has no language {', '.join(absent)} (on Debian and Ubuntu: apt-get install {packages})."


def files(languages: str) -> set[str]:
    """What Tesseract reads to recognise these languages: its program, its libraries, and the folder of its data."""
    found = shutil.which(NAME)
    if found is None:
        return set()
    with suppress(OSError, subprocess.TimeoutExpired):  # what is not found is told when a picture is tried
        return {os.path.realpath(path) for path in (found, *_mapped_files(languages), *_data(languages))}
    return set()


def _list_of_languages() -> list[str]:
    """A heading, which names the folder of the data since Tesseract 5, and the languages."""
    answer = subprocess.run(  # noqa: S603 - nothing of it comes from outside
        [NAME, "--list-langs"], capture_output=True, text=True, check=False, timeout=_ANSWER_SECONDS
    )
    return answer.stdout.split("\n")


def _data(languages: str) -> Iterator[str]:
    """The folder of the data, and the languages in it, which may be links to elsewhere."""
    _, quoted, rest = _list_of_languages()[0].partition('"')
    folder, also_quoted, _ = rest.rpartition('"')
    if quoted and also_quoted and Path(folder).is_absolute():
        yield folder
        yield from (f"{folder}/{language}.traineddata" for language in languages.split("+"))


def _mapped_files(languages: str) -> list[str]:
    """The files that are in the memory of a Tesseract which waits for the end of its picture, through any wrapper."""
    with subprocess.Popen(  # noqa: S603 - nothing of it comes from outside
        [NAME, "stdin", "stdout", "-l", languages],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        bufsize=0,
    ) as process:
        try:
            if process.stdin and _is_read(process.stdin.fileno()):
                return [path for pid in _family(process.pid) for path in _mapped(pid)]
            return []
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def _is_read(pipe: int) -> bool:
    """Whether somebody takes something out of a full pipe."""
    os.set_blocking(pipe, False)
    with suppress(BlockingIOError):
        while True:
            os.write(pipe, _PIECE)
    return bool(select.select([], [pipe], [], _ANSWER_SECONDS)[1])


def _family(pid: int) -> Iterator[int]:
    """A process, and those that it has started, where the kernel tells them."""
    yield pid
    with suppress(OSError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            yield from _family(int(child))


def _mapped(pid: int) -> Iterator[str]:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/maps").read_text(errors="surrogateescape").split("\n"):
            _, slash, path = line.partition("/")
            yield from [slash + path] if slash else []
