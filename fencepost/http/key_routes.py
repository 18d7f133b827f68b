"""The routes that make, list and revoke API keys."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from pipeline import keys
from pipeline.caller import Scope
from pipeline.problems import documented
from pipeline.requests import OVERSEES, TheEngine

router = APIRouter(tags=["keys"], dependencies=[OVERSEES])


class Wanted(BaseModel):
    """A key to be made."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"name": "scanner", "scope": "write"}})

    name: str = Field(description="Whose or what for.")
    scope: Scope = Scope.READ
    collections: list[str] | None = Field(None, description="The only ones it may see; all unless given.")
    days: float | None = Field(None, description="How long it can be used; for ever unless given.")


class KeyShape(BaseModel):
    """A key, without its secret."""

    prefix: str = Field(description="The first part of the key, by which it is known and revoked.")
    name: str
    scope: str
    collections: list[str] | None = Field(description="None: all, also those to come.")
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None = Field(description="To the minute.")
    revoked_at: datetime | None
    state: str = Field(description="usable, expired or revoked.")


class NewKey(KeyShape):
    """A key that was just made."""

    key: str = Field(description="Told this once, and stored nowhere.")


class KeyPage(BaseModel):
    """Keys, the newest first."""

    items: list[KeyShape]
    next: str | None = None


@router.post("/v1/keys", status_code=201, summary="Make a key", responses=documented())
def create(wanted: Wanted, engine: TheEngine) -> NewKey:
    """The answer has the key; nobody can be told it again."""
    with engine.begin() as connection:
        token, key = keys.create(connection, wanted.name, wanted.scope, wanted.collections, days=wanted.days)
    return NewKey(key=token, **asdict(key))


@router.get("/v1/keys", summary="List keys, the newest first", responses=documented())
def list_keys(engine: TheEngine) -> KeyPage:
    """Also those that were revoked or have expired."""
    with engine.connect() as connection:
        return KeyPage.model_validate({"items": [asdict(key) for key in keys.listing(connection)]})


@router.delete("/v1/keys/{prefix}", summary="Revoke a key", responses=documented(404))
def revoke(prefix: Annotated[str, Path(description="The prefix of the key.")], engine: TheEngine) -> KeyShape:
    """From now on it is of no use, and neither are the sessions begun with it."""
    with engine.begin() as connection:
        return KeyShape.model_validate(asdict(keys.revoke(connection, prefix)))
