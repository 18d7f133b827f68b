"""The process that makes children: small, with one thread, every reader loaded, and nothing of the worker inside.

It is started as a new program with a cleaned environment and one open socket, so what it forks inherits no secret, no
connection and no lock. It answers two commands of the pool, and when the pool is gone it kills what it made and goes.
"""

import contextlib
import gc
import os
import shutil
import signal
import socket
import sys
from collections.abc import Iterable
from mmap import mmap
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from indexer.extract.isolation import child, sandbox
from indexer.extract.kinds import KINDS
from indexer.extract.pictures import program

FORK = b"F"
"""With a number that the pool gives once, and the child's end of a channel: make a child. The answer is its pid, or 0
where the system has no room for another process."""

END = b"E"
"""With the number of a child that lives here: kill it and all that it started. The answer is how it ended, as
`subprocess` has it, and in which member: whoever ends without a word has left the number in memory that is shared with
nobody else."""

READY = b"R"
"""Said once, when children can be made."""

NUMBER_BYTES = 8

ANSWER = Struct("!qI")
"""To a command: a pid or how a child ended, and the number of the member that it was reading, else 0."""


class Made(NamedTuple):
    """A child, and the memory that it shares with this process."""

    pid: int
    shared: mmap


def main() -> None:
    """Arguments: the control socket's number, the scratch folder, the terms of the children, the languages of OCR."""
    control = socket.socket(fileno=int(sys.argv[1]))
    scratch = Path(sys.argv[2])
    terms = child.Terms(int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]), forks=bool(sys.argv[6]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _load_readers()
    of_tesseract = program.files(sys.argv[6]) if terms.forks and sandbox.landlock_version() else ()
    sandbox.prepare(of_tesseract, forks=terms.forks)
    gc.freeze()  # so that children share these pages instead of copying them at their first collection
    children: dict[int, Made] = {}
    try:
        control.sendall(READY)
        _serve(control, scratch, terms, children)
    finally:
        for number in list(children):
            _end(number, children, scratch)
        shutil.rmtree(scratch, ignore_errors=True)


def _load_readers() -> None:
    for kind in KINDS.values():
        kind.reader()
    __import__("charset_normalizer")


def _serve(control: socket.socket, scratch: Path, terms: child.Terms, children: dict[int, Made]) -> None:
    while True:
        try:
            command, channels, _, _ = socket.recv_fds(control, 1 + NUMBER_BYTES, 1)
        except ConnectionResetError:
            return
        number = int.from_bytes(command[1:], "big")
        if command[:1] == FORK:
            made = _fork(control, socket.socket(fileno=channels[0]), scratch / str(number), terms, children.values())
            if made:
                children[number] = made
            answer = (made.pid if made else 0, 0)
        elif command[:1] == END:
            answer = _end(number, children, scratch)
        else:
            return
        control.sendall(ANSWER.pack(*answer))


def _fork(
    control: socket.socket, channel: socket.socket, scratch: Path, terms: child.Terms, others: Iterable[Made]
) -> Made | None:
    parent = os.getpid()
    try:
        shared = mmap(-1, child.MEMBER.size)
        pid = os.fork()
    except OSError:  # no reason to end with the children that there are
        channel.close()
        return None
    if pid:
        with contextlib.suppress(ProcessLookupError):
            os.setpgid(pid, pid)  # by whichever of the two comes first
        channel.close()
        return Made(pid, shared)
    code = 1
    try:
        control.close()
        for other in others:
            other.shared.close()
        os.dup2(0, 2)  # native parsers like to chat
        child.run(channel, shared, parent, scratch, terms)
        code = 0
    finally:
        os._exit(code)


def _end(number: int, children: dict[int, Made], scratch: Path) -> tuple[int, int]:
    pid, shared = children.pop(number)
    with contextlib.suppress(ProcessLookupError, PermissionError):  # so says macOS of a group that is dead
        os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    shutil.rmtree(scratch / str(number), ignore_errors=True)
    with shared:
        (member,) = child.MEMBER.unpack_from(shared)
    return os.waitstatus_to_exitcode(status), member


if __name__ == "__main__":
    main()
