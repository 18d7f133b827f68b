"""`fencepost migrate` and the search index: the settings decide which is live."""

import pytest

from indexer.adopting import adopt, rebuild
from indexer.search.backend import SearchBackend
from pipeline import builds, indexes
from pipeline.builds import Phase
from pipeline.errors import Conflict
from pipeline.indexes import IndexState
from tests.support.indexing import Library


class Other:
    """The same backend under another kind or mapping."""

    def __init__(self, backend: SearchBackend, **differs: str) -> None:
        self._backend = backend
        self.__dict__.update(differs)

    def __getattr__(self, name: str) -> object:
        return getattr(self._backend, name)


def came_from_elsewhere(library: Library) -> None:
    """The live index belongs to the other backend."""
    other = "opensearch" if library.backend.kind == "postgres" else "postgres"
    library.world.execute("UPDATE search_indexes SET backend = :other", other=other)


def states(library: Library) -> list[IndexState]:
    with library.world.engine.connect() as connection:
        return [one.state for one in indexes.everyone(connection)]


def adopted(library: Library, backend: SearchBackend | None = None) -> str | None:
    return adopt(library.world.engine, backend or library.backend, library.world.settings).begun


def test_nothing_is_begun_when_all_is_as_it_should_be(library: Library):
    library.add()
    assert adopted(library) is None
    assert states(library) == [IndexState.LIVE]


def test_another_backend_gets_a_live_index_that_is_filled(library: Library):
    document = library.add()
    library.add("harbour")
    came_from_elsewhere(library)
    assert adopted(library) == "filled"
    assert states(library) == [IndexState.RETIRED, IndexState.LIVE]
    assert library.find("lighthouse") == 0
    library.update(document, "lighthouse again")
    assert library.run(library.build()).phase is Phase.DONE
    assert (library.find("lighthouse"), library.find("harbour")) == (1, 1)
    library.check()
    assert adopted(library) is None


def test_an_installation_without_documents_has_nothing_to_fill(library: Library):
    came_from_elsewhere(library)
    assert adopted(library) is None
    library.add()
    assert library.find("lighthouse") == 1


def test_an_adoption_that_was_killed_is_taken_up_again(library: Library):
    library.add()
    came_from_elsewhere(library)
    with library.world.engine.begin() as connection:
        begun = indexes.begin_next(
            connection,
            backend=library.backend.kind,
            fingerprint=library.backend.fingerprint,
            settings=library.world.settings,
        )
    assert adopted(library) == "filled"
    with library.world.engine.connect() as connection:
        assert indexes.must_be_live(connection).name == begun.name
    assert library.run(library.build()).phase is Phase.DONE


def test_another_mapping_begins_a_rebuild(library: Library):
    library.add()
    newer = Other(library.backend, fingerprint="newer")
    assert adopted(library, newer) == "rebuilt"
    assert adopted(library, newer) is None, "it is under way"
    library.backend = newer
    library.__post_init__()
    assert library.run(library.build()).phase is Phase.DONE
    with library.world.engine.connect() as connection:
        assert indexes.must_be_live(connection).fingerprint == "newer"
    assert adopted(library, newer) is None
    assert library.find("lighthouse") == 1


def test_a_build_in_the_other_backend_must_end_first(library: Library):
    library.rebuild()
    came_from_elsewhere(library)
    with pytest.raises(Conflict, match="--cancel"):
        adopted(library)


def test_an_index_that_was_wiped_is_replaced_and_filled_to_the_last_document(library: Library):
    documents = library.add_many(5)
    library.delete(documents[0])
    with library.world.engine.begin() as connection:
        live = indexes.must_be_live(connection)
        library.backend.drop(connection, live)
    build = rebuild(library.world.engine, library.backend, library.world.settings)
    library.update(documents[1], "lighthouse again")
    assert library.run(build).phase is Phase.DONE
    assert library.find("lighthouse") == 4
    library.check()


@pytest.mark.parametrize("phase", [Phase.FILLING, Phase.VERIFYING, Phase.SWAPPING])
def test_a_rebuild_ends_when_its_new_index_is_wiped_and_publishing_goes_on(library: Library, phase: Phase):
    documents = library.add_many(3)
    build = library.run(library.rebuild(), to=phase)
    with library.world.engine.begin() as connection:
        library.backend.drop(connection, builds.index_of(connection, build))
    ended = library.run(build)
    assert ended.phase is Phase.CANCELLED
    assert "is not there any more" in (ended.error or "")
    library.update(documents[0], "lighthouse again")
    library.check()
    assert library.run(library.rebuild()).phase is Phase.DONE


def test_a_verification_of_a_wiped_index_ends_and_says_so(library: Library):
    library.add_many(3)
    with library.world.engine.begin() as connection:
        live = indexes.must_be_live(connection)
        library.backend.drop(connection, live)
    verified = library.verify()
    assert verified.finished_at is not None
    assert verified.error == f"The index {live.name} is not there any more; `fencepost index rebuild` makes a new one."


def test_a_build_must_end_before_a_wiped_index_is_replaced(library: Library):
    library.rebuild()
    with library.world.engine.begin() as connection:
        library.backend.drop(connection, indexes.must_be_live(connection))
    with pytest.raises(Conflict, match="--cancel"):
        rebuild(library.world.engine, library.backend, library.world.settings)
