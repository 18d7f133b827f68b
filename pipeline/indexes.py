"""The physical search indexes, and the list of those to which everything is published.

A published version goes to the live index and, while a rebuild fills another one, to that too. Every lease reads the
list and notes its epoch; whoever changes the list raises the epoch under a lock that lease transactions share. So
`is_settled` can tell when nobody works under an older list any more.
"""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from sqlalchemy import Connection, Row, text

from pipeline.database import query
from pipeline.errors import NotFound
from pipeline.settings import Settings

TARGETS_LOCK = 0x46505449  # "FPTI"


class IndexState(StrEnum):
    """Where a physical index is in its life."""

    CREATING = "creating"
    FILLING = "filling"
    LIVE = "live"
    RETIRED = "retired"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class PhysicalIndex:
    """One row of search_indexes. `identity` is kept in the index too, so that a namesake is not taken for it."""

    index_id: int
    backend: str
    name: str
    fingerprint: str
    identity: UUID
    state: IndexState


def live(connection: Connection) -> PhysicalIndex | None:
    """The index that is searched; None before the first migration of this backend."""
    return next(iter(_where(connection, "state = 'live'")), None)


def new(connection: Connection) -> PhysicalIndex | None:
    """The index that is being made or filled."""
    return next(iter(_where(connection, "state IN ('creating', 'filling')")), None)


def named(connection: Connection, name: str) -> PhysicalIndex | None:
    """The index of this name."""
    return next(iter(_where(connection, "name = :name", name=name)), None)


def find(connection: Connection, index_id: int) -> PhysicalIndex:
    """The index with this number."""
    return _where(connection, "index_id = :index_id", index_id=index_id)[0]


def must_be_live(connection: Connection) -> PhysicalIndex:
    """The index that is searched. Raises NotFound when there is none."""
    found = live(connection)
    if found is None:
        raise NotFound("no_live_index", "There is no live index yet; run `fencepost migrate`.")
    return found


def everyone(connection: Connection) -> list[PhysicalIndex]:
    """All that were not dropped, oldest first."""
    return _where(connection, "state <> 'dropped'")


def targets(connection: Connection) -> tuple[str, ...]:
    """The names of the indexes to which everything is published now, the live one first."""
    found = _where(connection, "state IN ('live', 'filling')")
    return tuple(one.name for one in sorted(found, key=lambda one: one.state != IndexState.LIVE))


def begin(connection: Connection, *, backend: str, fingerprint: str, prefix: str, joint: str) -> PhysicalIndex:
    """Registers a new index named prefix, fingerprint and number; nothing is published to it before `change`."""
    row = connection.execute(
        text("""
            INSERT INTO search_indexes (backend, name, fingerprint, state)
            SELECT :backend, concat_ws(CAST(:joint AS text), CAST(:prefix AS text), CAST(:fingerprint AS text), n),
                   :fingerprint, 'creating'
            FROM (SELECT coalesce(max(index_id), 0) + 1 AS n FROM search_indexes) AS next
            RETURNING index_id, backend, name, fingerprint, identity, state
        """),
        {"backend": backend, "fingerprint": fingerprint, "prefix": prefix, "joint": joint},
    ).one()
    return _physical(row)


def begin_next(connection: Connection, *, backend: str, fingerprint: str, settings: Settings) -> PhysicalIndex:
    """Registers a new index under the names that this installation gives to its indexes.

    One that was registered just so before a crash is taken up again, any other such leftover is forgotten.
    """
    if (left := new(connection)) is not None:
        if (left.backend, left.fingerprint) == (backend, fingerprint):
            return left
        dropped(connection, left)
    prefix, joint = (settings.opensearch.prefix, "-") if backend == "opensearch" else ("fencepost", "_")
    return begin(connection, backend=backend, fingerprint=fingerprint, prefix=prefix, joint=joint)


def change(connection: Connection, moves: dict[int, IndexState]) -> int:
    """Moves indexes (by index_id) to their next states, all at once; returns the new epoch.

    Waits for the lease transactions under way and holds new ones back until the commit.
    """
    connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": TARGETS_LOCK})
    for index_id, state in sorted(moves.items(), key=lambda move: move[1] == IndexState.LIVE):  # one live at a time
        connection.execute(query("move_index"), {"index_id": index_id, "state": state})
    return int(connection.execute(text("UPDATE publish_epoch SET epoch = epoch + 1 RETURNING epoch")).scalar_one())


def dropped(connection: Connection, index: PhysicalIndex) -> None:
    """Notes that an index is gone to which nobody publishes any more."""
    connection.execute(query("move_index"), {"index_id": index.index_id, "state": IndexState.DROPPED})


def gone(index: PhysicalIndex) -> str:
    """The sentence about an index that somebody has removed from its engine."""
    return f"The index {index.name} is not there any more; `fencepost index rebuild` makes a new one."


def epoch(connection: Connection) -> int:
    """The number of the present list of targets."""
    return int(connection.execute(text("SELECT epoch FROM publish_epoch")).scalar_one())


def is_settled(connection: Connection, epoch: int) -> bool:
    """Whether every attempt that was leased before this epoch has ended."""
    return not connection.execute(query("attempts_before_epoch"), {"epoch": epoch}).scalar_one()


def _where(connection: Connection, condition: str, **parameters: object) -> list[PhysicalIndex]:
    rows = connection.execute(
        text(f"""
            SELECT index_id, backend, name, fingerprint, identity, state FROM search_indexes
            WHERE {condition} ORDER BY index_id
        """),
        parameters,
    )
    return [_physical(row) for row in rows]


def _physical(row: Row[tuple[int, str, str, str, UUID, str]]) -> PhysicalIndex:
    return PhysicalIndex(row.index_id, row.backend, row.name, row.fingerprint, row.identity, IndexState(row.state))
