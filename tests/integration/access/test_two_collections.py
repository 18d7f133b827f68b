"""Route by route: the key of one collection sees and changes nothing of another one."""

import pytest
from httpx import Response

from pipeline.caller import Scope
from tests.support import routes, shelves
from tests.support.routes import Declared
from tests.support.shelves import Scene, Shelf

GUARDED = [route for route in routes.ALL if route.needs is not None]
CHANGING = {"POST", "PUT", "DELETE"}
NO_DOCUMENTS = {"POST /logout", "GET /v1/openapi.json", "POST /v1/keys", "GET /v1/keys", "DELETE /v1/keys/{prefix}"}
NO_DOCUMENTS |= {route.name for route in routes.ALL if "/index" in route.path}
TELLING = [route for route in GUARDED if route.name.startswith("GET /v1/") and "{" not in route.path]
SHOWS_PROCESSES = {"GET /v1/overview", "GET /", "GET /v1/workers", "GET /workers"}


@pytest.fixture(scope="module")
def theirs(scene: Scene) -> Shelf:
    return scene.shelf("kestrel")


@pytest.fixture(scope="module")
def token(scene: Scene) -> str:
    """An administrator's, for a collection of its own."""
    return scene.key(Scope.ADMIN, scene.shelf("harbour").name)


@pytest.mark.parametrize("route", GUARDED, ids=lambda route: route.name)
def test_nothing_of_another_collection_is_seen_or_changed(
    scene: Scene, theirs: Shelf, token: str, route: Declared
) -> None:
    before = scene.state(theirs)
    for path, options in shelves.requests_for(route, theirs):
        answer = scene.ask(token, route.method, path, **options)

        assert answer.status_code in expected(route), (path, options, answer.text)
        told = without_echo(answer, path, options, theirs)
        assert theirs.name not in told.lower(), (path, options, told)
        assert not [one for one in theirs.ids if one in told]
    assert scene.state(theirs) == before


@pytest.mark.parametrize("route", GUARDED, ids=lambda route: route.name)
def test_what_is_not_theirs_looks_as_if_it_did_not_exist(
    scene: Scene, theirs: Shelf, token: str, route: Declared
) -> None:
    nowhere = shelves.unknown("nowhere")
    for (path, options), (other_path, other_options) in zip(
        shelves.requests_for(route, theirs), shelves.requests_for(route, nowhere), strict=True
    ):
        answer = scene.ask(token, route.method, path, **options)
        other = scene.ask(token, route.method, other_path, **other_options)

        assert answer.status_code == other.status_code
        if route.method in CHANGING or "{" in route.path:
            assert without_echo(answer, path, options, theirs) == without_echo(
                other, other_path, other_options, nowhere
            ), "the same words"


@pytest.mark.parametrize(
    "route", [route for route in GUARDED if route.name not in NO_DOCUMENTS], ids=lambda route: route.name
)
def test_whoever_may_sees_or_changes_it_by_the_same_request(scene: Scene, route: Declared) -> None:
    """Otherwise the tests above would prove nothing."""
    assert route.needs is not None
    seen = 0
    for n in range(len(shelves.requests_for(route, scene.shelf()))):
        shelf = scene.shelf()
        mine = scene.key(route.needs.scope, *([] if route.needs.everywhere or route.path == "/" else [shelf.name]))
        before = scene.state(shelf)
        path, options = shelves.requests_for(route, shelf)[n]

        answer = scene.ask(mine, route.method, path, **options)

        assert answer.status_code < 300 or (route.path == "/" and answer.status_code == 303), answer.text
        if route.method in CHANGING:
            assert scene.state(shelf) != before, (path, options, answer.text)
        elif route.name not in SHOWS_PROCESSES:
            seen += shelf.name in answer.text or any(one in answer.text for one in shelf.ids)
    assert route.method in CHANGING or route.name in SHOWS_PROCESSES or seen


@pytest.mark.parametrize("route", TELLING, ids=lambda route: route.name)
def test_no_number_counts_what_is_in_another_collection(scene: Scene, token: str, route: Declared) -> None:
    """Not even that of a route that is yet to come: all it tells stays the same whatever comes to be elsewhere."""
    requests = shelves.requests_for(route, shelves.unknown("harbour"))

    def told() -> list[str]:
        return [scene.ask(token, "GET", path, **options).text for path, options in requests]

    before = told()
    scene.shelf()
    assert told() == before


