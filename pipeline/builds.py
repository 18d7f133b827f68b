"""Filling an index: a new one with everything (rebuild), or the live one with what it lacks (repair).

    rebuild   creating ─▶ draining ─▶ filling ─▶ verifying ─▶ swapping ─▶ done
    repair                            filling ◀─▶ verifying ─▶ done | failed

What a verification finds is filled again, a few times; a rebuild that still differs is stuck, and waits for a person
who lets it go on or cancels it (cancelling ─▶ dropping ─▶ cancelled). Only one build is under way at a time. Who moves
a build has its row locked; every step can be repeated.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, RowMapping, text
from sqlalchemy.exc import IntegrityError

from pipeline import events, indexes
from pipeline.errors import Conflict, NotFound
from pipeline.indexes import IndexState, PhysicalIndex
from pipeline.settings import Settings


class Kind(StrEnum):
    """What a build is for."""

    REBUILD = "rebuild"
    REPAIR = "repair"


class Phase(StrEnum):
    """How far a build is."""

    CREATING = "creating"
    DRAINING = "draining"
    FILLING = "filling"
    VERIFYING = "verifying"
    SWAPPING = "swapping"
    STUCK = "stuck"
    CANCELLING = "cancelling"
    DROPPING = "dropping"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


FINISHED = frozenset({Phase.DONE, Phase.FAILED, Phase.CANCELLED})


@dataclass(frozen=True, slots=True)
class Build:
    """One row of builds."""

    build_id: int
    kind: Kind
    index_id: int
    phase: Phase
    walks: bool
    cursor: UUID | None
    walked: bool
    epoch: int
    rounds: int
    total: int
    done: int
    failed: int
    error: str | None
    started_at: datetime
    phase_at: datetime
    finished_at: datetime | None


_COLUMNS = ", ".join(Build.__dataclass_fields__)


def under_way(connection: Connection) -> Build | None:
    """The build that is not finished."""
    return _first(connection, "finished_at IS NULL")


def newest(connection: Connection) -> Build | None:
    """The build that began last, finished or not."""
    return _first(connection, "true")


def claim(connection: Connection) -> Build | None:
    """The build under way, locked until the end of the transaction; None also while somebody else has it."""
    return _first(connection, "finished_at IS NULL AND phase <> 'stuck'", lock="FOR NO KEY UPDATE SKIP LOCKED")


def locked(connection: Connection, build_id: int) -> Build:
    """A build, locked until the end of the transaction."""
    found = _first(connection, "build_id = :build_id", lock="FOR NO KEY UPDATE", build_id=build_id)
    if found is None:
        raise NotFound("build_not_found", f"There is no build {build_id}.")
    return found


def begin(connection: Connection, kind: Kind, index_id: int, phase: Phase, *, walks: bool, epoch: int = 0) -> Build:
    """Starts a build. Raises Conflict `build_under_way` when there is one."""
    if (other := under_way(connection)) is not None:
        raise _under_way(other)
    statement = text(f"""
        INSERT INTO builds (kind, index_id, phase, walks, epoch) VALUES (:kind, :index_id, :phase, :walks, :epoch)
        RETURNING {_COLUMNS}
    """)
    values = {"kind": kind, "index_id": index_id, "phase": phase, "walks": walks, "epoch": epoch}
    try:
        build = _build(connection.execute(statement, values).mappings().one())
    except IntegrityError:  # somebody else was as quick
        raise Conflict(
            "build_under_way", "Another build has just begun. Look at it with `fencepost index info`."
        ) from None
    events.emit("build.started", build_id=build.build_id, kind=kind, index=index_id)
    return build


def begin_rebuild(connection: Connection, *, backend: str, fingerprint: str, settings: Settings) -> Build:
    """Starts a rebuild, or lets one go on that is stuck. Raises Conflict while another build is under way."""
    current = under_way(connection)
    if current is not None and current.kind is Kind.REBUILD and current.phase is Phase.STUCK:
        return _go_on(connection, locked(connection, current.build_id))
    if current is not None:
        raise _under_way(current)
    live = indexes.must_be_live(connection)
    if live.backend != backend:
        raise Conflict(
            "other_backend",
            f"The live index is in {live.backend}, the settings say {backend}. `fencepost migrate` changes over.",
        )
    new = indexes.begin_next(connection, backend=backend, fingerprint=fingerprint, settings=settings)
    return begin(connection, Kind.REBUILD, new.index_id, Phase.CREATING, walks=True)


def cancel(connection: Connection) -> Build:
    """Asks for the end of the build under way: the new index is dropped, a live one stays as it is."""
    current = under_way(connection)
    if current is None:
        raise NotFound("no_build", "No rebuild or repair is under way.")
    current = locked(connection, current.build_id)
    if current.phase in FINISHED:
        raise NotFound("no_build", "The build has just ended; there is nothing to cancel.")
    if current.phase in {Phase.CANCELLING, Phase.DROPPING}:
        return current
    return move(connection, current, Phase.CANCELLING)


def move(connection: Connection, build: Build, phase: Phase, *, error: str | None = None, **changes: Any) -> Build:  # noqa: ANN401 - any column
    """Moves a locked build to its next phase."""
    changes |= {"phase": phase, "error": error}
    assignments = ", ".join(f"{name} = :{name}" for name in changes)
    statement = text(f"""
        UPDATE builds SET {assignments}, phase_at = clock_timestamp(),
               finished_at = CASE WHEN :phase IN ('done', 'failed', 'cancelled') THEN clock_timestamp() END
        WHERE build_id = :build_id
        RETURNING {_COLUMNS}
    """)
    moved = _build(connection.execute(statement, changes | {"build_id": build.build_id}).mappings().one())
    events.emit("build.moved", build_id=build.build_id, kind=build.kind, phase=phase, error=error)
    return moved


def hold_up(connection: Connection, build: Build, reason: str) -> None:
    """Notes why a build does not get on just now; its next phase takes it back."""
    connection.execute(
        text("""
            UPDATE builds SET error = :reason
            WHERE build_id = :build_id AND phase = :phase AND error IS DISTINCT FROM :reason
        """),
        {"build_id": build.build_id, "phase": build.phase, "reason": reason},
    )


def index_of(connection: Connection, build: Build) -> PhysicalIndex:
    """The index that a build fills."""
    return indexes.find(connection, build.index_id)


def drop_index(connection: Connection, name: str) -> PhysicalIndex:
    """Marks a retired index as dropped; the caller removes it in the same transaction. Raises NotFound or Conflict."""
    found = indexes.named(connection, name)
    if found is None or found.state is IndexState.DROPPED:
        raise NotFound("index_not_found", f"There is no index {name}.")
    if found.state is not IndexState.RETIRED or _is_filled(connection, found):
        raise Conflict("index_in_use", f"{name} is {found.state}; only retired indexes can be dropped.")
    if not indexes.is_settled(connection, indexes.epoch(connection)):
        raise Conflict("index_in_use", f"Documents are still being published to {name}. Try again in a moment.")
    indexes.dropped(connection, found)
    return found


def _is_filled(connection: Connection, index: PhysicalIndex) -> bool:
    current = under_way(connection)
    return current is not None and current.index_id == index.index_id


def _go_on(connection: Connection, build: Build) -> Build:
    """A stuck build tries again what failed, with fresh budgets."""
    if indexes.find(connection, build.index_id).state is IndexState.CREATING:
        return move(connection, build, Phase.CREATING)
    connection.execute(
        text("UPDATE refills SET failed = false, attempts = 0, due_at = now() WHERE build_id = :build_id AND failed"),
        {"build_id": build.build_id},
    )
    return move(connection, build, Phase.FILLING, failed=0, rounds=0)


def _under_way(build: Build) -> Conflict:
    return Conflict(
        "build_under_way",
        f"A {build.kind} is under way ({build.phase}). Wait for it, or cancel it with "
        "`fencepost index rebuild --cancel`.",
        build_id=build.build_id,
    )


def _first(connection: Connection, condition: str, *, lock: str = "", **values: object) -> Build | None:
    statement = text(f"SELECT {_COLUMNS} FROM builds WHERE {condition} ORDER BY build_id DESC LIMIT 1 {lock}")
    row = connection.execute(statement, values).mappings().one_or_none()
    return _build(row) if row is not None else None


def _build(row: RowMapping) -> Build:
    return Build(**dict(row) | {"kind": Kind(row["kind"]), "phase": Phase(row["phase"])})
