"""The system calls that a child may not make, as a program for the kernel's filter (seccomp, classic BPF).

A list of what is shut, not of what is open: CPython, its native parsers and Tesseract need some hundred calls, which
differ between C libraries. What is shut fails with "not permitted", as if the user lacked the right.
"""

import errno
import platform
import struct
import sys
from dataclasses import dataclass
from functools import cache

INSTRUCTION_BYTES = 8

# (number on x86-64, on aarch64); None where the architecture has no such call. From the kernel's unistd headers.
_SHUT: dict[str, tuple[int | None, int | None]] = {
    # the network and local sockets: the channel to the worker is open already, and of a pair each half might be sent
    # on to any socket in the file system, which Landlock does not prevent
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201),
    # a second way into the kernel, past this filter
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    # other processes: their memory, descriptors, priority and signals
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "process_madvise": (440, 440), "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424),
    "setpriority": (141, 140), "ioprio_set": (251, 30), "sched_setparam": (142, 118), "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274), "sched_setaffinity": (203, 122), "migrate_pages": (256, 238), "move_pages": (279, 239),
    # out of the process group, which dies with the child
    "setsid": (112, 157), "setpgid": (109, 154),
    # what Landlock leaves open about files: their rights, owners, times, attributes, and handles past their path
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "lchown": (94, None), "fchown": (93, 55), "fchownat": (260, 54),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "removexattrat": (466, 466),
    "truncate": (76, 45), "open_by_handle_at": (304, 265), "fanotify_init": (300, 262), "file_setattr": (469, 469),
    # what happens in folders that may not be read
    "inotify_init": (253, None), "inotify_init1": (294, 26), "inotify_add_watch": (254, 27),
    # things with a name that outlive the child
    "shmget": (29, 194), "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    # mounts, roots and namespaces
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97),
    "setns": (308, 268), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    # the kernel and the machine
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "personality": (135, 92),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
    "acct": (163, 89), "quotactl": (179, 60), "syslog": (103, 116),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171), "clock_adjtime": (305, 266),
    "sethostname": (170, 161), "setdomainname": (171, 162),
    "iopl": (172, None), "ioperm": (173, None), "modify_ldt": (154, None),
}  # fmt: skip

_CLONE = (56, 220)
_CLONE3 = (435, 435)  # its flags lie in memory, where a filter cannot see them; without it the C library uses clone
_SHUT_FLAGS = (
    0x7E020000  # CLONE_NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET
    | 0x8000  # CLONE_PARENT: nobody would wait for its end
)
_THREAD = 0x10000  # CLONE_THREAD
_FORKS = ((57, None), (58, None))  # fork and vfork, which aarch64 does not have
_PRLIMIT = (302, 261)  # for a process itself (0) only
_KILL = (62, 129)  # one process only: neither a group nor everybody

_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_COLUMN = {"x86_64": 0, "aarch64": 1}
_X32 = 0x40000000  # this bit in a number asks x86-64 for its second table of calls

ARCHITECTURE = platform.machine() if sys.platform == "linux" and platform.machine() in _AUDIT else None
"""The architecture if there is a filter for it."""

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16  # struct seccomp_data; low half of the argument
_ALLOW = 0x7FFF0000
_FAIL_WITH = 0x00050000
_NEGATIVE = 0x80000000


@dataclass(frozen=True, slots=True)
class _Step:
    """One instruction: where to go if its test is true, and if not; no name is the next one."""

    code: int
    value: int
    then: str = ""
    otherwise: str = ""
    name: str = ""


@cache
def program(architecture: str, *, forks: bool) -> bytes:
    """The filter for an architecture, with other processes or without; threads are always allowed."""
    column = _COLUMN[architecture]
    numbers = [numbers[column] for numbers in (*_SHUT.values(), *(() if forks else _FORKS))]
    return _assembled(
        [
            _Step(_LOAD, _ARCHITECTURE_AT),
            _Step(_EQUAL, _AUDIT[architecture], otherwise="refuse"),
            _Step(_LOAD, _NUMBER_AT),
            _Step(_AT_LEAST, _X32, then="refuse"),
            *[_Step(_EQUAL, number, then="refuse") for number in numbers if number is not None],
            _Step(_EQUAL, _CLONE3[column], then="missing"),
            _Step(_EQUAL, _CLONE[column], then="clone"),
            _Step(_EQUAL, _PRLIMIT[column], then="prlimit"),
            _Step(_EQUAL, _KILL[column], then="kill", otherwise="allow"),
            _Step(_LOAD, _FIRST_ARGUMENT_AT, name="clone"),
            _Step(_ANY_BIT, _SHUT_FLAGS, then="refuse"),
            _Step(_ANY_BIT, _THREAD, then="allow", otherwise="allow" if forks else "refuse"),
            _Step(_LOAD, _FIRST_ARGUMENT_AT, name="prlimit"),
            _Step(_EQUAL, 0, then="allow", otherwise="refuse"),
            _Step(_LOAD, _FIRST_ARGUMENT_AT, name="kill"),
            _Step(_EQUAL, 0, then="refuse"),
            _Step(_AT_LEAST, _NEGATIVE, then="refuse"),
            _Step(_RETURN, _ALLOW, name="allow"),
            _Step(_RETURN, _FAIL_WITH | errno.EPERM, name="refuse"),
            _Step(_RETURN, _FAIL_WITH | errno.ENOSYS, name="missing"),
        ]
    )


def _assembled(steps: list[_Step]) -> bytes:
    places = {step.name: place for place, step in enumerate(steps) if step.name}

    def ahead(name: str, place: int) -> int:
        return places[name] - place - 1 if name else 0

    return b"".join(
        struct.pack("=HBBI", step.code, ahead(step.then, place), ahead(step.otherwise, place), step.value)
        for place, step in enumerate(steps)
    )
