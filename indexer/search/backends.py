"""Which search backend this installation has."""

from indexer.search.backend import SearchBackend
from indexer.search.postgres import Postgres
from pipeline.errors import SettingsError
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
