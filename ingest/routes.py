"""All routes of the front door."""

from fastapi import APIRouter

from ingest import accepting_routes, many_routes, reading_routes

router = APIRouter()
router.include_router(accepting_routes.router)
router.include_router(reading_routes.router)
router.include_router(many_routes.router)
