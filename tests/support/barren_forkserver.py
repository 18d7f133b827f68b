"""The real fork server on a system that has room for one process more and no other."""

import errno
import os
import sys

from indexer.extract.isolation import forkserver

_fork = os.fork
_room = iter([True])


def _fork_if_there_is_room() -> int:
    if next(_room, False):
        return _fork()
    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))


if __name__ == "__main__":
    os.fork = _fork_if_there_is_room
    sys.exit(forkserver.main())  # type: ignore[func-returns-value] # it returns nothing: success
