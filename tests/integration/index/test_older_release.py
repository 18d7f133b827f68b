"""An index of an older release: it goes on being searched and published to until a new one has taken its place."""

from typing import Any

import pytest

from indexer.adopting import adopt
from indexer.search.opensearch import OpenSearchBackend, mapping
from indexer.search.postgres import Postgres
from pipeline.builds import Phase
from tests.support.indexing import Library


def older_mapping() -> dict[str, Any]:
    """The first release's: it refuses fields that it does not know, and its analyzer stems once more."""
    passages = mapping.MAPPING["properties"]["passages"]
    words = {
        "type": "text",
        "analyzer": "words_english",
        "fields": {"exact": {"type": "text", "analyzer": mapping.WORDS}},
    }
    inner = {name: kind for name, kind in passages["properties"].items() if name != "headings"} | {"words": words}
    properties = {name: kind for name, kind in mapping.MAPPING["properties"].items() if name != "language"}
    return mapping.MAPPING | {
        "properties": properties | {"words": words, "passages": passages | {"properties": inner}},
    }


def older_analysis() -> dict[str, Any]:
    english = {"type": "custom", "tokenizer": "spaces", "filter": ["no_giants", "porter2"]}
    filters = {**mapping.ANALYSIS["filter"], "porter2": {"type": "stemmer", "language": "porter2"}}
    analyzers = {**mapping.ANALYSIS["analyzer"], "words_english": english}
    return {**mapping.ANALYSIS, "filter": filters, "analyzer": analyzers}


@pytest.fixture
def older(library: Library, monkeypatch: pytest.MonkeyPatch) -> Library:
    """An installation whose index an older release has made."""
    if isinstance(library.backend, Postgres):
        library.world.execute("UPDATE search_indexes SET fingerprint = '1'")
        return library
    with monkeypatch.context() as patched:
        patched.setattr(mapping, "MAPPING", older_mapping())
        patched.setattr(mapping, "ANALYSIS", older_analysis())
        patched.setattr(OpenSearchBackend, "fingerprint", "0123abcd")
        assert library.run(library.rebuild()).phase is Phase.DONE  # the index is empty yet
    return library


def test_documents_are_found_in_their_language_after_the_rebuild(older: Library):
    german = older.add("Die Häuser am Hafen sind alt, und der Leuchtturm ist es auch.")
    english = older.add("The lighthouse keepers")
    old = older.live
    assert (older.find("Haus"), older.find("keeper")) == (0, 1)
    assert adopt(older.world.engine, older.backend, older.world.settings).begun == "rebuilt"
    assert older.run(older.build(), to=Phase.VERIFYING).phase is Phase.VERIFYING
    assert (older.find("Häuser"), older.find("keeper")) == (1, 1), "the old one is searched"
    assert older.run(older.build()).phase is Phase.DONE
    assert older.live != old
    assert (older.find("Haus"), older.find("Häusern"), older.find("keeper")) == (1, 1, 1)
    assert older.entries().keys() == {german, english}
    older.check()
    assert adopt(older.world.engine, older.backend, older.world.settings).begun is None


def test_what_is_published_meanwhile_is_found_in_both(older: Library):
    older.add("The harbour")
    adopt(older.world.engine, older.backend, older.world.settings)
    older.run(older.build(), to=Phase.FILLING)
    older.add("Die Leuchttürme der Häfen", metadata={"language": "de"})
    assert older.find("Leuchttürme") == 1
    assert older.run(older.build()).phase is Phase.DONE
    assert older.find("Leuchtturm Hafen") == 1
    older.check()


def test_the_metadata_of_a_document_overrides_its_language(library: Library):
    library.add("Die Häuser am Hafen", metadata={"language": "de-AT"})
    assert library.run(library.rebuild()).phase is Phase.DONE
    assert library.find("Haus") == 1
