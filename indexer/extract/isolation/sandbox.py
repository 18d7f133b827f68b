"""What a child may ask of Linux once it reads documents: to read programs, to stay in its own folder, and no more.

It gives up what root may do beyond others, and two locks of the kernel close, as far as it has them. Landlock shuts
files, TCP, and signals and sockets to the outside. A seccomp filter (`syscalls`) shuts what a reader has no business
with: sockets, other processes, mounts, keys, the kernel itself. All of it holds for all that the child starts, and
nobody can take it off again.
"""

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path, PurePath
from stat import S_ISDIR

from indexer.extract.isolation import syscalls

NONE = "none on this system"

_PROGRAMS = ("/usr", "/lib", "/lib64", "/bin", "/opt", "/nix/store")
_SMALL_FILES = ("/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types", "/dev/urandom", "/dev/random")
_NULL = "/dev/null"

_others: set[str] = set()  # what `prepare` was told

_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2

# linux/capability.h: effective, permitted and inheritable ones up to 31, then the same above
_CAPABILITIES_VERSION = 0x20080522
_CAPABILITIES = struct.Struct("=6I")
_READ_ALL = 1 << 2  # CAP_DAC_READ_SEARCH

# The numbers of Landlock's three calls are the same on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1

# linux/landlock.h, LANDLOCK_ACCESS_FS_*
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = (1 << bit for bit in range(4))
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15

_FIRST_VERSION = (1 << 13) - 1  # all bits up to MAKE_SYM
_SINCE = {2: _REFER, 3: _TRUNCATE, 5: _IOCTL_DEV}
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_READ = _EXECUTE | _READ_FILE | _READ_DIR

_TCP_SINCE, _BIND_AND_CONNECT = 4, 0b11
_SCOPE_SINCE, _ABSTRACT_SOCKETS_AND_SIGNALS = 6, 0b11

_LIBC = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def summary() -> str:
    """What this system has of it: `landlock 7, seccomp`."""
    version = landlock_version()
    parts = ([f"landlock {version}"] if version else []) + (["seccomp"] if has_seccomp() else [])
    return ", ".join(parts) or NONE


def landlock_version() -> int:
    """The version of Landlock in this kernel, 0 where there is none."""
    if sys.platform != "linux":
        return 0
    version: int = _LIBC.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)
    return max(0, version)


def has_seccomp() -> bool:
    """Whether this kernel takes a filter, and we have one for its architecture."""
    if sys.platform != "linux" or syscalls.ARCHITECTURE is None:
        return False
    _LIBC.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, None, 0, 0)  # a kernel that has it complains of the address
    return ctypes.get_errno() == errno.EFAULT


def prepare(others: Iterable[str] = (), *, forks: bool) -> None:
    """Finds out, before children are forked, what is the same for all of them. They may read these `others` as well."""
    _others.update(others)
    _readable()
    if syscalls.ARCHITECTURE:
        syscalls.program(syscalls.ARCHITECTURE, forks=forks)


def enter(scratch: Path, *, forks: bool) -> None:
    """Locks this process in for good, and alone if it `forks` no others.

    Raises OSError if a lock that the kernel has does not close.
    """
    if sys.platform != "linux":
        return
    _succeed(_LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _give_up_capabilities()
    if version := landlock_version():
        _enter_landlock(version, scratch)
    if syscalls.ARCHITECTURE and has_seccomp():
        code = syscalls.program(syscalls.ARCHITECTURE, forks=forks)
        filter_ = _Program(len(code) // syscalls.INSTRUCTION_BYTES, code)
        _succeed(_LIBC.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(filter_), 0, 0))


def _give_up_capabilities() -> None:
    """Root could lift every bound and become anybody; what is left to it is reading programs of other users."""
    header = struct.pack("=Ii", _CAPABILITIES_VERSION, 0)
    sets = ctypes.create_string_buffer(_CAPABILITIES.size)
    _succeed(_LIBC.capget(header, sets))
    effective, permitted, _, *_above = _CAPABILITIES.unpack(sets.raw)
    kept = _CAPABILITIES.pack(effective & _READ_ALL, permitted & _READ_ALL, 0, 0, 0, 0)
    _succeed(_LIBC.capset(header, kept))


def _enter_landlock(version: int, scratch: Path) -> None:
    shut = _FIRST_VERSION | sum(bit for since, bit in _SINCE.items() if version >= since)
    tcp = _BIND_AND_CONNECT if version >= _TCP_SINCE else 0
    scoped = _ABSTRACT_SOCKETS_AND_SIGNALS if version >= _SCOPE_SINCE else 0
    ruleset = struct.pack("=QQQ", shut, tcp, scoped)  # an older kernel accepts fields it does not know if they are zero
    rules = _succeed(_LIBC.syscall(_CREATE_RULESET, ruleset, ctypes.c_size_t(len(ruleset)), 0))
    try:
        for path in _readable():
            _allow(rules, path, shut & _READ)
        _allow(rules, str(scratch), shut & _READ_DIR)
        _allow(rules, _NULL, shut & (_READ_FILE | _WRITE_FILE))
        _succeed(_LIBC.syscall(_RESTRICT_SELF, rules, 0))
    finally:
        os.close(rules)


@cache
def _readable() -> tuple[str, ...]:
    ours = (sys.prefix, sys.base_prefix, *sys.path)
    places = {os.path.realpath(path) for path in (*_PROGRAMS, *_SMALL_FILES, *ours) if path}
    return (*places, *(path for path in _others if not any(map(PurePath(path).is_relative_to, places))))


def _allow(rules: int, path: str, access: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:  # what is not there needs no permission
        return
    try:
        is_folder = S_ISDIR(os.fstat(place).st_mode)
        rule = struct.pack("=Qi", access if is_folder else access & _OF_A_FILE, place)
        _succeed(_LIBC.syscall(_ADD_RULE, rules, _PATH_BENEATH, rule, 0))
    finally:
        os.close(place)


def _succeed(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
