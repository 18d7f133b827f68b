"""Physical indexes on a real node, and the alias of searches."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from indexer.search.backend import SearchBackend
from indexer.search.backends import inspect
from indexer.search.opensearch.mapping import MAPPING
from indexer.search.postgres import Postgres
from pipeline import events, indexes
from pipeline.errors import IndexUnavailable, NameTaken
from pipeline.indexes import IndexState, PhysicalIndex
from tests.support.entries import entry
from tests.support.node_index import NOWHERE, NodeIndex, backend_of
from tests.support.servers import Database
from tests.support.world import World


def registered(node: NodeIndex, database: Database) -> PhysicalIndex:
    """One more index of this installation, in the registry and on the node."""
    with database.engine.begin() as connection:
        one = indexes.begin(
            connection, backend="opensearch", fingerprint=node.backend.fingerprint, prefix=node.prefix, joint="-"
        )
        node.backend.create(connection, one)
        indexes.change(connection, {one.index_id: IndexState.FILLING})
    return one


def go_live(node: NodeIndex, database: Database, index: PhysicalIndex) -> None:
    """What a rebuild does at its end."""
    with database.engine.begin() as connection:
        live = indexes.live(connection)
        moves = {index.index_id: IndexState.LIVE} | ({live.index_id: IndexState.RETIRED} if live else {})
        indexes.change(connection, moves)
        node.backend.make_live(connection, index)


def behind(node: NodeIndex) -> list[str]:
    """The indexes that a search reads."""
    response = node.http.get(f"/_alias/{node.prefix}")
    return sorted(response.json()) if response.is_success else []


def test_an_index_is_made_once_and_says_whose_it_is(node: NodeIndex):
    document = entry()
    node.publish(document)
    node.backend.create(NOWHERE, node.physical)
    assert node.state(document.document_id), "what is in it stays"
    made = node.ask("GET", f"/{node.name}")[node.name]
    assert made["mappings"]["_meta"] == {
        "fingerprint": node.backend.fingerprint,
        "identity": str(node.physical.identity),
    }
    assert made["mappings"]["dynamic"] == "strict"
    assert made["mappings"]["properties"].keys() == MAPPING["properties"].keys()
    assert made["aliases"].keys() == {f"{node.name}-write"}
    settings = made["settings"]["index"]
    assert (settings["translog"]["durability"], settings["refresh_interval"]) == ("request", "1s")


def test_an_index_made_by_hand_under_the_prefix_has_the_same_mapping(node: NodeIndex):
    node.ask("PUT", f"/{node.prefix}-by-hand")
    made = node.ask("GET", f"/{node.prefix}-by-hand/_mapping")[f"{node.prefix}-by-hand"]["mappings"]
    assert made["properties"] == node.ask("GET", f"/{node.name}/_mapping")[node.name]["mappings"]["properties"]


def test_a_prefix_that_begins_like_another_one_has_a_template_of_its_own(node: NodeIndex):
    longer = NodeIndex(node.url, f"{node.prefix}-b", shards=2)
    again = NodeIndex(node.url, node.prefix, replace(node.physical, name=f"{node.name}1", identity=uuid4()))
    for index, shards in ((longer, "2"), (again, "1")):
        made = index.ask("GET", f"/{index.name}/_settings")[index.name]["settings"]["index"]
        assert made["number_of_shards"] == shards
    longer.http.close()
    again.http.close()


def test_a_namesake_of_another_installation_is_left_alone(node: NodeIndex):
    ours = replace(node.physical, identity=uuid4())
    for action in (node.backend.create, node.backend.drop):
        with pytest.raises(NameTaken, match="is not ours; set FENCEPOST_OPENSEARCH__PREFIX"):
            action(NOWHERE, ours)
    assert node.publish(entry()) == {}


def test_searches_change_over_to_the_new_index_at_once(node: NodeIndex, database: Database):
    first = registered(node, database)
    go_live(node, database, first)
    go_live(node, database, first)
    assert behind(node) == [first.name]
    second = registered(node, database)
    go_live(node, database, second)
    assert behind(node) == [second.name]
    node.backend.drop(NOWHERE, first)
    node.backend.drop(NOWHERE, first)
    assert node.http.head(f"/{first.name}").status_code == 404
    assert behind(node) == [second.name]


def test_an_alias_of_another_installation_is_left_alone(node: NodeIndex, database: Database):
    index = registered(node, database)
    node.ask("PUT", f"/{node.prefix}-of-others", {"aliases": {node.prefix: {}}})
    with pytest.raises(NameTaken, match=f"leads to {node.prefix}-of-others, which belongs to another installation"):
        go_live(node, database, index)
    assert behind(node) == [f"{node.prefix}-of-others"]


def test_an_index_that_has_the_name_of_the_alias_is_left_alone(node: NodeIndex, database: Database):
    index = registered(node, database)
    node.ask("PUT", f"/{node.prefix}")
    with pytest.raises(NameTaken, match=f"has an index named {node.prefix}"):
        go_live(node, database, index)


def test_an_index_that_is_gone_does_not_go_live(node: NodeIndex, database: Database):
    index = registered(node, database)
    node.ask("DELETE", f"/{index.name}")
    with pytest.raises(IndexUnavailable, match="is not in OpenSearch"):
        go_live(node, database, index)


def test_an_engine_that_is_away_is_said_as_such(node: NodeIndex):
    away = backend_of("http://127.0.0.1:9", prefix=node.prefix)
    for action in (away.create, away.drop):
        with pytest.raises(IndexUnavailable, match="cannot be reached"):
            action(NOWHERE, node.physical)


@contextmanager
def heard() -> Iterator[list[tuple[str, dict[str, object]]]]:
    """The events meanwhile."""
    said: list[tuple[str, dict[str, object]]] = []

    def listen(name: str, fields: dict[str, object]) -> None:
        said.append((name, fields))

    events.subscribe(listen)
    try:
        yield said
    finally:
        events.unsubscribe(listen)


def inspected(backend: SearchBackend, database: Database) -> list[tuple[str, dict[str, object]]]:
    with heard() as said:
        inspect(backend, database.engine)
    return said


def test_a_worker_says_at_its_start_what_is_wrong_with_the_index(node: NodeIndex, database: Database):
    backend: Any = node.backend
    assert inspected(backend, database) == [("index.missing", {"backend": "opensearch", "index": "fencepost_1_1"})]
    index = registered(node, database)
    go_live(node, database, index)
    assert inspected(backend, database) == []
    node.ask("PUT", f"/{index.name}/_mapping", {"_meta": {"identity": str(index.identity), "fingerprint": "older"}})
    assert inspected(backend, database) == [("index.outdated", {"index": index.name, "made_with": "older"})]
    node.ask("PUT", f"/{index.name}/_mapping", {"_meta": {"identity": str(uuid4()), "fingerprint": "x"}})
    assert inspected(backend, database) == [("index.missing", {"backend": "opensearch", "index": index.name})]
    node.ask("DELETE", f"/{index.name}")
    assert inspected(backend, database) == [("index.missing", {"backend": "opensearch", "index": index.name})]
    away = backend_of("http://127.0.0.1:9", prefix=node.prefix)
    assert inspected(away, database) == [("index.unavailable", {"reason": "OpenSearch cannot be reached."})]


def test_the_same_in_postgresql(world: World, database: Database):
    assert inspected(Postgres(), database) == []
    world.execute("UPDATE search_indexes SET fingerprint = 'older'")
    assert inspected(Postgres(), database) == [("index.outdated", {"index": "fencepost_1_1", "made_with": "older"})]
    world.execute("DROP SCHEMA fencepost_1_1 CASCADE")
    assert inspected(Postgres(), database) == [("index.missing", {"backend": "postgres", "index": "fencepost_1_1"})]


def test_versions_and_purges_go_by_the_registry(node: NodeIndex, database: Database):
    first = registered(node, database)
    go_live(node, database, first)
    second = registered(node, database)
    document = entry(version=3, tombstone=True)
    node.backend.publish(None, [first.name, second.name], [document])
    with database.engine.connect() as connection:
        assert node.backend.version_of(connection, [document.document_id, uuid4()]) == {document.document_id: 3}
        assert node.backend.version_of(connection, []) == {}
        assert not node.backend.purge_tombstone(connection, document.document_id, 2)
        assert node.backend.purge_tombstone(connection, document.document_id, 3)
        for index in (first, second):
            assert node.backend.states_of(connection, index.name, [document.document_id]) == []
        with pytest.raises(IndexUnavailable):
            backend_of("http://127.0.0.1:9").version_of(connection, [document.document_id])
