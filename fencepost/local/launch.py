"""Becomes another program that ends with the process that started it.

    python -I -S launch.py PARENT SIGNAL UID:GID|- PROGRAM ARGUMENT…

A program of its own and no `preexec_fn`, because Python code between fork and exec can deadlock a process with threads.
It is run by its path, so it imports nothing of ours.
"""

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1


def become(parent: int, signal: int, user: str, command: list[str]) -> None:
    """Takes on `user`, asks the kernel for `signal` when the process `parent` ends, and executes `command`."""
    if user != "-":
        uid, gid = (int(part) for part in user.split(":"))
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if sys.platform == "linux":
        # After the change of user, which clears it. A parent that has died before this line is seen below.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal)
    if os.getppid() != parent:
        sys.exit(1)
    os.execv(command[0], command)  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    become(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:])
