"""Which search backend this installation has."""

from sqlalchemy import Engine

from indexer.search.backend import SearchBackend
from indexer.search.postgres import Postgres
from pipeline import events, indexes
from pipeline.database import AWAY
from pipeline.errors import IndexUnavailable, SettingsError
from pipeline.settings import Settings


def backend(settings: Settings) -> SearchBackend:
    """The backend that the settings name. Raises SettingsError when its client is not installed."""
    if settings.search_backend == "postgres":
        return Postgres()
    try:
        from indexer.search.opensearch import OpenSearchBackend  # noqa: PLC0415 - its client is an extra
    except ModuleNotFoundError as error:
        if error.name != "opensearchpy":
            raise
        raise SettingsError(
            "FENCEPOST_SEARCH: OpenSearch needs its client: pip install 'fencepost[opensearch]'."
        ) from None
    return OpenSearchBackend(settings)


def inspect(backend: SearchBackend, engine: Engine) -> None:
    """Says whether the live index is there and as this release makes it; for the start of a worker.

    A database or an engine that is away is no reason not to start.
    """
    try:
        with engine.connect() as connection:
            live = indexes.live(connection)
            made_with = backend.fingerprint_in(connection, live) if live and live.backend == backend.kind else None
    except IndexUnavailable as error:
        events.emit("index.unavailable", reason=error.message)
    except AWAY:
        return  # others say so
    else:
        if made_with is None:
            events.emit("index.missing", backend=backend.kind, index=live.name if live else None)
        elif made_with != backend.fingerprint:
            events.emit("index.outdated", index=live.name if live else None, made_with=made_with)
