"""docker-compose.yml without Docker: its servers, commands, settings, health checks and stop times, as processes."""

import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx
import psycopg
import pytest
from sqlalchemy import make_url

from fencepost.local.opensearch import LocalOpenSearch
from fencepost.local.ports import LOOPBACK, free_port
from tests.support import compose, production, servers
from tests.support.compose import PROCESSES
from tests.support.production import Production, ProductionPostgres
from tests.support.waiting import until

SAMPLES = compose.ROOT / "fencepost" / "samples"


@pytest.fixture
def running(tmp_path: Path, opensearch: LocalOpenSearch, index_prefix: str) -> Iterator[Production]:
    """The servers of the compose file, and none of our processes yet."""
    (tmp_path / "env").mkdir()
    (tmp_path / "logs").mkdir()
    services = compose.services(compose.made_env(tmp_path / "env"))
    with (
        ProductionPostgres(tmp_path, servers.FAST) as postgres,
        production.valkey(services["valkey"], tmp_path / "broker") as broker_port,
    ):
        postgres.run_init_script(services["postgres"].environment)
        addresses = {
            "postgres:5432": f"{LOOPBACK}:{postgres.port}",
            "valkey:6379": f"{LOOPBACK}:{broker_port}",
            "opensearch:9200": f"{LOOPBACK}:{opensearch.port}",
            "0.0.0.0": LOOPBACK,  # noqa: S104 - it is replaced
        }
        variables = {"FENCEPOST_PORT": str(free_port()), "FENCEPOST_OPENSEARCH__PREFIX": index_prefix}
        started = Production(services, addresses, tmp_path / "logs", variables)
        try:
            yield started
        finally:
            started.close()


def test_documents_are_found_and_every_process_ends_in_time(running: Production) -> None:
    migrated = running.start("migrate")
    assert migrated.wait(60) == 0, running.logs()
    running.processes.clear()
    for name in PROCESSES:
        assert not running.is_healthy(name)
        for _ in range(running.services[name].replicas):
            running.start(name)
    for name in PROCESSES:
        until(partial(running.is_healthy, name), seconds=90, what=f"a healthy {name}")

    made = running.run("api", "keys", "create", "admin", "--scope", "admin")
    assert made.returncode == 0, made.stderr
    key = {"Authorization": f"Bearer {made.stdout.strip()}"}
    url = f"http://{LOOPBACK}:{running.variables['FENCEPOST_PORT']}"
    assert httpx.get(f"{url}/v1/documents").status_code == 401
    with httpx.Client(base_url=url, timeout=90, headers=key) as client:
        until(lambda: alive(client) == {"api": 1, "relay": 2, "worker": 2, "sweeper": 1}, what="every replica")
        for name, words in {"catalogue.pdf": "breeches buoy", "harbour-rules.txt": "harbour"}.items():
            assert upload(client, SAMPLES / name)["state"] == "succeeded"
            until(partial(is_found, client, name, words), what=f"{name} among the hits")

    for _, process in running.processes:
        process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    for service, process in running.processes:
        left = began + service.stop_seconds - time.monotonic()
        assert process.wait(max(left, 0)) == 0, f"{service.name} ended with {process.returncode}"
    assert not any(running.is_healthy(name) for name in PROCESSES)


def test_the_application_is_an_ordinary_role_and_nobody_is_the_superuser_from_afar(running: Production) -> None:
    address = running._environment(running.services["api"])["FENCEPOST_DATABASE_URL"]
    with psycopg.connect(address) as connection:
        row = connection.execute(
            "SELECT rolsuper, rolcreatedb, rolcreaterole, rolbypassrls, rolreplication "
            "FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
    assert row == (False,) * 5
    superuser = make_url(address).set(username="postgres", password=None, database="postgres")
    with psycopg.connect(superuser.render_as_string(hide_password=False)) as connection:
        assert connection.execute("SELECT rolpassword FROM pg_authid WHERE rolname = 'postgres'").fetchone() == (None,)
        others = "SELECT has_database_privilege('pg_monitor', 'fencepost', 'CONNECT')"
        assert connection.execute(others).fetchone() == (False,)


def alive(client: httpx.Client) -> dict[str, int]:
    """How many processes of each kind are alive."""
    kinds = [process["kind"] for process in client.get("/v1/workers").json()["items"] if process["alive"]]
    return {kind: kinds.count(kind) for kind in PROCESSES}


def upload(client: httpx.Client, path: Path) -> dict[str, str]:
    """Uploads a file and waits until its document is final."""
    names = {"key": path.name, "filename": path.name, "wait": "60"}
    answer = client.post("/v1/documents", params=names, content=path.read_bytes())
    assert answer.status_code in {200, 202}, answer.text
    document: dict[str, str] = answer.json()
    return document


def is_found(client: httpx.Client, key: str, words: str) -> bool:
    """Whether these words find the document with this key."""
    hits = client.get("/v1/search", params={"q": words}).json()["hits"]
    return key in [hit["key"] for hit in hits]
