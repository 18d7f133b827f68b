"""The pages and what they show. What they change goes through /v1, so that a page can do nothing the API cannot."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy import Engine
from starlette.requests import Request
from starlette.responses import Response

from fencepost.http.index_routes import TheBackend, read_index
from fencepost.http.operator_routes import JobId, Partition, read_overview
from fencepost.web.narrowing import SELECTS, Narrowing, narrowing
from fencepost.web.rendering import PageRoute, page, static
from indexer.extract import KINDS
from indexer.search.backend import Facets, SearchBackend, SearchPage, SearchRequest
from indexer.search_routes import IN_TURN, parse_filters
from indexer.text_routes import read_text
from ingest import documents
from pipeline import jobs, outbox, overview, quarantine, verifications
from pipeline.agreement import disagreements
from pipeline.caller import Caller, Scope
from pipeline.errors import Invalid
from pipeline.outcomes import FAILURES, TextQuality
from pipeline.requests import Administrator, Cursor, DocumentId, Overseer, Reader, TheEngine, TheSettings
from pipeline.sanitise import clean_name, clean_text
from pipeline.states import State

router = APIRouter(route_class=PageRoute, include_in_schema=False)

PAGE = 50

Text = Annotated[str, Query(max_length=1_000)]
"""A field of a form; empty when nothing was chosen."""


@router.get("/", response_model=None)
def show_overview(
    request: Request, engine: TheEngine, settings: TheSettings, backend: TheBackend, caller: Reader
) -> Response:
    """What is where, what is stuck, and whether there are enough workers; who may not see that begins elsewhere."""
    if not caller.may(Scope.ADMIN, everywhere=True):
        return RedirectResponse("/documents", 303)
    seen = read_overview(request.app.state.overview, engine, settings, backend)
    return page("overview", caller, o=seen, partition_cap=overview.PARTITION_CAP, failures=FAILURES)


@router.get("/documents")
def list_documents(
    engine: TheEngine,
    settings: TheSettings,
    caller: Reader,
    state: Text = "",
    collection: Text = "",
    text_quality: Text = "",
    cursor: Cursor = None,
) -> HTMLResponse:
    """All documents, the newest first, and where to drop new ones."""
    wanted = documents.Filter(_state(state), clean_name(collection), text_quality=_quality(text_quality))
    with engine.connect() as connection:
        overview.bound(connection)
        found = documents.page(connection, wanted, caller.visible, cursor=cursor, limit=PAGE, settings=settings)
    chosen = {"state": state, "collection": collection, "text_quality": text_quality}
    return page("documents", caller, items=found.items, next=found.next, chosen=chosen, kinds=list(KINDS))


@router.get("/documents/{document_id}")
def show_document(document_id: DocumentId, engine: TheEngine, settings: TheSettings, caller: Reader) -> HTMLResponse:
    """One document: what is searchable, what is newer, and every attempt."""
    with engine.connect() as connection:
        document = documents.find(connection, document_id, settings)
        history = documents.history(connection, document_id, cursor=None, limit=20)
    return page("document", caller, d=document, versions=history.versions, more=history.next is not None)


@router.get("/documents/{document_id}/text")
def show_text(
    document_id: DocumentId, engine: TheEngine, settings: TheSettings, caller: Reader, cursor: Cursor = None
) -> HTMLResponse:
    """The text of the published version, by page, member and heading."""
    with engine.connect() as connection:
        document = documents.find(connection, document_id, settings)
        text = read_text(connection, document_id, version=None, cursor=cursor, limit=PAGE)
    return page("text", caller, d=document, text=text, chosen={})


@router.get("/search", dependencies=[IN_TURN])
def search(
    engine: TheEngine,
    backend: TheBackend,
    caller: Reader,
    q: Text = "",
    collection: Text = "",
    filters: Annotated[list[Text] | None, Query(alias="filter")] = None,
    cursor: Cursor = None,
) -> HTMLResponse:
    """A query and its hits, which filters narrow."""
    asked = narrowing(clean_text(q), clean_text(collection), [clean_text(one) for one in filters or ()])
    try:
        found = backend.search(engine, _request(asked, caller, cursor)) if asked.q.strip() else None
        facets = _facets(engine, backend, asked, caller, found) if found else {}
    except Invalid as error:
        return page("search", caller, status=error.status, found=None, asked=asked, facets={}, mistake=error.detail)
    return page("search", caller, found=found, asked=asked, facets=facets, mistake="")


def _facets(
    engine: Engine, backend: SearchBackend, asked: Narrowing, caller: Caller, found: SearchPage
) -> dict[str, Facets]:
    """What can be chosen of each kind: where one is, the others too, which the found documents do not have."""
    others = {kind: backend.facets(engine, _request(asked.without(kind), caller)) for kind in asked.chosen()}
    return dict.fromkeys(SELECTS, Facets(found.facets, capped=found.total_capped)) | others


def _request(asked: Narrowing, caller: Caller, cursor: str | None = None) -> SearchRequest:
    kinds, metadata = parse_filters(asked.filters)
    return SearchRequest(
        text=asked.q,
        collections=caller.among(frozenset({asked.collection}) if asked.collection else None),
        media_types=kinds["media_type"],
        languages=kinds["language"],
        metadata=metadata,
        cursor=cursor,
    )


@router.get("/quarantine")
def list_quarantine(
    engine: TheEngine,
    caller: Administrator,
    state: Literal["", "resolved"] = "",
    code: Text = "",
    collection: Text = "",
    owner: Text = "",
    cursor: Cursor = None,
) -> HTMLResponse:
    """What needs a person, and what a person can do; or what was resolved, and how."""
    chosen = {"code": clean_text(code), "collection": clean_text(collection), "owner": clean_text(owner)}
    with engine.connect() as connection:
        overview.bound(connection)
        wanted = quarantine.Filter(**{name: value or None for name, value in chosen.items()})
        items, following = quarantine.listing(
            connection, wanted, caller.visible, resolved=state == "resolved", cursor=cursor, limit=PAGE
        )
    chosen["state"] = state
    return page("quarantine", caller, items=items, next=following, chosen=chosen, codes=sorted(FAILURES))


@router.get("/outbox")
def list_outbox(
    engine: TheEngine,
    caller: Administrator,
    every: Annotated[bool | None, Query(alias="all")] = None,
    cursor: Cursor = None,
) -> HTMLResponse:
    """What the broker refuses; with `all`, everything that waits to be sent."""
    with engine.connect() as connection:
        overview.bound(connection)
        exhausted = None if every else True
        items, following = outbox.listing(connection, caller.visible, exhausted=exhausted, cursor=cursor, limit=PAGE)
    return page(
        "outbox", caller, items=items, next=following, everything=bool(every), chosen={"all": "true"} if every else {}
    )


@router.get("/jobs")
def list_jobs(
    engine: TheEngine,
    settings: TheSettings,
    caller: Reader,
    state: Text = "",
    collection: Text = "",
    partition: Partition = None,
    cursor: Cursor = None,
) -> HTMLResponse:
    """All jobs, the newest first."""
    wanted = jobs.Filter(_state(state), clean_name(collection), partition)
    with engine.connect() as connection:
        overview.bound(connection)
        items, following = jobs.listing(
            connection, wanted, caller.visible, cursor=cursor, limit=PAGE, settings=settings
        )
    chosen: dict[str, object] = {"state": state, "collection": collection}
    if partition is not None:
        chosen["partition"] = partition
    return page("jobs", caller, items=items, next=following, chosen=chosen)


@router.get("/jobs/{job_id}")
def show_job(job_id: JobId, engine: TheEngine, settings: TheSettings, caller: Reader) -> HTMLResponse:
    """One job and its attempts."""
    with engine.connect() as connection:
        return page("job", caller, j=jobs.find(connection, job_id, settings))


@router.get("/workers")
def list_workers(engine: TheEngine, settings: TheSettings, caller: Overseer) -> HTMLResponse:
    """Every process and what it holds."""
    with engine.connect() as connection:
        overview.bound(connection)
        items, warnings = overview.workers(connection, settings), disagreements(connection, settings)
    return page("workers", caller, items=items, warnings=warnings)


@router.get("/index")
def show_index(engine: TheEngine, backend: TheBackend, caller: Overseer, cursor: Cursor = None) -> HTMLResponse:
    """The search index: which there are, what is done with them, and what differed."""
    with engine.connect() as connection:
        overview.bound(connection)
        seen = read_index(connection, backend)
        last = seen["verification"]
        number = last["verification_id"] if last else 0
        items, following = verifications.drifts(connection, number, cursor=cursor, limit=PAGE)
    return page("index", caller, i=seen, items=items, next=following, chosen={})


@router.get("/static/{name}")
def show_static(name: str) -> Response:
    """The style sheet, the script and the icon."""
    return static(name)


def _quality(chosen: str) -> TextQuality | None:
    if chosen and chosen not in set(TextQuality):
        raise Invalid("unknown_quality", f"No text is ever {chosen}.")
    return TextQuality(chosen) if chosen else None


def _state(chosen: str) -> State | None:
    if chosen and chosen not in set(State):
        raise Invalid("unknown_state", f"No job is ever in the state {chosen}.")
    return State(chosen) if chosen else None
