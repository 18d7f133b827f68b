"""The builder: moves rebuilds, repairs and verifications forward, one short step at a time.

It runs in every sweeper process. A step has the build's row locked, does what may be repeated, and commits the next
phase; whoever comes after a crash repeats the step that did not commit.
"""

from contextlib import suppress

from sqlalchemy import Connection, Engine, text

from indexer.search.backend import SearchBackend
from indexer.verifying import Verifier
from pipeline import builds, events, faults, indexes, refills, verifications
from pipeline.builds import Build, Kind, Phase
from pipeline.errors import Conflict, FencepostError, NameTaken, Transient
from pipeline.faults import Fault
from pipeline.indexes import IndexState
from pipeline.settings import Settings

IDLE_SECONDS = 2.0
WAIT_SECONDS = 0.5
TROUBLE_SECONDS = 5.0
MOST_ROUNDS = 3
"""How often what a verification finds is filled again; more rounds than one mean that something does not hold."""

FILLED = frozenset({Phase.DRAINING, Phase.FILLING, Phase.VERIFYING, Phase.SWAPPING})
"""While a build is there, its index must be in the engine."""

AFTER = {
    Phase.CREATING: Fault.BUILD_AFTER_CREATING,
    Phase.DRAINING: Fault.BUILD_AFTER_DRAINING,
    Phase.FILLING: Fault.BUILD_AFTER_FILLING,
    Phase.VERIFYING: Fault.BUILD_AFTER_VERIFYING,
    Phase.SWAPPING: Fault.BUILD_AFTER_SWAPPING,
    Phase.CANCELLING: Fault.BUILD_AFTER_CANCELLING,
}


