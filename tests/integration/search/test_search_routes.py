from collections.abc import Iterator

import pytest
from httpx import Client

from indexer.extract.types import Passage
from pipeline.settings import Settings
from tests.support.api import serving
from tests.support.search_index import SearchIndex
from tests.support.servers import Database


@pytest.fixture
def client(database: Database, configured: Settings) -> Iterator[Client]:
    with serving(database, configured) as client:
        yield client


def test_the_shape_of_an_answer(client: Client, index: SearchIndex):
    passage = Passage("the old lighthouse", 3, heading="Coast › Towers")
    index.add("docs/a.txt", [passage], title="Report", version=4, media_type="text/plain", language="en")
    index.visible()
    answer = client.get("/v1/search", params={"q": "lighthouse"}).json()
    (hit,) = answer["hits"]
    assert hit.pop("score") > 0
    assert hit.pop("accepted_at").startswith("2026-01-01T")
    assert hit == {
        "document_id": str(index.ids["docs/a.txt"]), "input_version": None, "published_version": 4,
        "collection": "default", "key": "docs/a.txt", "title": "Report", "media_type": "text/plain",
        "language": "en",
        "passages": [
            {"page": 3, "member": None, "heading": "Coast › Towers", "html": "the old <mark>lighthouse</mark>"},
        ],
    }  # fmt: skip
    assert answer | {"hits": []} == {
        "total": 1, "total_capped": False, "hits": [], "next": None,
        "facets": {
            "collection": [{"value": "default", "count": 1}], "media_type": [{"value": "text/plain", "count": 1}],
            "language": [{"value": "en", "count": 1}],
        },
    }  # fmt: skip


def test_filters_sorts_and_cursors(client: Client, index: SearchIndex):
    other = index.collection("other")
    for n in range(6):
        index.add(f"{n}", "word", metadata={"colour": "red" if n % 2 else "a:b"}, collection_id=1 if n < 4 else other)
    index.visible()

    def keys(**params: object) -> list[str]:
        return [hit["key"] for hit in client.get("/v1/search", params={"q": "word"} | params).json()["hits"]]

    assert set(keys(collection="other")) == {"4", "5"}
    assert set(keys(collection=["default", "other"], filter="meta.colour:a:b")) == {"0", "2", "4"}
    assert keys(sort="-accepted_at", limit=2) == ["5", "4"]
    first = client.get("/v1/search", params={"q": "word", "sort": "-accepted_at", "limit": 4}).json()
    assert keys(sort="-accepted_at", limit=4, cursor=first["next"]) == ["1", "0"]
    assert keys(filter="media_type:text/html") == []
    index.add("de", "word", language="de")
    index.visible()
    assert keys(filter="language:de") == ["de"]
    assert keys(filter=["language:de", "media_type:text/html"]) == []


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"q": ""}, "query_empty"), ({"q": "\0"}, "query_empty"), ({"q": "-word"}, "query_only_excludes"),
        ({"q": "word", "cursor": "nonsense"}, "bad_cursor"),
        ({"q": "word", "filter": "colour:red"}, "bad_filter"), ({"q": "word", "filter": "meta.:red"}, "bad_filter"),
        ({"q": "word", "filter": "media_type"}, "bad_filter"),
        ({"q": "word", "filter": ["meta.a:b"] * 21}, "bad_filter"),
        ({"q": "word", "limit": 101}, None), ({"q": "word", "limit": 0}, None), ({"q": "word", "sort": "size"}, None),
        ({}, None),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("index")
def test_what_cannot_be_is_a_problem(client: Client, params: dict[str, object], code: str | None):
    answer = client.get("/v1/search", params=params)
    assert answer.status_code in {400, 422}
    assert answer.headers["content-type"] == "application/problem+json"
    assert code is None or answer.json()["code"] == code
