"""What a child may do once it reads documents: each test tries it, in a process that has entered the sandbox."""

import errno
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from mmap import PROT_EXEC, PROT_READ, PROT_WRITE, mmap
from pathlib import Path

import orjson
import pytest

from indexer.extract.isolation import sandbox, syscalls
from pipeline import events
from pipeline.settings import Extract

pytestmark = pytest.mark.skipif(sandbox.summary() == sandbox.NONE, reason="this system has no sandbox")
LANDLOCK = pytest.mark.skipif(not sandbox.landlock_version(), reason="no Landlock here")
SCOPES = pytest.mark.skipif(sandbox.landlock_version() < 6, reason="Landlock keeps signals in since its version 6")
REFUSED = {errno.EPERM, errno.EACCES}

Action = Callable[[], object]


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    document = tmp_path / "somebody.txt"
    document.write_text("somebody else's")
    return document


def confined(scratch: Path, action: Action, *, forks: bool = True) -> object:
    """What comes of an action in a confined child of this process: its result, or the number of its OSError."""
    reads, writes = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.setpgid(0, 0)
            sandbox.enter(scratch, forks=forks)
            answer = action()
        except OSError as error:
            answer = {"errno": error.errno}
        except BaseException:  # noqa: BLE001 - told to the test
            answer = {"error": traceback.format_exc()}
        os.write(writes, orjson.dumps(answer))
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads, "rb") as pipe:
        said = pipe.read()
    os.waitpid(pid, 0)
    return orjson.loads(said)


def is_refused(scratch: Path, action: Action) -> bool:
    """Whether an action succeeds here, and is refused in the sandbox."""
    answer = confined(scratch, action)
    return isinstance(answer, dict) and answer.get("errno") in REFUSED


@LANDLOCK
@pytest.mark.parametrize(
    "act",
    [
        lambda path: path.write_text("mine"),
        lambda path: path.open("r+").close(),
        lambda path: os.truncate(path, 1),
        lambda path: path.unlink(),
        lambda path: path.rename(path.with_name("mine.txt")),
        lambda path: path.with_name("new.txt").touch(),
        lambda path: path.with_name("folder").mkdir(),
        lambda path: path.with_name("link").symlink_to(path),
        lambda path: path.with_name("hard").hardlink_to(path),
        lambda path: os.mkfifo(path.with_name("pipe")),
        lambda path: path.rename(path.parent / "scratch" / "mine.txt"),
        lambda path: path.read_text(),
        lambda path: list(path.parent.iterdir()),
    ],
)
def test_files_of_others_are_shut(scratch: Path, outside: Path, act: Callable[[Path], object]) -> None:
    assert is_refused(scratch, lambda: act(outside))
    assert outside.read_text() == "somebody else's"
    assert {path.name for path in outside.parent.iterdir()} == {"scratch", "somebody.txt"}
    act(outside)  # it is the sandbox that refuses


@pytest.mark.parametrize(
    "act",
    [
        lambda path: path.chmod(0o777),
        lambda path: os.utime(path, (0, 0)),
        lambda path: os.chown(path, os.getuid(), os.getgid()),
    ],
)
def test_rights_and_times_of_files_are_shut(scratch: Path, outside: Path, act: Callable[[Path], object]) -> None:
    before = outside.stat()
    assert is_refused(scratch, lambda: act(outside))
    assert outside.stat() == before
    act(outside)


@LANDLOCK
@pytest.mark.parametrize(
    "act",
    [
        lambda path: (path / "a").touch(),
        lambda path: (path / "folder").mkdir(),
        lambda path: (path / "b").symlink_to("a"),
        lambda path: os.mkfifo(path / "pipe"),
        lambda path: (path / "there").unlink(),
    ],
)
def test_even_the_folder_of_the_child_stays_as_it_is(scratch: Path, act: Callable[[Path], object]) -> None:
    """Folders without end inside each other would be more than the fork server can remove."""
    (scratch / "there").touch()
    assert is_refused(scratch, lambda: act(scratch))
    assert confined(scratch, lambda: [path.name for path in scratch.iterdir()]) == ["there"]
    act(scratch)


def test_a_bound_of_a_child_is_not_lifted_again(scratch: Path) -> None:
    def lift() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))

    answer = confined(scratch, lift)
    assert isinstance(answer, dict)
    assert answer.get("errno") == errno.EPERM or "not allowed to raise" in str(answer)


@pytest.mark.skipif(os.getuid() != 0, reason="nobody else could do it outside of the sandbox")
def test_root_is_nobody_in_the_sandbox(scratch: Path) -> None:
    assert is_refused(scratch, lambda: os.setuid(65534))
    command = [sys.executable, "-c", "import os; os.setuid(65534)"]
    ran = confined(scratch, lambda: subprocess.run(command, stderr=-1, text=True, check=False).stderr)
    assert "PermissionError" in str(ran), "nor is a program that it starts"