def test_each_filter_by_collection_is_tried_above(scene: Scene, token: str, theirs: Shelf) -> None:
    paths = scene.ask(token, "GET", "/v1/openapi.json").json()["paths"]
    for path, methods in paths.items():
        names = {parameter["name"] for parameter in methods.get("get", {}).get("parameters", ())}
        if "collection" in names:
            route = next(one for one in GUARDED if one.name == f"GET {path}")
            asked = [options.get("params", {}) for _, options in shelves.requests_for(route, theirs)]
            assert any(params.get("collection") == theirs.name for params in asked), route.name


def test_facets_and_totals_count_what_the_key_may_see(scene: Scene, theirs: Shelf, token: str) -> None:
    answer = scene.ask(token, "GET", "/v1/search", params={"q": "lighthouse"}).json()
    assert (answer["total"], [hit["collection"] for hit in answer["hits"]]) == (1, ["harbour"])
    assert answer["facets"]["collection"] == [{"value": "harbour", "count": 1}]
    assert answer["facets"]["media_type"] == [{"value": "text/plain", "count": 1}]
    both = scene.key(Scope.READ, "harbour", theirs.name)
    assert scene.ask(both, "GET", "/v1/search", params={"q": "lighthouse"}).json()["total"] == 2
    only = scene.ask(both, "GET", "/v1/search", params={"q": "lighthouse", "collection": theirs.name}).json()
    assert [hit["collection"] for hit in only["hits"]] == [theirs.name]


def test_an_idempotency_key_is_the_caller_s_own(scene: Scene, theirs: Shelf, token: str) -> None:
    same = {"content": b"x", "headers": {"Idempotency-Key": "1"}}
    first = scene.ask(scene.key(Scope.WRITE, theirs.name), "POST", f"/v1/documents?collection={theirs.name}", **same)
    second = scene.ask(token, "POST", "/v1/documents?collection=harbour", **same)
    again = scene.ask(token, "POST", "/v1/documents?collection=harbour", **same)

    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json()["document_id"] != second.json()["document_id"] == again.json()["document_id"]
    assert "idempotency-replayed" not in second.headers
    assert again.headers["idempotency-replayed"] == "true"


def test_a_waiting_sentence_names_no_document_of_others(scene: Scene, theirs: Shelf, token: str) -> None:
    working = scene.world.upload("more", filename="secret.pdf", collection=theirs.name)
    assert working.job_id is not None
    scene.world.run()
    scene.world.take(working.job_id)
    mine = scene.world.upload("mine", filename="mine.pdf", collection="harbour")

    sentence = scene.ask(token, "GET", f"/v1/documents/{mine.document_id}").json()["waiting"]

    assert "behind another document" in sentence
    assert "secret.pdf" not in sentence


def test_bulk_lines_are_refused_one_by_one(scene: Scene, theirs: Shelf, token: str) -> None:
    lines = [b'{"collection": "%b", "text": "one"}' % name for name in (b"harbour", theirs.name.encode(), b"harbour")]
    answer = scene.ask(token, "POST", "/v1/documents/bulk", content=b"\n".join(lines))
    told = [line for line in answer.text.splitlines() if line]
    assert ["collection_not_allowed" in line for line in told] == [False, True, False]
    assert ['"state":"queued"' in line for line in told] == [True, False, True]


def test_no_new_collection_for_a_key_of_others(scene: Scene, token: str) -> None:
    answer = scene.ask(token, "POST", "/v1/documents?collection=brandnew", content=b"x")
    assert (answer.status_code, answer.json()["code"]) == (403, "collection_not_allowed")
    assert not scene.world.rows("SELECT FROM collections WHERE name = 'brandnew'")


def test_a_key_of_all_collections_also_has_those_to_come(scene: Scene) -> None:
    token = scene.key(Scope.WRITE)
    assert scene.ask(token, "POST", "/v1/documents?collection=later", content=b"x").status_code == 202
    assert len(scene.ask(token, "GET", "/v1/documents?collection=later").json()["items"]) == 1


def expected(route: Declared) -> set[int]:
    assert route.needs is not None
    if route.needs.everywhere:
        return {403}
    if "{" in route.path:
        return {404}
    if route.name == "POST /v1/documents":
        return {403}
    return {200, 202, 303}


def without_echo(answer: Response, path: str, options: dict[str, object], shelf: Shelf) -> str:
    """What an answer tells beyond what was asked for by name."""
    told = (answer.text + answer.headers.get("location", "")).replace(f"outbox row {shelf.row_id};", "…")
    asked = f"{path} {options}"
    for name in {*shelf.ids, shelf.name, f"published {shelf.name}"}:
        if name in asked:
            told = told.replace(name, "…")
    return told
