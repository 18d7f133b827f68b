"""Runs a local stack as a process of its own: `python run_stack.py DATA [PORT]`, with stand-ins for our processes."""

import sys
from contextlib import suppress
from pathlib import Path

from fencepost.local import stack
from pipeline.errors import FencepostError
from pipeline.settings import load
from tests.support import programs

CHILDREN = [
    programs.python("api", programs.SERVES_HEALTH),
    programs.python("worker-1", programs.WAITS),
    programs.python("sweeper", programs.WAITS),
]


def main(data: str, port: str | None = None) -> int:
    """The exit code: 0 after a clean stop, 1 with a sentence when it could not start."""
    try:
        with suppress(KeyboardInterrupt):
            asked = None if port is None else int(port)
            with stack.running(load(), Path(data), asked, children=CHILDREN) as running:
                running.log.say("fencepost", f"ready at {running.url}")
                running.wait()
    except FencepostError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
