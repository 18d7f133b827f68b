"""The real fork server with a reader of HTML that does what a document tells it: what no honest reader would."""

import ctypes
import errno
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from indexer.extract.isolation import forkserver
from indexer.extract.readers import html
from indexer.extract.types import Block, Buffer, Reading, Request
from pipeline.errors import Permanent

_PR_SET_PDEATHSIG = 1


def document(deed: str, word: str = "") -> Request:
    """A page that makes the reader do something."""
    return Request(f"<!doctype html><p>{deed} {word}".encode(), "odd.html")


def _read(content: Buffer, request: Request) -> Reading:
    deed, _, word = bytes(content).decode().removeprefix("<!doctype html><p>").partition(" ")
    if deed == "claim":  # to be reading another member
        request.spent.tell(int(word) if word else time.monotonic_ns() % 2**32)
        _hang(word)
    return _DEEDS[deed](word)


def _answer(word: str) -> Reading:
    return Reading([Block(word)])


def _hang(_word: str) -> NoReturn:
    while True:
        signal.pause()


def _hang_beside_a_program(word: str) -> NoReturn:
    _start()
    _hang(word)


def _leave_a_program(word: str) -> Reading:
    _start()
    return _answer(word)


def _start() -> None:
    subprocess.Popen(["/bin/sleep", "600"])


def _hang_beside_a_program_that_dies_with_it(word: str) -> NoReturn:
    library = ctypes.CDLL(None)
    ask = lambda: library.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # noqa: E731 - as ocr does
    subprocess.Popen(["/bin/sleep", "600"], preexec_fn=ask)  # noqa: PLW1509 - one thread
    _hang(word)


def _read_file(path: str) -> Reading:
    return _answer(_errno(lambda: Path(path).open("rb")))


def _connect(port: str) -> Reading:
    return _answer(_errno(lambda: socket.create_connection(("127.0.0.1", int(port)))))


def _errno(act: Callable[[], object]) -> str:
    try:
        act()
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    return "done"


def _work(seconds: str) -> Reading:
    until = time.process_time() + float(seconds)
    while time.process_time() < until:
        pass
    return _answer("done")


def _swell(mebibytes: str) -> Reading:
    return _answer(str(len(b"x" * (int(mebibytes) * 1024 * 1024))))


def _refuse(code: str) -> NoReturn:
    raise Permanent(code, "No.")


def _chatter(word: str) -> NoReturn:
    frame = b'{"reading": %d}' % int(word)
    (channel,) = [number for number in range(3, 64) if _errno(lambda n=number: _is_socket(n)) == "done"]
    while True:
        os.write(channel, len(frame).to_bytes(8, "big") + frame)


def _is_socket(number: int) -> None:
    if not stat.S_ISSOCK(os.fstat(number).st_mode):
        raise OSError(errno.ENOTSOCK, os.strerror(errno.ENOTSOCK))


def _tell_all(word: str) -> Reading:
    return Reading([Block(word)], {"much": ["x" * 1024 * 1024] * 80})


def _tell_nothing_very_often(word: str) -> Reading:
    return Reading([Block(word)], {"nothing": [""] * 2_000_000})


_DEEDS: dict[str, Callable[[str], Reading]] = {
    "answer": _answer,
    "hang": _hang,
    "start": _hang_beside_a_program,
    "start-bound": _hang_beside_a_program_that_dies_with_it,
    "leave": _leave_a_program,
    "read": _read_file,
    "connect": _connect,
    "work": _work,
    "swell": _swell,
    "refuse": _refuse,
    "chatter": _chatter,
    "starve": lambda word: Reading([Block(word)], {word: len(bytearray(1 << 40))}),
    "tell-all": _tell_all,
    "tell-nothing": _tell_nothing_very_often,
    "abort": lambda _word: os.abort(),
    "exit": lambda word: os._exit(int(word)),
    "fail": lambda word: Reading([Block(word)], {word: 1 // 0}),
}

if __name__ == "__main__":
    html.read = _read
    sys.exit(forkserver.main())  # type: ignore[func-returns-value] # it returns nothing: success
