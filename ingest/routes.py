"""All routes of the front door."""

from fastapi import APIRouter

from ingest import accepting_routes

router = APIRouter()
router.include_router(accepting_routes.router)