@pytest.mark.skipif(not sandbox.has_seccomp(), reason="no seccomp here")
def test_half_a_pair_of_sockets_is_sent_to_nobody(scratch: Path, tmp_path: Path) -> None:
    def send() -> None:
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        with ours, its:
            ours.sendto(b"a secret", str(address))

    address = tmp_path / "log"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(address))
        listener.setblocking(False)
        assert is_refused(scratch, send)
        with pytest.raises(BlockingIOError):
            listener.recv(10)
        send()
        assert listener.recv(10) == b"a secret"


def test_there_is_no_network(scratch: Path) -> None:
    def connect() -> None:
        socket.create_connection(address, timeout=5).close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
        connect()
        assert is_refused(scratch, connect)
        assert is_refused(scratch, lambda: socket.create_server(("127.0.0.1", 0)).close())


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK])
@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_no_socket_can_be_made(scratch: Path, family: int, kind: int) -> None:
    assert is_refused(scratch, lambda: socket.socket(family, kind).close())


@LANDLOCK
def test_a_socket_from_before_connects_nowhere(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "has_seccomp", lambda: False)
    if sandbox.landlock_version() < 4:
        pytest.skip("Landlock knows TCP since its version 4")
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as before:
        assert is_refused(scratch, lambda: before.connect(listener.getsockname()))
        before.connect(listener.getsockname())


@LANDLOCK
@pytest.mark.parametrize("name", ["environ", "mem", "maps", "root/etc/hostname", "cmdline"])
def test_the_secrets_of_the_worker_are_shut(scratch: Path, name: str) -> None:
    path = Path(f"/proc/{os.getpid()}/{name}")
    assert is_refused(scratch, lambda: path.open("rb").close())
    path.open("rb").close()


@SCOPES
@pytest.mark.parametrize("number", [0, signal.SIGCONT])
def test_the_worker_cannot_be_signalled(scratch: Path, number: int) -> None:
    worker = os.getpid()
    assert is_refused(scratch, lambda: os.kill(worker, number))


@pytest.mark.parametrize("whom", [0, -1])
def test_nobody_signals_in_general(scratch: Path, whom: int) -> None:
    assert is_refused(scratch, lambda: os.kill(whom, 0))


def test_the_worker_keeps_its_limits_and_priority(scratch: Path) -> None:
    worker = os.getpid()
    same = resource.getrlimit(resource.RLIMIT_CPU)
    for act in (
        lambda: resource.prlimit(worker, resource.RLIMIT_CPU, same),
        lambda: os.setpriority(os.PRIO_PROCESS, worker, os.getpriority(os.PRIO_PROCESS, worker)),
        lambda: os.sched_setaffinity(worker, os.sched_getaffinity(worker)),
    ):
        act()
        assert is_refused(scratch, act)


def test_nobody_leaves_the_process_group(scratch: Path) -> None:
    def leave() -> None:
        if os.fork() == 0:
            try:
                os.setsid()
            finally:
                os._exit(0)
        os.wait()
        os.setpgid(0, os.getpgid(os.getppid()))

    assert is_refused(scratch, leave)
    assert is_refused(scratch, os.setsid)


CALLS = [name for name, numbers in syscalls._SHUT.items() if syscalls.ARCHITECTURE and numbers[0] is not None]


@pytest.mark.parametrize("name", CALLS)
def test_a_shut_call_is_refused(scratch: Path, name: str) -> None:
    number = syscalls._SHUT[name][syscalls._COLUMN[syscalls.ARCHITECTURE or ""]]
    assert confined(scratch, lambda: raw(number)) == errno.EPERM


def raw(number: int | None, *arguments: int) -> int:
    """The error number of a system call with these arguments, all of them wrong if there are none."""
    result = sandbox._LIBC.syscall(number, *(arguments or (-1, -1, -1, -1, -1, -1)))
    return sandbox.ctypes.get_errno() if result < 0 else 0


@pytest.mark.skipif(syscalls.ARCHITECTURE != "x86_64", reason="only there")
def test_the_second_table_of_calls_is_refused(scratch: Path) -> None:
    assert confined(scratch, lambda: raw(syscalls._X32 | 39)) == errno.EPERM


def identify_by_the_old_gate() -> int:
    """The process's number by `int 0x80`, which asks x86-64 for the calls of 32 bits; negative where it is refused."""
    code = b"\x53" + b"\xb8\x14\0\0\0" + b"\xcd\x80" + b"\x5b" + b"\xc3"  # keep rbx; getpid; give rbx back
    with mmap(-1, len(code), prot=PROT_READ | PROT_WRITE | PROT_EXEC) as memory:
        memory.write(code)
        place = sandbox.ctypes.c_char.from_buffer(memory)
        number: int = sandbox.ctypes.CFUNCTYPE(sandbox.ctypes.c_int)(sandbox.ctypes.addressof(place))()
        del place
    return number


