"""What the routes of all rooms have in common: their surroundings, and parameters that mean the same everywhere."""

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Path, Query
from sqlalchemy import Engine
from starlette.requests import Request

from pipeline.errors import no_document
from pipeline.settings import Settings

EXAMPLE_ID = "6f1c0f4e-5b1d-4c0a-9c39-0f7a3b2f6a11"


def _engine(request: Request) -> Engine:
    engine: Engine = request.app.state.engine
    return engine


def _settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


def _document_id(
    document_id: Annotated[str, Path(description="The document's id.", examples=[EXAMPLE_ID])],
) -> UUID:
    try:
        return UUID(document_id)
    except ValueError:
        raise no_document(document_id) from None


TheEngine = Annotated[Engine, Depends(_engine)]
TheSettings = Annotated[Settings, Depends(_settings)]
DocumentId = Annotated[UUID, Depends(_document_id)]
Cursor = Annotated[str | None, Query(description="`next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=500, description="How many items one page has.")]
