"""The purge: removes what nobody needs any more, in batches, each in a transaction of its own."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Connection, Engine, text

from pipeline import breaker, events, faults
from pipeline.asking import Index, asking
from pipeline.breaker import INDEX
from pipeline.database import query
from pipeline.errors import IndexUnavailable
from pipeline.faults import Fault
from pipeline.settings import Settings

BATCH = 500
EVERY_SECONDS = 60.0


class Purger:
    """Old finished jobs, tombstones past their retention, unused contents; any number may run side by side."""

    def __init__(self, engine: Engine, index: Index, settings: Settings) -> None:
        self._engine = engine
        self._index = index
        self._settings = settings

    def run_once(self) -> float:
        """One purge; returns the seconds until the next. Tombstones are left for later while the index is away."""
        keep = self._settings.retention
        for state, days in (
            ("succeeded", keep.succeeded_days), ("superseded", keep.superseded_days), ("resolved", keep.resolved_days),
        ):  # fmt: skip
            while self._jobs(state, days) >= BATCH:
                faults.reach(Fault.SWEEP_AFTER_PURGE)
        self._keys_and_processes(keep.idempotency_hours)
        pause = EVERY_SECONDS
        if self._index_is_fine():
            try:
                pause = 0 if self.documents(keep.tombstone_days) >= BATCH else EVERY_SECONDS
                with asking(self._engine, self._index) as connection:
                    self._index.maintain(connection)
            except IndexUnavailable as error:
                events.emit("index.unanswered", reason=error.message)
        faults.reach(Fault.SWEEP_AFTER_PURGE)
        return pause

    def documents(self, days: float) -> int:
        """Removes deleted documents; returns how many, without those whose entry turned out to be newer.

        First the tombstone goes, then the rows, each only if it still is what was chosen. In between no older version
        can come back: whoever could publish one had registered before the delete, and is gone. A new version of the
        same document is newer than the tombstone, keeps its rows, and needs no tombstone below it.
        """
        with self._engine.begin() as connection:
            chosen = self._purgeable(connection, days)
        if not chosen:
            return 0
        with asking(self._engine, self._index) as connection:
            for document_id, version in chosen.items():
                self._index.purge_tombstone(connection, document_id, version)
            kept = self._index.version_of(connection, list(chosen))
        with self._engine.begin() as connection:
            still = self._purgeable(connection, days, among=[document for document in chosen if document not in kept])
            gone = [document for document, version in still.items() if version == chosen[document]]
            if gone:
                row = connection.execute(query("purge_documents"), {"documents": gone}).one()
                _drop_unused(connection, row.hashes or [])
        return len(gone)

    def _purgeable(
        self, connection: Connection, days: float, *, among: Sequence[UUID] | None = None
    ) -> dict[UUID, int]:
        """Deleted documents that may be removed, with their version; locked until the end of the transaction."""
        values = {"days": days, "most": BATCH, "among": list(among) if among is not None else None}
        rows = connection.execute(query("purgeable_tombstones"), values)
        return {row.document_id: row.input_version for row in rows}

    def _index_is_fine(self) -> bool:
        with self._engine.connect() as connection:
            return breaker.why_open(connection, INDEX) is None

    def _jobs(self, state: str, days: float) -> int:
        with self._engine.begin() as connection:
            row = connection.execute(query("purge_jobs"), {"state": state, "days": days, "most": BATCH}).one()
            _drop_unused(connection, row.hashes or [])
        return int(row.jobs)

    def _keys_and_processes(self, hours: float) -> None:
        with self._engine.begin() as connection:
            connection.execute(
                text("DELETE FROM idempotency_keys WHERE created_at < now() - make_interval(secs => :hours * 3600)"),
                {"hours": hours},
            )
            connection.execute(
                text("DELETE FROM processes WHERE coalesce(ended_at, lost_at) < now() - interval '1 day'")
            )


def _drop_unused(connection: Connection, hashes: Sequence[bytes]) -> None:
    """Removes contents, and their results, that no version names any more.

    Locked ones are in the hands of an intake; the check comes in a later statement than the lock, so that it sees
    every version committed before.
    """
    if not hashes:
        return
    free = (
        connection.execute(
            text("SELECT sha256 FROM contents WHERE sha256 = ANY(CAST(:hashes AS bytea[])) FOR UPDATE SKIP LOCKED"),
            {"hashes": list(hashes)},
        )
        .scalars()
        .all()
    )
    unused = (
        connection.execute(
            text("""
            DELETE FROM contents c
            WHERE sha256 = ANY(CAST(:hashes AS bytea[]))
              AND NOT EXISTS (SELECT FROM versions v WHERE v.sha256 = c.sha256)
            RETURNING sha256
        """),
            {"hashes": free},
        )
        .scalars()
        .all()
    )
    connection.execute(
        text("""
            DELETE FROM results r
            WHERE sha256 = ANY(CAST(:hashes AS bytea[]))
              AND NOT EXISTS (SELECT FROM versions v WHERE v.result_id = r.result_id)
        """),
        {"hashes": unused},
    )
