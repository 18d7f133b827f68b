"""What the routes of all rooms have in common: who asks, their surroundings, and parameters that mean the same.

Every route says by READS, WRITES, ADMINISTERS or OVERSEES (or by the parameter of the same kind) which scope it needs;
a test walks over all of them. What a route shows or changes is limited to `caller.visible`.
"""

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Path, Query
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy import Engine, text
from starlette.requests import Request

from pipeline.caller import Caller, Scope
from pipeline.errors import no_document
from pipeline.settings import Settings

EXAMPLE_ID = "6f1c0f4e-5b1d-4c0a-9c39-0f7a3b2f6a11"


def _engine(request: Request) -> Engine:
    engine: Engine = request.app.state.engine
    return engine


def _settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


TheEngine = Annotated[Engine, Depends(_engine)]
TheSettings = Annotated[Settings, Depends(_settings)]
TheCaller = Annotated[Caller, Depends(_caller)]

_bearer = HTTPBearer(
    scheme_name="key",
    description="An API key, where the server asks for one: `fencepost keys create` makes it.",
    auto_error=False,  # whoever has none is refused before any route is found
)


@dataclass(frozen=True)
class Needs:
    """Which scope a route needs; `everywhere`: in all collections, since what it shows is not that of one."""

    scope: Scope
    everywhere: bool = False

    def __call__(
        self, caller: TheCaller, _documented: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
    ) -> Caller:
        """The caller; raises Forbidden if it may not."""
        caller.must(self.scope, everywhere=self.everywhere)
        return caller


READS = Depends(Needs(Scope.READ))
WRITES = Depends(Needs(Scope.WRITE))
ADMINISTERS = Depends(Needs(Scope.ADMIN))
OVERSEES = Depends(Needs(Scope.ADMIN, everywhere=True))

Reader = Annotated[Caller, READS]
Administrator = Annotated[Caller, ADMINISTERS]
Overseer = Annotated[Caller, OVERSEES]


def _document_id(
    document_id: Annotated[str, Path(description="The document's id.", examples=[EXAMPLE_ID])],
    caller: TheCaller,
    engine: TheEngine,
) -> UUID:
    """The id, if it is one and the caller may see that document; otherwise nobody is told whether it exists."""
    try:
        wanted = UUID(document_id)
    except ValueError:
        raise no_document(document_id) from None
    if caller.visible is not None:
        with engine.connect() as connection:
            if not connection.scalar(_IS_VISIBLE, {"id": wanted, "visible": caller.visible}):
                raise no_document(wanted)
    return wanted


_IS_VISIBLE = text("SELECT EXISTS (SELECT FROM documents WHERE document_id = :id AND collection_id = ANY(:visible))")

DocumentId = Annotated[UUID, Depends(_document_id)]
Cursor = Annotated[str | None, Query(description="`next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=500, description="How many items one page has.")]