class Builder:
    """See the module's docstring. Any number of processes may run one."""

    def __init__(self, engine: Engine, backend: SearchBackend, settings: Settings) -> None:
        self._engine = engine
        self._backend = backend
        self._kept = settings.retention.retired_indexes
        self._verifier = Verifier(engine, backend, settings)
        self._steps = {
            Phase.CREATING: self._create,
            Phase.DRAINING: self._drain,
            Phase.FILLING: self._fill,
            Phase.VERIFYING: self._verify,
            Phase.SWAPPING: self._swap,
            Phase.CANCELLING: self._cancel,
            Phase.DROPPING: self._drop,
        }

    def run_once(self) -> float:
        """One chunk of a verification, else one step of a build; returns the seconds to rest."""
        try:
            if self._verifier.step():
                return 0.0
        except Transient as error:  # a build goes on, and can be cancelled, whatever becomes of a verification
            events.emit("index.unanswered", reason=error.message)
        try:
            return self._step()
        except Transient as error:
            events.emit("index.unanswered", reason=error.message)
            return TROUBLE_SECONDS

    def _step(self) -> float:
        with self._engine.begin() as connection:
            build = builds.claim(connection)
            if build is None:
                self._drop_older(connection)
                return IDLE_SECONDS
            if builds.index_of(connection, build).backend != self._backend.kind:
                return IDLE_SECONDS
            phase = self._try(connection, build)
        if phase is None:
            return WAIT_SECONDS
        if build.phase in AFTER:
            faults.reach(AFTER[build.phase])
        return 0.0

    def _drop_older(self, connection: Connection) -> None:
        """Drops what was replaced, but for the newest: nothing leads back to it, and each costs the disk an index."""
        replaced = [one for one in indexes.everyone(connection) if one.state is IndexState.RETIRED]
        ours = [one for one in replaced if one.backend == self._backend.kind]
        for index in ours[: max(len(ours) - self._kept, 0)]:
            with suppress(Conflict, NameTaken):  # somebody may still publish to it, or have taken its name since
                self._backend.drop(connection, builds.drop_index(connection, index.name))
                events.emit("index.dropped", index=index.name)

    def _try(self, connection: Connection, build: Build) -> Phase | None:
        """The next phase, which was noted; None when the present one goes on."""
        try:
            if build.phase in FILLED and (lost := self._lost(connection, build)):
                return builds.move(connection, build, Phase.CANCELLING, error=lost).phase
            return self._steps[build.phase](connection, build)
        except Transient as error:
            connection.rollback()
            with self._engine.begin() as another:
                builds.hold_up(another, build, error.message)
            raise
        except FencepostError as error:
            builds.move(connection, build, self._end_of(build), error=str(error))
            return self._end_of(build)

    def _lost(self, connection: Connection, build: Build) -> str | None:
        """Why there is nothing to fill any more: while it counts as a target, nothing at all could be published."""
        index = builds.index_of(connection, build)
        return indexes.gone(index) if self._backend.fingerprint_in(connection, index) is None else None

    def _create(self, connection: Connection, build: Build) -> Phase:
        index = builds.index_of(connection, build)
        self._backend.create(connection, index)
        faults.reach(Fault.BUILD_AFTER_CREATE)
        epoch = indexes.change(connection, {index.index_id: IndexState.FILLING})
        return builds.move(connection, build, Phase.DRAINING, epoch=epoch).phase

    def _drain(self, connection: Connection, build: Build) -> Phase | None:
        """From then on everything that is published goes to the new index too, so that the walk may begin."""
        if not indexes.is_settled(connection, build.epoch):
            return None
        total = connection.execute(text("SELECT count(*) FROM documents WHERE published_version > 0")).scalar_one()
        return builds.move(connection, build, Phase.FILLING, total=total).phase

    def _fill(self, connection: Connection, build: Build) -> Phase | None:
        """The workers do it (indexer.refilling)."""
        if (build.walks and not build.walked) or refills.are_left(connection, build.build_id):
            return None
        rounds = build.rounds + 1
        is_last = rounds > MOST_ROUNDS
        if not is_last:
            refills.forget_failed(connection, build.build_id)  # the verification hands them over again
        verifications.begin(connection, build.index_id, build_id=build.build_id, repair=not is_last)
        return builds.move(connection, build, Phase.VERIFYING, rounds=rounds).phase

    def _verify(self, connection: Connection, build: Build) -> Phase | None:
        verification = verifications.of_build(connection, build.build_id)
        if verification.finished_at is None:
            return None
        if verification.error is not None:
            return builds.move(connection, build, self._end_of(build), error=verification.error).phase
        if verification.drifted and verification.repair:
            return builds.move(connection, build, Phase.FILLING).phase
        if verification.drifted:
            reasons = "; ".join(refills.failures(connection, build.build_id)) or "nothing says why"
            error = f"{verification.drifted} documents still differ: {reasons}."
            return builds.move(connection, build, self._end_of(build), error=error).phase
        refills.forget(connection, build.build_id)
        return builds.move(connection, build, Phase.SWAPPING if build.kind is Kind.REBUILD else Phase.DONE).phase

    def _swap(self, connection: Connection, build: Build) -> Phase:
        """The old index is kept until the next one is retired, or somebody drops it."""
        new, old = builds.index_of(connection, build), indexes.live(connection)
        self._backend.make_live(connection, new)
        moves = {new.index_id: IndexState.LIVE} | ({old.index_id: IndexState.RETIRED} if old is not None else {})
        indexes.change(connection, moves)
        faults.reach(Fault.BUILD_BEFORE_SWAP_COMMIT)
        return builds.move(connection, build, Phase.DONE).phase

    def _cancel(self, connection: Connection, build: Build) -> Phase:
        """Nothing more is published to the new index; an index that is live stays."""
        refills.forget(connection, build.build_id)
        verifications.give_up(connection, build.index_id, "The build was cancelled.")
        if build.kind is Kind.REPAIR:
            return builds.move(connection, build, Phase.CANCELLED, error=build.error).phase
        epoch = indexes.change(connection, {build.index_id: IndexState.RETIRED})
        return builds.move(connection, build, Phase.DROPPING, error=build.error, epoch=epoch).phase

    def _drop(self, connection: Connection, build: Build) -> Phase | None:
        if not indexes.is_settled(connection, build.epoch):
            return None
        index = builds.index_of(connection, build)
        self._backend.drop(connection, index)
        faults.reach(Fault.BUILD_AFTER_DROP)
        indexes.dropped(connection, index)
        return builds.move(connection, build, Phase.CANCELLED, error=build.error).phase

    def _end_of(self, build: Build) -> Phase:
        """A rebuild waits for a person, with its new index; a repair leaves things as they are."""
        return Phase.STUCK if build.kind is Kind.REBUILD else Phase.FAILED
