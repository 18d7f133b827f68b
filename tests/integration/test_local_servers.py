"""The real PostgreSQL and Valkey of one machine, also as root below folders that only root may enter."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest
import redis
from sqlalchemy import make_url, text

from fencepost.local import binaries, processes
from fencepost.local.postgres import LocalPostgres, running_url
from fencepost.local.processes import StartError, User
from fencepost.local.servers import LocalServers
from fencepost.local.valkey import LocalValkey
from tests.support.servers import FAST, Database
from tests.support.waiting import until


@pytest.fixture
def private() -> Iterator[Path]:
    """A folder below two others that nobody but us may enter."""
    with TemporaryDirectory() as home:
        folder = Path(home, "checkout")
        folder.mkdir(mode=0o700)
        yield folder


def answers(url: str) -> bool:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT 1").fetchone() == (1,)


def command_line(pid: int) -> str:
    return subprocess.run(
        ["ps", "-ww", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=True
    ).stdout


def open_port(port: int) -> str:
    """The local address on which something listens, as hexadecimal in /proc."""
    lines = Path("/proc/net/tcp").read_text().splitlines() + Path("/proc/net/tcp6").read_text().splitlines()
    return next(
        line.split()[1] for line in lines[1:] if line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A"
    )


def test_a_fresh_database_is_migrated_empty_and_not_a_superusers(database: Database) -> None:
    with database.engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM jobs")) == 0
        assert connection.scalar(text("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")) is False
        assert connection.scalar(text("SHOW server_version")).startswith("18.")
        assert connection.scalar(text("SELECT lower('ÄΣ')")) == "äσ"


def test_postgres_restarts_and_survives_a_kill_on_the_same_address(postgres: LocalPostgres, database: Database) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("INSERT INTO tallies VALUES ('kept', 7)"))
    url, pid = postgres.url, postgres.pid
    postgres.restart()
    postgres.kill()
    postgres.start()
    assert postgres.url == url
    assert postgres.pid != pid
    with database.engine.connect() as connection:
        assert connection.scalar(text("SELECT count FROM tallies WHERE name = 'kept'")) == 7


def test_valkey_refuses_what_does_not_fit_and_forgets_on_restart(valkey: LocalValkey, broker_url: str) -> None:
    with redis.Redis.from_url(broker_url) as client:
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        client.set("kept", 1)
        client.config_set("maxmemory", "1mb")
        with pytest.raises(redis.exceptions.OutOfMemoryError):
            client.set("more", b"x" * 2_000_000)
        valkey.restart()
        assert client.get("kept") is None


def test_servers_keep_to_loopback_and_ask_for_a_password(postgres: LocalPostgres, valkey: LocalValkey) -> None:
    assert open_port(postgres.port).startswith("0100007F:")
    assert open_port(valkey.port).startswith("0100007F:")
    address = make_url(postgres.url)
    for wrong in (address.set(password="guess"), address.set(username="postgres")):
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(wrong.render_as_string(hide_password=False))
    with redis.Redis(port=valkey.port) as stranger, pytest.raises(redis.AuthenticationError):
        stranger.ping()


def test_the_database_of_a_running_stack_is_known_by_its_folder(postgres: LocalPostgres, tmp_path: Path) -> None:
    assert running_url(postgres.data) == postgres.url
    assert running_url(tmp_path) is None
    postgres.stop()
    assert running_url(postgres.data) is None
    postgres.start()
    assert running_url(postgres.data) == postgres.url


def test_passwords_are_neither_in_arguments_nor_in_files_of_others(
    postgres: LocalPostgres, valkey: LocalValkey
) -> None:
    assert make_url(postgres.url).password not in command_line(postgres.pid)
    assert valkey.password not in command_line(valkey.pid)
    assert postgres.password_file.stat().st_mode & 0o777 == 0o600
    for server in (postgres, valkey):
        assert server.folder.stat().st_mode & 0o777 == 0o700
        assert server.log.stat().st_mode & 0o777 == 0o600
        assert "PASSWORD" not in server.log.read_text()


def test_servers_start_below_a_private_folder_and_change_no_permission(private: Path) -> None:
    above = [*reversed(private.parents), private]
    before = [folder.stat().st_mode for folder in above]
    with LocalServers(private / "data") as servers:
        started = [server.pid for server in servers.started]
        assert answers(servers.database_url)
        with redis.Redis.from_url(servers.broker_url) as client:
            assert client.ping()
        if os.getuid() == 0:
            assert all(Path(f"/proc/{pid}").stat().st_uid == User.for_servers().uid for pid in started)
    assert [folder.stat().st_mode for folder in above] == before
    assert [processes.born(pid) for pid in started] == [None, None]


@pytest.mark.skipif(os.getuid() != 0, reason="only root needs a copy of the programs")
def test_root_copies_the_programs_where_others_may_run_them_whatever_the_umask(
    private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binaries, "CACHE", private / "cache")
    before = os.umask(0o077)
    try:
        programs = [binaries.postgres() / "postgres", binaries.postgres() / "initdb", binaries.valkey()]
    finally:
        os.umask(before)
    for program in programs:
        assert program.is_relative_to(private)
        assert program.stat().st_mode & 0o777 == 0o755
    modes = {path.stat().st_mode & 0o777 for path in (private / "cache").rglob("*")}
    assert modes == {0o755, 0o644}
    assert len(list((private / "cache").iterdir())) == 2  # nothing half-made is left


def test_a_start_ends_the_server_of_a_start_that_was_lost(private: Path) -> None:
    first = LocalPostgres(private, FAST).start()
    with LocalPostgres(private, FAST) as second:
        assert processes.born(first.pid) is None
        assert answers(second.url)
    first.stop()
    broker = LocalValkey(private).start()
    with LocalValkey(private):
        assert processes.born(broker.pid) is None
    broker.stop()


def test_a_stale_pid_file_with_the_number_of_another_program_does_no_harm(private: Path) -> None:
    server = LocalPostgres(private, FAST)
    with server:
        note = (server.folder / "postmaster.pid").read_text()
        server.kill()
    user = User.for_servers()
    # A program of the same user, whose number PostgreSQL itself would take for a running postmaster.
    other = subprocess.Popen(["sleep", "600"], user=user and user.uid, cwd="/")
    try:
        (server.folder / "postmaster.pid").write_text(note.replace(note.splitlines()[0], str(other.pid), 1))
        with server:
            assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_a_folder_that_was_half_made_is_made_anew(private: Path) -> None:
    (private / "postgres.new" / "base").mkdir(parents=True)
    with LocalPostgres(private, FAST) as server:
        assert answers(server.url)
    assert not (private / "postgres.new").exists()


def test_a_server_that_cannot_start_says_why(private: Path) -> None:
    with pytest.raises(StartError, match=r"postgres did not start: .*shared_buffers.*postgres\.log"):
        LocalPostgres(private, {"shared_buffers": "nonsense"}).start()


def test_a_taken_port_is_replaced_by_another(private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with LocalValkey(private / "one") as first:
        offered = iter([first.port, first.port + 1])
        monkeypatch.setattr("fencepost.local.ports.free_port", lambda: next(offered))
        with LocalValkey(private / "two") as second:
            assert second.port == first.port + 1


def test_servers_end_when_their_starter_is_killed(private: Path) -> None:
    code = (
        "import sys, signal; from pathlib import Path; from fencepost.local.servers import LocalServers\n"
        "servers = LocalServers(Path(sys.argv[1])).start()\n"
        "print(*[server.pid for server in servers.started], flush=True); signal.pause()"
    )
    starter = subprocess.Popen([sys.executable, "-c", code, private / "data"], stdout=subprocess.PIPE, text=True)
    pids = [int(pid) for pid in starter.stdout.readline().split()]
    assert len(pids) == 2
    starter.send_signal(signal.SIGKILL)
    assert starter.wait() == -signal.SIGKILL
    starter.stdout.close()
    until(lambda: [processes.born(pid) for pid in pids] == [None, None])
    with LocalServers(private / "data") as servers:
        assert answers(servers.database_url)
