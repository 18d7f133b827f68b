"""The register of processes: who is there, who holds what, and who is gone.

A live process holds a session advisory lock named after its number on a connection of its own. When the process
dies, PostgreSQL drops the lock with the connection, and the sweeper sees it within about a second.
"""

import os
import socket
import threading
from collections.abc import Sequence

import orjson
from sqlalchemy import Connection, Engine, create_engine, make_url, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from pipeline import events, leases
from pipeline.agreement import deciding
from pipeline.holding import Holding
from pipeline.loop import Loop
from pipeline.settings import Settings

LOCK_CLASS = 0x46504F  # "FPO": the first half of the two-number form, ours alone


class Presence:
    """One process in the register: its row, its lock, and the beats that renew its leases."""

    def __init__(
        self,
        settings: Settings,
        *,
        kind: str,
        partitions: Sequence[int] = (),
        slots: int = 0,
        holding: Holding | None = None,
    ) -> None:
        self._settings = settings
        self._kind = kind
        self._partitions = list(partitions)
        self._slots = slots
        self._holding = holding
        self._engine = _single_connection(settings, kind)
        self._connection: Connection | None = None
        self._loop = Loop("heartbeat", self._beat)
        self._has_beaten = threading.Event()
        self.process_id = 0

    def start(self, stopping: threading.Event | None = None) -> None:
        """Registers (waiting for the database, unless `stopping` is set) and beats from then on."""
        self._loop.start()
        while not self._has_beaten.wait(0.1):
            if stopping is not None and stopping.is_set():
                return

    def stop(self) -> None:
        """Says goodbye, so that nobody has to find out."""
        self._loop.stop(timeout=5)
        try:
            with self._engine.begin() as connection:
                connection.execute(
                    text("UPDATE processes SET ended_at = now() WHERE process_id = :id"), {"id": self.process_id}
                )
        except DBAPIError:
            events.emit("database.unavailable", loop="goodbye")
        if self._connection is not None:
            self._connection.close()
        self._engine.dispose()

    def _beat(self) -> float:
        """Renews all leases of the process in one statement, on the connection that holds its lock."""
        connection = self._connected()
        held = self._holding.renewable() if self._holding is not None else []
        asked_at = self._holding.now() if self._holding is not None else 0.0
        try:
            with connection.begin():
                renewed = leases.renew_if_held(connection, held, seconds=self._settings.lease.seconds)
                was_lost = self._note(connection)
                if was_lost:
                    _refund(connection, self.process_id)
        except DBAPIError:
            self._drop()
            raise
        if self._holding is not None:
            self._holding.renewed(renewed, until=asked_at + self._settings.lease.seconds)
        if was_lost:
            events.emit("process.returned", process_id=self.process_id)
        self._has_beaten.set()
        return self._settings.lease.beat_seconds

    def _connected(self) -> Connection:
        """The connection with the lock; a new one after a break, under the same number."""
        if self._connection is None:
            connection = self._engine.connect()
            try:
                if not self.process_id:
                    self.process_id = self._register(connection)
                connection.execute(
                    text("SELECT pg_advisory_lock(:class, :id)"), {"class": LOCK_CLASS, "id": self.process_id}
                )
                connection.execute(
                    text("UPDATE processes SET locked_at = clock_timestamp() WHERE process_id = :id"),
                    {"id": self.process_id},
                )
                connection.commit()
            except DBAPIError:
                connection.invalidate()
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _register(self, connection: Connection) -> int:
        (process_id,) = connection.execute(
            text("""
                INSERT INTO processes (kind, host, pid, partitions, slots, reads_with)
                VALUES (:kind, :host, :pid, :partitions, :slots, CAST(:reads_with AS jsonb))
                RETURNING process_id
            """),
            {
                "kind": self._kind,
                "host": socket.gethostname(),
                "pid": os.getpid(),
                "partitions": self._partitions,
                "slots": self._slots,
                "reads_with": self._reads_with(),
            },
        ).one()
        return int(process_id)

    def _reads_with(self) -> str | None:
        return orjson.dumps(deciding(self._settings.extract)).decode() if self._kind == "worker" else None

    def _note(self, connection: Connection) -> bool:
        """Notes the beat; returns whether this process had been taken for dead."""
        row = connection.execute(
            text("""
                WITH before AS (SELECT process_id, lost_at FROM processes WHERE process_id = :id FOR NO KEY UPDATE)
                UPDATE processes p SET heartbeat_at = clock_timestamp(), lost_at = NULL
                FROM before
                WHERE p.process_id = before.process_id
                RETURNING before.lost_at IS NOT NULL AS was_lost
            """),
            {"id": self.process_id},
        ).one_or_none()
        return row is not None and row.was_lost

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.invalidate()
            self._connection.close()
            self._connection = None


def count_alive(connection: Connection, *, kind: str, host: str, silent_seconds: float) -> int:
    """How many processes of a kind run on a host and have beaten lately."""
    statement = text("""
        SELECT count(*) FROM processes
        WHERE kind = :kind AND host = :host AND ended_at IS NULL AND lost_at IS NULL
          AND heartbeat_at > clock_timestamp() - make_interval(secs => :silent_seconds)
    """)
    found = connection.execute(statement, {"kind": kind, "host": host, "silent_seconds": silent_seconds})
    return int(found.scalar_one())


def _refund(connection: Connection, process_id: int) -> None:
    """Gives back the attempts that were counted as lost although the process was alive."""
    connection.execute(
        text("""
            WITH refunded AS (
                UPDATE attempts SET code = 'lease_expired'
                WHERE worker_id = :id AND code = 'worker_lost' AND outcome = 'lease_lost'
                RETURNING job_id
            )
            UPDATE jobs SET attempt = attempt - 1
            WHERE job_id IN (SELECT job_id FROM refunded) AND attempt > 0 AND finished_at IS NULL
        """),
        {"id": process_id},
    )


def _single_connection(settings: Settings, kind: str) -> Engine:
    """An engine without a pool: the lock must live on exactly one connection, past any transaction pooler."""
    return create_engine(
        make_url(settings.direct_url).set(drivername="postgresql+psycopg"),
        poolclass=NullPool,
        connect_args={
            "connect_timeout": 5,
            "application_name": f"fencepost {kind} heartbeat",
            "options": "-c statement_timeout=5000 -c lock_timeout=2000",
            "keepalives_idle": 5,
            "keepalives_interval": 2,
            "keepalives_count": 3,
            "tcp_user_timeout": 10000,
        },
    )
