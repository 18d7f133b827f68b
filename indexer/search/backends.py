"""Which search backend this installation has."""

from indexer.search.backend import SearchBackend
from indexer.search.postgres import Postgres
from pipeline.errors import SettingsError
from pipeline.settings import Settings


def backend(settings: Settings) -> SearchBackend:
    """The backend that the settings name. Raises SettingsError when its client is not installed."""
    if settings.search_backend == "postgres":
        return Postgres()
    raise SettingsError("FENCEPOST_SEARCH: this release searches in PostgreSQL only.")