@pytest.mark.skipif(syscalls.ARCHITECTURE != "x86_64", reason="only there")
def test_the_calls_of_another_architecture_are_refused(scratch: Path) -> None:
    """Their numbers mean other calls, which the list would let through."""
    pid = os.fork()
    if not pid:
        os._exit(identify_by_the_old_gate() != os.getpid())
    if os.waitpid(pid, 0)[1]:
        pytest.skip("this kernel has none")
    assert confined(scratch, identify_by_the_old_gate) == -errno.EPERM


@pytest.mark.parametrize("flag", [1 << bit for bit in range(32) if syscalls._SHUT_FLAGS & 1 << bit])
def test_there_are_no_namespaces_and_no_siblings(scratch: Path, flag: int) -> None:
    column = syscalls._COLUMN[syscalls.ARCHITECTURE or ""]
    assert confined(scratch, lambda: raw(syscalls._CLONE[column], flag, 0, 0, 0, 0)) == errno.EPERM
    assert confined(scratch, lambda: raw(syscalls._CLONE3[column], 0, 0)) == errno.ENOSYS


def test_a_program_can_be_started_talked_to_and_ended(scratch: Path) -> None:
    def start() -> list[object]:
        script = "import sys, threading; t = threading.Thread(target=print, args=(sys.stdin.read(),)); t.start()"
        ran = subprocess.run([sys.executable, "-c", script], input="words", capture_output=True, text=True, check=True)
        with subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL) as sleeps:
            sleeps.kill()
        return [ran.stdout, sleeps.returncode]

    assert confined(scratch, start) == ["words\n", -signal.SIGKILL]


def forked_by(number: int, *arguments: int) -> None:
    """Forks by a system call."""
    pid = sandbox._succeed(sandbox._LIBC.syscall(number, *arguments))
    if not pid:
        os._exit(0)


def start_a_thread() -> int:
    started = threading.Thread(target=os.getpid)
    started.start()
    started.join()
    return 7


@pytest.mark.skipif(not sandbox.has_seccomp(), reason="no seccomp here")
@pytest.mark.parametrize(
    "act",
    [
        lambda: os.fork() or os._exit(0),
        lambda: subprocess.run(["/bin/true"], check=True),
        lambda: os.posix_spawn("/bin/true", ["true"], {}),
        lambda: forked_by(syscalls._CLONE[syscalls._COLUMN[syscalls.ARCHITECTURE or ""]], signal.SIGCHLD, 0, 0, 0, 0),
    ],
    ids=["fork", "subprocess", "spawn", "clone"],
)
def test_where_no_pictures_are_read_there_is_no_other_process(scratch: Path, act: Action) -> None:
    """For the bound on processes does not hold for root, and one document could take all there are."""
    answer = confined(scratch, act, forks=False)
    assert isinstance(answer, dict)
    assert answer.get("errno") == errno.EPERM
    assert confined(scratch, start_a_thread, forks=False) == 7
    assert confined(scratch, lambda: act() and None) is None


@pytest.mark.skipif(syscalls.ARCHITECTURE != "x86_64", reason="only there")
@pytest.mark.parametrize("number", [57, 58], ids=["fork", "vfork"])
def test_the_old_calls_that_fork_are_refused_as_well(scratch: Path, number: int) -> None:
    assert confined(scratch, lambda: raw(number, 0, 0, 0, 0, 0, 0), forks=False) == errno.EPERM


def test_what_a_child_starts_is_confined_as_well(scratch: Path) -> None:
    script = "import socket; socket.socket()"
    ran = confined(
        scratch, lambda: subprocess.run([sys.executable, "-c", script], stderr=-1, text=True, check=False).stderr
    )
    assert "PermissionError" in str(ran)


def test_a_system_without_a_sandbox_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from indexer.extract.isolation.pool import ExtractionPool  # noqa: PLC0415 - what is patched is looked up there

    told: list[str] = []

    def note(name: str, _fields: dict[str, object]) -> None:
        told.append(name)

    events.subscribe(note)
    try:
        ExtractionPool(Extract()).close()
        assert told == []
        monkeypatch.setattr(sandbox, "landlock_version", lambda: 0)
        ExtractionPool(Extract()).close()
        assert told == []
        monkeypatch.setattr(sandbox, "has_seccomp", lambda: False)
        assert sandbox.summary() == "none on this system"
        ExtractionPool(Extract()).close()
        assert told == ["extraction.unconfined"]
    finally:
        events.unsubscribe(note)
