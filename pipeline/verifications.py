"""Comparing an index with the database: the rows that say how far it is and what it found.

`differs` is the whole of the judgement. It may only be trusted where nothing moved between two looks at the database
with a look at the index between them; see indexer.verifying.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Connection, RowMapping, text
from sqlalchemy.exc import IntegrityError

from pipeline import cursors
from pipeline.database import query
from pipeline.errors import Conflict, NotFound

MOST_DRIFTS = 10_000
"""So many are kept with their ids; more are only counted."""
KEPT_DAYS = 30


class DriftKind(StrEnum):
    """How an entry differs from what was published."""

    MISSING = "missing"
    STALE = "stale"
    AHEAD = "ahead"
    ORPHANED = "orphaned"
    WRONG_TOMBSTONE = "wrong_tombstone"


class Fact(NamedTuple):
    """What an index should have of a document. `under_way` is the newest version that is being worked on, 0 = none.

    A tombstone that is old enough to be purged `may_be_gone`: its entry goes before its rows.
    """

    document_id: UUID
    published_version: int
    tombstone: bool
    may_be_gone: bool
    under_way: int


class Drift(NamedTuple):
    """One difference; a version of None means that this side does not know the document."""

    document_id: UUID
    kind: DriftKind
    index_version: int | None
    published_version: int | None


@dataclass(frozen=True, slots=True)
class Verification:
    """One row of verifications, with the counts by kind in `drift`."""

    verification_id: int
    index_id: int
    build_id: int | None
    repair: bool
    cursor: UUID | None
    total: int
    checked: int
    in_flight: int
    drift: Mapping[str, int]
    error: str | None
    started_at: datetime
    finished_at: datetime | None

    @property
    def drifted(self) -> int:
        """How many entries differed."""
        return sum(self.drift.values())


def differs(fact: Fact | None, version: int | None, *, tombstone: bool) -> DriftKind | None:
    """How an entry (None = there is none) differs from what was published; None when it is as it should be."""
    published = fact.published_version if fact is not None else 0
    if version is None:
        return DriftKind.MISSING if fact is not None and published and not fact.may_be_gone else None
    if not published:
        return DriftKind.ORPHANED
    if version != published:
        return DriftKind.STALE if version < published else DriftKind.AHEAD
    return DriftKind.WRONG_TOMBSTONE if fact is not None and tombstone != fact.tombstone else None


def facts_after(connection: Connection, after: UUID | None, most: int, *, tombstone_days: float) -> list[Fact]:
    """The next documents in their order."""
    values = {"after": after, "most": most, "tombstone_days": tombstone_days}
    return [Fact(*row) for row in connection.execute(query("facts_after"), values)]


def facts_of(connection: Connection, documents: Sequence[UUID], *, tombstone_days: float) -> dict[UUID, Fact]:
    """Those of the documents that are there."""
    values = {"documents": list(documents), "tombstone_days": tombstone_days}
    return {row.document_id: Fact(*row) for row in connection.execute(query("facts_of"), values)}


def begin(connection: Connection, index_id: int, *, build_id: int | None = None, repair: bool = False) -> Verification:
    """Starts one, for a build or by itself. Raises Conflict `verification_under_way` when this index has one."""
    connection.execute(
        text("DELETE FROM verifications WHERE finished_at < now() - make_interval(days => :days)"), {"days": KEPT_DAYS}
    )
    statement = text("""
        INSERT INTO verifications (index_id, build_id, repair, total)
        SELECT :index_id, :build_id, :repair, count(*) FROM documents WHERE published_version > 0
        RETURNING *
    """)
    try:
        with connection.begin_nested():
            row = connection.execute(statement, {"index_id": index_id, "build_id": build_id, "repair": repair})
            return _verification(row.mappings().one())
    except IntegrityError:
        other = connection.execute(
            text("SELECT verification_id FROM verifications WHERE index_id = :index_id AND finished_at IS NULL"),
            {"index_id": index_id},
        ).scalar()
        raise Conflict(
            "verification_under_way", "This index is being verified already.", verification_id=other
        ) from None


def claim(connection: Connection) -> Verification | None:
    """One that is not finished, locked until the end of the transaction; None also while somebody else has it."""
    return _first(connection, "finished_at IS NULL", lock="FOR NO KEY UPDATE SKIP LOCKED")


def find(connection: Connection, verification_id: int) -> Verification:
    """The one with this number. Raises NotFound."""
    found = _first(connection, "verification_id = :id", id=verification_id)
    if found is None:
        raise NotFound("verification_not_found", f"There is no verification {verification_id}.")
    return found


def of_build(connection: Connection, build_id: int) -> Verification:
    """The newest one of a build."""
    found = _first(connection, "build_id = :build_id", build_id=build_id)
    if found is None:
        raise NotFound("verification_not_found", f"Build {build_id} was not verified yet.")
    return found


def newest_of(connection: Connection, index_id: int, *, finished: bool) -> Verification | None:
    """The last one of an index that came to its end, or the one that is under way."""
    condition = "finished_at IS NOT NULL AND error IS NULL" if finished else "finished_at IS NULL"
    return _first(connection, f"index_id = :index_id AND {condition}", index_id=index_id)


def note(
    connection: Connection, verification: Verification, drifts: Sequence[Drift], *, checked: int, in_flight: int
) -> None:
    """Adds what a chunk had."""
    counts = Counter(drift.kind for drift in drifts)
    connection.execute(
        text(f"""
            UPDATE verifications
            SET checked = checked + :checked, in_flight = in_flight + :in_flight,
                {", ".join(f"{kind} = {kind} + :{kind}" for kind in DriftKind)}
            WHERE verification_id = :id
        """),
        {"id": verification.verification_id, "checked": checked, "in_flight": in_flight}
        | {kind: counts[kind] for kind in DriftKind},
    )
    if kept := drifts[: max(MOST_DRIFTS - verification.drifted, 0)]:
        connection.execute(
            text("""
                INSERT INTO drifts (verification_id, document_id, kind, index_version, published_version)
                VALUES (:id, :document_id, :kind, :index_version, :published_version)
            """),
            [{"id": verification.verification_id, **drift._asdict()} for drift in kept],
        )


def advance(connection: Connection, verification: Verification, cursor: UUID | None) -> None:
    """Moves on behind a document; None is the end."""
    statement = text("""
        UPDATE verifications
        SET cursor = :cursor, error = NULL,
            finished_at = CASE WHEN CAST(:cursor AS uuid) IS NULL THEN clock_timestamp() END
        WHERE verification_id = :id
    """)
    connection.execute(statement, {"id": verification.verification_id, "cursor": cursor})


def hold_up(connection: Connection, verification_id: int, reason: str) -> None:
    """Notes why one does not get on just now; the next chunk takes it back."""
    connection.execute(
        text("""
            UPDATE verifications SET error = :reason
            WHERE verification_id = :id AND finished_at IS NULL AND error IS DISTINCT FROM :reason
        """),
        {"id": verification_id, "reason": reason},
    )


def give_up(connection: Connection, index_id: int, error: str) -> None:
    """Ends what is under way on an index, with the reason."""
    connection.execute(
        text("""
            UPDATE verifications SET error = :error, finished_at = clock_timestamp()
            WHERE index_id = :index_id AND finished_at IS NULL
        """),
        {"index_id": index_id, "error": error},
    )


def drifts(
    connection: Connection, verification_id: int, *, cursor: str | None, limit: int
) -> tuple[list[RowMapping], str | None]:
    """One page of what differed, by document, and the cursor of the next. Raises Invalid for a bad cursor."""
    after = (cursors.decode(cursor, (UUID,)) or (None,))[0]
    rows = connection.execute(
        text("""
            SELECT document_id, kind, index_version, published_version FROM drifts
            WHERE verification_id = :id AND (CAST(:after AS uuid) IS NULL OR document_id > CAST(:after AS uuid))
            ORDER BY document_id LIMIT :most
        """),
        {"id": verification_id, "after": after, "most": limit + 1},
    )
    shown, following = cursors.page(rows.mappings().all(), limit, "document_id")
    return list(shown), following


def _first(connection: Connection, condition: str, *, lock: str = "", **values: Any) -> Verification | None:  # noqa: ANN401 - any column
    statement = text(f"SELECT * FROM verifications WHERE {condition} ORDER BY verification_id DESC LIMIT 1 {lock}")
    row = connection.execute(statement, values).mappings().one_or_none()
    return _verification(row) if row is not None else None


def _verification(row: RowMapping) -> Verification:
    columns = dict(row)
    drift = {str(kind): columns.pop(kind) for kind in DriftKind}
    return Verification(**columns, drift=drift)
