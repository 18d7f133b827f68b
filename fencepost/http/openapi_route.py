"""The route that describes all the others."""

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from starlette.requests import Request

from pipeline.requests import READS

router = APIRouter(include_in_schema=False, dependencies=[READS])


@router.get("/v1/openapi.json")
async def describe(request: Request) -> JSONResponse:
    """OpenAPI 3.1."""
    return JSONResponse(request.app.openapi())
