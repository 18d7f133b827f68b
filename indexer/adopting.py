"""Adopting a backend: what `fencepost migrate` does so that the index that is searched is the one of the settings."""

from dataclasses import dataclass

from sqlalchemy import Connection, Engine, text

from indexer.search.backend import SearchBackend
from pipeline import builds, events, indexes
from pipeline.builds import Kind, Phase
from pipeline.errors import Conflict
from pipeline.indexes import IndexState, PhysicalIndex
from pipeline.settings import Settings


@dataclass(frozen=True, slots=True)
class Adopted:
    """The live index, and what was begun: nothing, "filled" anew, or "rebuilt" under a new mapping."""

    name: str
    begun: str | None = None

    @property
    def sentence(self) -> str:
        """What people should know of it."""
        if self.begun == "filled":
            return f"{self.name} is new and is being filled: searches find little at first; see `fencepost index info`"
        if self.begun == "rebuilt":
            return "it was made by another release and is being rebuilt; see `fencepost index info`"
        return f"documents are searched in {self.name}"


def adopt(engine: Engine, backend: SearchBackend, settings: Settings) -> Adopted:
    """Makes an index of this backend the live one, and begins a rebuild if the live one is of an older release.

    An index that is new is searched at once and filled by the workers, if there are documents. May be repeated; raises
    Conflict when another build is under way that would have to end first.
    """
    with engine.begin() as connection:
        live = indexes.live(connection)
        if live is not None and live.backend == backend.kind:
            return _kept(connection, live, backend, settings)
        if (current := builds.under_way(connection)) is not None:
            raise Conflict(
                "build_under_way",
                f"A {current.kind} of the search index is under way. Cancel it with `fencepost index rebuild --cancel` "
                f"before documents are searched in {backend.kind}.",
            )
        new = indexes.begin_next(connection, backend=backend.kind, fingerprint=backend.fingerprint, settings=settings)
    with engine.begin() as connection:  # committed by name before the engine makes it
        backend.create(connection, new)
        backend.make_live(connection, new)
        old = {live.index_id: IndexState.RETIRED} if live is not None else {}
        epoch = indexes.change(connection, {new.index_id: IndexState.LIVE} | old)
        has_documents = connection.execute(text("SELECT EXISTS (SELECT FROM documents)")).scalar_one()
        if has_documents:
            builds.begin(connection, Kind.REPAIR, new.index_id, Phase.DRAINING, walks=True, epoch=epoch)
    events.emit("index.adopted", index=new.name, backend=new.backend, replaced=live.name if live else None)
    return Adopted(new.name, "filled" if has_documents else None)


def _kept(connection: Connection, live: PhysicalIndex, backend: SearchBackend, settings: Settings) -> Adopted:
    if live.fingerprint == backend.fingerprint or builds.under_way(connection) is not None:
        return Adopted(live.name)
    builds.begin_rebuild(connection, backend=backend.kind, fingerprint=backend.fingerprint, settings=settings)
    return Adopted(live.name, "rebuilt")
