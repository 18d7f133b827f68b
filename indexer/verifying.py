"""Verify: compares an index with the database, a chunk of documents at a time, in the order of their ids.

    next entries ─┐
                  ├▶ suspects ─▶ looked at again in real time ─▶ drift ─▶ noted ─▶ handed to the build, if it repairs
    next documents┘

A suspect counts only if the database says the same before and after a look at its entry, so that publishing, deleting
and purging go on meanwhile and are never taken for drift. Memory is that of one chunk.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlalchemy import Connection, Engine

from indexer.search.backend import EntryState, SearchBackend
from pipeline import builds, events, faults, indexes, refills, verifications
from pipeline.builds import Kind, Phase
from pipeline.errors import Transient
from pipeline.faults import Fault
from pipeline.indexes import IndexState, PhysicalIndex
from pipeline.settings import Settings
from pipeline.verifications import Drift, DriftKind, Fact, Verification, differs

CHUNK = 1000
LOOKS = 4
"""How often a suspect is looked at; one that still moves then is in flight."""

REFILLED = frozenset({DriftKind.MISSING, DriftKind.STALE, DriftKind.AHEAD, DriftKind.WRONG_TOMBSTONE})


def begin(connection: Connection, index: PhysicalIndex, *, repair: bool) -> Verification:
    """Starts a verification, and to `repair` what it finds also a build. Raises Conflict while there is another."""
    build = builds.begin(connection, Kind.REPAIR, index.index_id, Phase.VERIFYING, walks=False) if repair else None
    build_id = build.build_id if build is not None else None
    return verifications.begin(connection, index.index_id, build_id=build_id, repair=repair)


class Verifier:
    """Moves verifications forward; any number of processes may."""

    def __init__(self, engine: Engine, backend: SearchBackend, settings: Settings, *, chunk: int = CHUNK) -> None:
        self._engine = engine
        self._keep = settings.retention.tombstone_days
        self._backend = backend
        self._chunk = chunk

    def step(self) -> bool:
        """Compares one chunk; returns False when there is nothing to compare."""
        with self._engine.begin() as connection:
            verification = verifications.claim(connection)
            if verification is None:
                return False
            index = indexes.find(connection, verification.index_id)
            if index.backend != self._backend.kind or index.state not in {IndexState.LIVE, IndexState.FILLING}:
                verifications.give_up(connection, index.index_id, f"{index.name} was replaced meanwhile.")
                return True
            try:
                if self._backend.fingerprint_in(connection, index) is None:
                    verifications.give_up(connection, index.index_id, indexes.gone(index))
                    return True
                cursor = self._compare(connection, verification, index)
            except Transient as error:
                connection.rollback()
                with self._engine.begin() as another:
                    verifications.hold_up(another, verification.verification_id, error.message)
                raise
            verifications.advance(connection, verification, cursor)
        faults.reach(Fault.VERIFY_AFTER_CHUNK)
        if cursor is None:
            self._say(verification.verification_id, index)
        return True

    def _compare(self, connection: Connection, verification: Verification, index: PhysicalIndex) -> UUID | None:
        """Notes what differs in the next chunk; returns where it ends, None behind the last document."""
        states = self._backend.states_after(connection, index.name, verification.cursor, self._chunk)
        facts = verifications.facts_after(connection, verification.cursor, self._chunk, tombstone_days=self._keep)
        full = [ids[-1].document_id for ids in (states, facts) if len(ids) == self._chunk]
        end = min(full, default=None)
        entries = {state.document_id: state for state in states if end is None or state.document_id <= end}
        known = {fact.document_id: fact for fact in facts if end is None or fact.document_id <= end}
        both = entries.keys() | known.keys()
        suspects = sorted(one for one in both if _differs(known.get(one), entries.get(one)))
        drifts, in_flight = self._confirmed(connection, index, suspects)
        expected = sum(1 for one in both if one in entries or known[one].published_version)
        verifications.note(connection, verification, list(drifts), checked=expected, in_flight=in_flight)
        if verification.repair:
            self._repair(connection, verification, index, drifts)
        return end

    def _confirmed(
        self, connection: Connection, index: PhysicalIndex, suspects: Sequence[UUID]
    ) -> tuple[dict[Drift, EntryState | None], int]:
        """Those that differ for certain with their entries, and how many are in flight."""
        found: dict[Drift, EntryState | None] = {}
        for _ in range(LOOKS):
            if not suspects:
                break
            before = verifications.facts_of(connection, suspects, tombstone_days=self._keep)
            entries = {one.document_id: one for one in self._backend.states_of(connection, index.name, suspects)}
            after = verifications.facts_of(connection, suspects, tombstone_days=self._keep)
            moving = []
            for one in suspects:
                entry, fact = entries.get(one), after.get(one)
                kind = _differs(fact, entry)
                if before.get(one) != fact or _is_in_flight(fact, entry):
                    moving.append(one)
                elif kind is not None:
                    found[Drift(one, kind, entry and entry.version, fact and fact.published_version)] = entry
            suspects = moving
        return found, len(suspects)

    def _repair(
        self,
        connection: Connection,
        verification: Verification,
        index: PhysicalIndex,
        drifts: Mapping[Drift, EntryState | None],
    ) -> None:
        """Hands over what must be written; removes what nobody knows, and what is newer than anybody knows."""
        for drift, entry in drifts.items():
            if entry is not None and drift.kind in {DriftKind.AHEAD, DriftKind.ORPHANED}:
                self._backend.remove(connection, index.name, entry)
        assert verification.build_id is not None  # noqa: S101 - the table's CHECK
        wanted = [drift.document_id for drift in drifts if drift.kind in REFILLED]
        refills.add(connection, verification.build_id, wanted)

    def _say(self, verification_id: int, index: PhysicalIndex) -> None:
        with self._engine.connect() as connection:
            ended = verifications.find(connection, verification_id)
        events.emit(
            "index.drifted" if ended.drifted else "index.verified",
            index=index.name,
            checked=ended.checked,
            in_flight=ended.in_flight,
            **{kind: count for kind, count in ended.drift.items() if count},
        )


def _differs(fact: Fact | None, entry: EntryState | None) -> DriftKind | None:
    if entry is None:
        return differs(fact, None, tombstone=False)
    return differs(fact, entry.version, tombstone=entry.tombstone)


def _is_in_flight(fact: Fact | None, entry: EntryState | None) -> bool:
    """Whether the entry is ahead because its publishing is not committed yet."""
    if fact is None or entry is None:
        return False
    return fact.published_version < entry.version <= fact.under_way
