"""Collections with something of everything in them, keys for them, and the requests that try every route on them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any
from uuid import uuid4

from httpx import Client, Response

from indexer import results
from indexer.extract import Extraction, Passage
from indexer.extract.types import TextQuality
from indexer.search.backend import Entry
from indexer.search.backends import backend
from pipeline import indexes, keys
from pipeline.acceptance import Acceptance
from pipeline.caller import Scope
from pipeline.outcomes import Published, Rejected
from pipeline.settings import Settings
from tests.support import api
from tests.support.routes import Declared
from tests.support.rows import OperatedWorld
from tests.support.servers import Database

_numbers = count(1)


@dataclass(frozen=True)
class Shelf:
    """One collection. Whatever is told of it contains its name, a word of its own, or an id."""

    name: str
    published: Acceptance
    broken: Acceptance
    refused: Acceptance
    row_id: int
    """The outbox row of the refused one, which waits for a release."""

    @property
    def ids(self) -> set[str]:
        """Of its documents and jobs."""
        three = (self.published, self.broken, self.refused)
        return {str(accepted.document_id) for accepted in three} | {str(accepted.job_id) for accepted in three}


@dataclass(frozen=True)
class Scene:
    """An application that asks for keys, and its database."""

    client: Client
    world: OperatedWorld

    def key(self, scope: Scope = Scope.ADMIN, *collections: str, days: float | None = None) -> str:
        """The token of a new key; of all collections if none is named."""
        with self.world.engine.begin() as connection:
            return keys.create(connection, "somebody", scope, collections or None, days=days)[0]

    def ask(self, token: str | None, method: str, path: str, **options: Any) -> Response:
        """One request with a key, or without one."""
        headers = options.pop("headers", {}) | ({"Authorization": f"Bearer {token}"} if token else {})
        return self.client.request(method, path, headers=headers, **options)

    def shelf(self, name: str | None = None) -> Shelf:
        """A new collection with a published, a quarantined and a refused document."""
        name = name or f"shelf{next(_numbers)}"
        published, broken, refused = (self._upload(name, kind) for kind in ("published", "broken", "refused"))
        self._publish(name, published)
        assert broken.job_id is not None
        self.world.attempt(broken.job_id, Rejected("corrupt", f"The {name} is broken."))
        values = {"job": refused.job_id, "error": f"no {name}"}
        self.world.execute("UPDATE outbox SET exhausted = true, last_error = :error WHERE job_id = :job", **values)
        row = self.world.row("SELECT id FROM outbox WHERE job_id = :job", job=refused.job_id)
        return Shelf(name, published, broken, refused, row["id"])

    def state(self, shelf: Shelf) -> str:
        """All rows of a collection, as text."""
        row = self.world.row(
            """
            WITH c AS (SELECT collection_id FROM collections WHERE name = :name)
            SELECT json_build_object(
                'documents', (SELECT json_agg(d ORDER BY d.document_id) FROM documents d JOIN c USING (collection_id)),
                'jobs', (SELECT json_agg(j ORDER BY j.job_id) FROM jobs j JOIN c USING (collection_id)),
                'outbox', (SELECT json_agg(o ORDER BY o.id) FROM outbox o JOIN c USING (collection_id)),
                'quarantine', (SELECT json_agg(q ORDER BY q.job_id) FROM quarantine q JOIN jobs USING (job_id)
                               JOIN c USING (collection_id))) AS state
            """,
            name=shelf.name,
        )
        return str(row["state"])

    def _upload(self, name: str, kind: str) -> Acceptance:
        label = f"{kind} {name}"
        names = {"key": label, "title": label, "filename": f"{label}.txt", "metadata": {"of": name}}
        return self.world.upload(f"words of {label}", collection=name, **names)

    def _publish(self, name: str, accepted: Acceptance) -> None:
        """What a worker does, without one: the stored text, the entry, and the end of the job."""
        assert accepted.job_id is not None
        passages = [Passage(f"lighthouse {name}")]
        version = self.world.row("SELECT * FROM versions WHERE document_id = :id", id=accepted.document_id)
        collection = self.world.row("SELECT collection_id AS id FROM collections WHERE name = :name", name=name)["id"]
        with self.world.engine.begin() as connection:
            key = results.Key(version["sha256"], "text-2.1", "")
            results.store(connection, {key: Extraction("text/plain", TextQuality.OK, passages, {})})
            result = results.find(connection, [key])[key]
            entry = Entry(
                accepted.document_id, 1, False, collection, f"key {name}", name, "text/plain", {},
                version["accepted_at"], passages,
            )  # fmt: skip
            assert not backend(self.world.settings).publish(connection, indexes.targets(connection), [entry])
        self.world.attempt(accepted.job_id, Published(result.result_id))


@contextmanager
def staged(database: Database, **settings: Any) -> Iterator[Scene]:
    """A scene on this database."""
    with api.serving(database, Settings(partitions=1, require_keys=True, **settings)) as client:
        yield Scene(client, OperatedWorld(database.engine).run())


def requests_for(route: Declared, shelf: Shelf) -> list[tuple[str, dict[str, Any]]]:
    """What somebody asks who wants to see or change everything of a shelf by this route: paths and options."""
    documents = {"/content": shelf.published, "/text": shelf.published}
    document = next((a for end, a in documents.items() if route.path.endswith(end)), shelf.broken)
    path = route.path.format(
        document_id=document.document_id,
        job_id=shelf.broken.job_id,
        row_id=shelf.row_id,
        prefix="0" * 8,
        name="none",
        verification_id=1,
    )
    return [(path, options) for options in _OPTIONS.get(route.name, lambda _: [{}])(shelf)]


def _filters(shelf: Shelf, body: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"json": {"filter": chosen, **body}} for chosen in ({}, {"collection": shelf.name}, {"code": "corrupt"})]


def _lists(shelf: Shelf) -> list[dict[str, Any]]:
    return [{}, {"params": {"collection": shelf.name}}]


_OPTIONS = {
    "GET /documents": _lists,
    "GET /jobs": _lists,
    "GET /outbox": lambda _: [{}, {"params": {"all": True}}],
    "GET /quarantine": _lists,
    "GET /search": lambda s: [{"params": {"q": "lighthouse"}}, {"params": {"q": s.name, "collection": s.name}}],
    "GET /v1/documents": lambda s: [*_lists(s), {"params": {"key": f"published {s.name}"}}],
    "GET /v1/outbox": lambda s: [*_lists(s), {"params": {"exhausted": True, "limit": 500}}],
    "GET /v1/jobs": lambda s: [*_lists(s), {"params": {"state": "quarantined"}}],
    "GET /v1/quarantine": lambda s: [*_lists(s), {"params": {"code": "corrupt"}}],
    "GET /v1/search": lambda s: [
        {"params": {"q": "lighthouse"}},
        {"params": {"q": s.name}},
        {"params": {"q": "lighthouse", "collection": s.name}},
    ],
    "POST /login": lambda _: [{"data": {"key": "none"}}],
    "POST /v1/documents": lambda s: [
        {"params": {"collection": s.name, "key": f"published {s.name}"}, "content": b"other"},
        {"params": {"collection": s.name}, "content": b"new"},
    ],
    "POST /v1/documents/bulk": lambda s: [
        {"content": b'{"collection": "%b", "key": "published %b", "text": "other"}' % ((s.name.encode(),) * 2)}
    ],
    "POST /v1/keys": lambda s: [{"json": {"name": "more", "scope": "admin", "collections": [s.name]}}],
    "POST /v1/quarantine/assign": lambda s: _filters(s, {"owner": "me"}),
    "POST /v1/quarantine/dismiss": lambda s: _filters(s, {"note": "done"}),
    "POST /v1/quarantine/replay": lambda s: _filters(s, {"as": "same"}),
    "POST /v1/quarantine/{job_id}/assign": lambda _: [{"json": {"owner": "me"}}],
    "POST /v1/quarantine/{job_id}/dismiss": lambda _: [{"json": {"note": "done"}}],
    "POST /v1/quarantine/{job_id}/replay": lambda _: [{"json": {"as": how}} for how in ("same", "new_version")],
    "POST /v1/reindex": lambda s: [
        {"json": {"collection": s.name}},
        {"json": {"documents": [str(s.broken.document_id), str(s.published.document_id)]}},
        {"json": {"state": "failed"}},
        {"json": {"all": True}},
    ],
    "PUT /v1/documents/{document_id}/content": lambda _: [{"content": b"other"}],
}


def unknown(name: str) -> Shelf:
    """A shelf that does not exist, to be asked for like one that does."""
    published, broken, refused = (Acceptance(uuid4(), 1, uuid4(), "queued", unchanged=False) for _ in range(3))
    return Shelf(name, published, broken, refused, row_id=10**9)
