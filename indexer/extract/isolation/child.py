"""The life of a child process: one document after the other, until it has read enough or the parent hangs up.

Whatever a reader does is caught here and told; what cannot be caught ends this process and nothing else.
"""

import ctypes
import math
import os
import resource
import signal
import socket
import sys
import time
from dataclasses import dataclass
from functools import partial
from mmap import mmap
from pathlib import Path
from struct import Struct

import orjson

from indexer.extract.extraction import extract
from indexer.extract.isolation import sandbox, wire
from indexer.extract.kinds import KINDS, Kind
from indexer.extract.types import Request
from pipeline.errors import Permanent

_PR_SET_PDEATHSIG = 1
_OPEN_FILES = 64
_RETIRE_ABOVE_BYTES = 256 * 1024 * 1024
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024

MEMBER = Struct("I")
"""The number of the member that a child is reading, in the memory that it shares with who made it."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a child may use, for how many documents; whether it `forks`, as only Tesseract makes it do."""

    memory_bytes: int
    seconds: float
    documents: int
    forks: bool


def run(channel: socket.socket, shared: mmap, parent: int, scratch: Path, terms: Terms) -> None:
    """Reads up to so many documents, each within its limits, and returns."""
    _isolate(parent, scratch, terms.memory_bytes)
    sandbox.enter(scratch, forks=terms.forks)
    last = False
    for left in reversed(range(terms.documents)):
        _allow_cpu(terms.seconds)
        try:
            with wire.receive_request(channel) as (request, kind):
                request.spent.tell = partial(MEMBER.pack_into, shared, 0)
                request.spent.tell(0)
                answer = _answer(request, KINDS[kind])
            last = not left or _peak_bytes() > _RETIRE_ABOVE_BYTES
            packed = orjson.dumps(answer | {"last": last})
        except MemoryError:
            last = True
            packed = orjson.dumps({"memory": True, "last": last})
        except wire.ClosedError:
            return
        wire.send(channel, packed)
        if last:
            return


def _answer(request: Request, kind: Kind) -> dict[str, object]:
    try:
        return {"extraction": wire.pack_extraction(extract(request, kind))}
    except Permanent as refusal:
        return {"refusal": [refusal.code, refusal.message]}
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - a reader's failure is the document's, whatever it is
        return {"failure": f"{type(error).__name__}: {error}"[:500]}


def _isolate(parent: int, scratch: Path, memory_bytes: int) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.setpgid(0, 0)  # what it starts dies with it: the sandbox lets nobody out of this group
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before we asked to die with it
            os._exit(1)
    scratch.mkdir(mode=0o700)
    os.chdir(scratch)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, _OPEN_FILES))
    if sys.platform == "linux":  # elsewhere the system does not keep to it
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))


def _allow_cpu(seconds: float) -> None:
    """Renews the bound on processor time, the second line should the parent be unable to watch the clock."""
    soft = math.ceil(time.process_time() + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT
