"""A real PgBouncer in transaction mode before the PostgreSQL of the tests."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
from sqlalchemy import make_url

from fencepost.local.ports import free_port
from fencepost.local.processes import User
from tests.support.waiting import until

PROGRAM = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")


@contextmanager
def pooling(database_url: str, *, connections: int) -> Iterator[str]:
    """The address of a pooler with so few connections that every transaction may get another one."""
    assert PROGRAM is not None
    url = make_url(database_url)
    port = free_port()
    with TemporaryDirectory(prefix="fencepost-pooler-") as name:
        folder = Path(name)
        users, settings = folder / "users.txt", folder / "pgbouncer.ini"
        users.write_text(f'"{url.username}" "{url.password}"\n')
        settings.write_text(
            f"[databases]\n{url.database} = host={url.host} port={url.port}\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
            f"auth_type = scram-sha-256\nauth_file = {users}\npool_mode = transaction\n"
            f"default_pool_size = {connections}\nmax_client_conn = 200\n"
        )
        command = [PROGRAM, str(settings)]
        if user := User.for_servers():
            for path in (folder, users, settings):
                shutil.chown(path, user.uid, user.gid)
            command = ["setpriv", f"--reuid={user.uid}", f"--regid={user.gid}", "--clear-groups", *command]
        with (folder / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
            try:
                pooled = url.set(host="127.0.0.1", port=port).render_as_string(hide_password=False)
                until(lambda: answers(pooled), what="PgBouncer")
                yield pooled
            finally:
                process.terminate()


def answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True
