"""Assembles the HTTP application."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio.to_thread
from fastapi import FastAPI
from sqlalchemy import Engine

import fencepost.http.health
import fencepost.http.index_routes
import fencepost.http.key_routes
import fencepost.http.openapi_route
import fencepost.http.operator_routes
import fencepost.http.quarantine_routes
import fencepost.web.login
import fencepost.web.routes
import indexer.search_routes
import indexer.text_routes
import ingest.routes
from fencepost import VERSION
from fencepost.http import mistakes
from fencepost.http.door import Door
from fencepost.http.guard import Guard
from fencepost.http.parameters import ONLY_KNOWN
from indexer.extract.expected import expected_key
from indexer.search.backends import backend
from ingest.intake import Intake
from ingest.notifier import Notifier
from pipeline.overview_cache import OverviewCache
from pipeline.settings import Settings

API = (
    ingest.routes.router,
    indexer.search_routes.router,
    indexer.text_routes.router,
    *fencepost.http.operator_routes.ROUTERS,
    fencepost.http.index_routes.router,
    fencepost.http.quarantine_routes.router,
    fencepost.http.key_routes.router,
    fencepost.http.openapi_route.router,
)
OTHERS = (
    fencepost.http.health.router,
    fencepost.web.login.router,
    fencepost.web.routes.router,
)
THREADS = 20
"""Requests worked on at once; the pool of the engine must have as many connections."""
SEARCHES = THREADS // 2
"""Of them at most."""
ABOUT = (
    "Upload documents and search them. Whatever was answered with 202 is durable: it will be indexed, or somebody is "
    "told why not. Errors are problems of RFC 9457 with a stable `code`."
)


def create_app(settings: Settings, *, engine: Engine) -> FastAPI:
    """The application on this engine, whose pool should hold `THREADS` connections."""
    notifier = Notifier(settings.direct_url)
    overview = OverviewCache(engine)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        notifier.start()
        try:
            yield
        finally:
            notifier.stop()
            overview.close()

    app = FastAPI(
        title="Fencepost",
        version=VERSION,
        description=ABOUT,
        lifespan=lifespan,
        openapi_url=None,  # it is a route like the others
        docs_url=None,
        redoc_url=None,
    )
    app.state.settings = settings
    app.state.engine = engine
    app.state.backend = backend(settings)
    app.state.searching = asyncio.Semaphore(SEARCHES)
    app.state.overview = overview
    app.state.intake = Intake(engine, notifier, settings)
    app.state.expected = expected_key(settings.extract)
    for router in API:
        app.include_router(router, dependencies=[ONLY_KNOWN])
    for router in OTHERS:
        app.include_router(router)
    mistakes.install(app)
    app.add_middleware(Door, engine=engine, settings=settings)
    app.add_middleware(mistakes.LastResort)
    app.add_middleware(Guard, asks_for_keys=settings.asks_for_keys)
    return app
