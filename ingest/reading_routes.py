"""The routes that tell about documents."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import JSONResponse, StreamingResponse

from ingest import documents
from ingest.documents import Filter
from ingest.download import download
from ingest.shapes import DocumentPage, DocumentShape, History
from pipeline import overview
from pipeline.database import MOST_BIGINT
from pipeline.outcomes import TextQuality
from pipeline.problems import documented
from pipeline.requests import READS, Cursor, DocumentId, Limit, TheCaller, TheEngine, TheSettings
from pipeline.sanitise import clean_name
from pipeline.states import State

router = APIRouter(tags=["documents"], dependencies=[READS])


def _wanted(
    state: Annotated[State | None, Query(description="Of the newest version's job.")] = None,
    collection: str | None = None,
    key: str | None = None,
    text_quality: Annotated[TextQuality | None, Query(description="Of the published version.")] = None,
) -> Filter:
    return Filter(state, clean_name(collection), clean_name(key), text_quality)


@router.get("/v1/documents", summary="List documents, the newest first", responses=documented(400))
def list_documents(
    engine: TheEngine,
    settings: TheSettings,
    caller: TheCaller,
    wanted: Annotated[Filter, Depends(_wanted)],
    cursor: Cursor = None,
    limit: Limit = 50,
) -> DocumentPage:
    """Filters by state, collection, key and the quality of the text."""
    with engine.connect() as connection:
        overview.bound(connection)
        return documents.page(connection, wanted, caller.visible, cursor=cursor, limit=limit, settings=settings)


@router.get(
    "/v1/documents/{document_id}",
    summary="Show a document",
    responses=documented(404) | {200: {"model": DocumentShape}},
)
def show(document_id: DocumentId, engine: TheEngine, settings: TheSettings) -> JSONResponse:
    """Tells its newest version, what of it is published, and why it waits or failed. ETag is the newest version."""
    with engine.connect() as connection:
        document = documents.find(connection, document_id, settings)
    return JSONResponse(document.model_dump(mode="json"), headers={"ETag": f'"{document.input_version}"'})


@router.get("/v1/documents/{document_id}/history", summary="All versions of a document", responses=documented(400, 404))
def history(document_id: DocumentId, engine: TheEngine, cursor: Cursor = None, limit: Limit = 50) -> History:
    """Tells each version's attempts, the newest version first."""
    with engine.connect() as connection:
        overview.bound(connection)
        return documents.history(connection, document_id, cursor=cursor, limit=limit)


@router.get(
    "/v1/documents/{document_id}/content",
    summary="Download the bytes of a document",
    responses=documented(404) | {200: {"content": {"*/*": {}}}},
    response_class=StreamingResponse,
)
def content(
    document_id: DocumentId,
    engine: TheEngine,
    version: Annotated[int | None, Query(ge=1, le=MOST_BIGINT, description="The newest unless named.")] = None,
) -> StreamingResponse:
    """Gives back exactly what was uploaded, as an attachment."""
    with engine.connect() as connection:
        found = documents.content(connection, document_id, version)
    return download(engine, found)
