"""Which index is searched: that of the settings, and one that is there.

`fencepost migrate` adopts the backend of the settings; `fencepost index rebuild` also replaces an index that somebody
removed from the engine, which cannot be filled beside the old one, because nothing can be published to that.
"""

from dataclasses import dataclass

from sqlalchemy import Connection, Engine, text

from indexer.search.backend import SearchBackend
from pipeline import builds, events, indexes
from pipeline.builds import Build, Kind, Phase
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

    May be repeated; raises Conflict when another build is under way that would have to end first.
    """
    with engine.begin() as connection:
        live = indexes.live(connection)
        if live is not None and _is_there(connection, live, backend):
            return _kept(connection, live, backend, settings)
    return _replace(engine, backend, settings)


def rebuild(engine: Engine, backend: SearchBackend, settings: Settings) -> Build:
    """Begins a rebuild of the live index, or replaces it at once when it is gone: there is nothing left to search.

    Raises Conflict when a build is under way, or the live index belongs to another backend.
    """
    with engine.begin() as connection:
        live = indexes.live(connection)
        if live is None or live.backend != backend.kind or _is_there(connection, live, backend):
            return builds.begin_rebuild(
                connection, backend=backend.kind, fingerprint=backend.fingerprint, settings=settings
            )
    _replace(engine, backend, settings, fill_always=True)
    with engine.connect() as connection:
        build = builds.newest(connection)
    assert build is not None  # noqa: S101 - begun above
    return build


def _is_there(connection: Connection, live: PhysicalIndex, backend: SearchBackend) -> bool:
    return live.backend == backend.kind and backend.fingerprint_in(connection, live) is not None


def _replace(engine: Engine, backend: SearchBackend, settings: Settings, *, fill_always: bool = False) -> Adopted:
    """A new index is searched at once, and filled by the workers if there are documents."""
    with engine.begin() as connection:
        if (current := builds.under_way(connection)) is not None:
            raise Conflict(
                "build_under_way",
                f"A {current.kind} is under way, but the index that is searched must be replaced by a new one. "
                "Cancel it first with `fencepost index rebuild --cancel`.",
            )
        new = indexes.begin_next(connection, backend=backend.kind, fingerprint=backend.fingerprint, settings=settings)
    with engine.begin() as connection:  # the name is committed before the engine hears of it
        old = indexes.live(connection)
        backend.create(connection, new)
        backend.make_live(connection, new)
        retired = {old.index_id: IndexState.RETIRED} if old is not None else {}
        epoch = indexes.change(connection, {new.index_id: IndexState.LIVE} | retired)
        has_documents = connection.execute(text("SELECT EXISTS (SELECT FROM documents)")).scalar_one()
        if has_documents or fill_always:
            builds.begin(connection, Kind.REPAIR, new.index_id, Phase.DRAINING, walks=True, epoch=epoch)
    events.emit("index.replaced", index=new.name, backend=new.backend, old=old.name if old is not None else None)
    return Adopted(new.name, "filled" if has_documents else None)


def _kept(connection: Connection, live: PhysicalIndex, backend: SearchBackend, settings: Settings) -> Adopted:
    if live.fingerprint == backend.fingerprint or builds.under_way(connection) is not None:
        return Adopted(live.name)
    builds.begin_rebuild(connection, backend=backend.kind, fingerprint=backend.fingerprint, settings=settings)
    return Adopted(live.name, "rebuilt")
