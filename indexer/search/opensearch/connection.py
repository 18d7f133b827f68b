"""The client of OpenSearch of one process, and its errors as sentences for operators.

The client has no retries of its own: one layer owns retries, and it is not this one. It connects when it is first
used, so that a process starts while the engine is away.
"""

import logging
import ssl
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote, urlsplit

import orjson
import urllib3
from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException, SerializationError
from opensearchpy.serializer import Serializer
from urllib3.exceptions import InsecureRequestWarning

from indexer.search.opensearch.reasons import reason_of
from pipeline.errors import IndexUnavailable, SettingsError
from pipeline.settings import Settings

SPARE_CONNECTIONS = 8
"""For searches, beside those that publish."""


class Orjson(Serializer):
    """JSON by orjson; what is bytes or text already stays so."""

    mimetype = "application/json"

    def loads(self, s: str | bytes) -> Any:  # noqa: ANN401 - any JSON
        """Parses an answer."""
        try:
            return orjson.loads(s)
        except orjson.JSONDecodeError as error:
            raise SerializationError("an answer that is not JSON") from error

    def dumps(self, data: object) -> str | bytes:
        """The body of a request."""
        return data if isinstance(data, str | bytes) else orjson.dumps(data)


def connect(settings: Settings) -> OpenSearch:
    """A client, thread-safe and not connected yet."""
    for name in ("opensearch", "opensearchpy.trace"):  # they repeat, with whole documents, what our events say
        logging.getLogger(name).setLevel(logging.CRITICAL)
    ours = settings.opensearch
    settings.needs("opensearch_url")
    addresses = [address.strip() for address in settings.opensearch_url.get_secret_value().split(",")]
    hosts = [_host(address, settings) for address in filter(None, addresses)]
    return OpenSearch(
        hosts=hosts,
        serializer=Orjson(),
        timeout=ours.timeout_seconds,
        max_retries=0,
        retry_on_timeout=False,
        pool_maxsize=ours.concurrency + SPARE_CONNECTIONS,
    )


@contextmanager
def explaining() -> Iterator[None]:
    """Raises IndexUnavailable, with a sentence, for what went wrong in the engine or on the way."""
    try:
        yield
    except OpenSearchException as error:
        raise IndexUnavailable(reason_of(error)) from None  # the original may quote a document


def _host(address: str, settings: Settings) -> dict[str, object]:
    parts = urlsplit(address)
    ours = settings.opensearch
    user = unquote(parts.username) if parts.username else ours.user
    password = unquote(parts.password) if parts.password else ours.password.get_secret_value()
    is_secure = parts.scheme == "https"
    host: dict[str, object] = {
        "host": parts.hostname or "127.0.0.1",
        "port": parts.port or (443 if is_secure else 9200),
        "url_prefix": parts.path,
    }
    if user:  # not as the client's `http_auth`, which takes only passwords in Latin-1
        host["headers"] = {"authorization": "Basic " + b64encode(f"{user}:{password}".encode()).decode()}
    if is_secure:
        host |= {"use_ssl": True, "ssl_context": _tls(settings)}
    return host


def _tls(settings: Settings) -> ssl.SSLContext:
    """Trusts whom the setting names, else whom the system trusts."""
    try:
        context = ssl.create_default_context(cafile=settings.opensearch.ca_file)
    except OSError as error:
        file = settings.opensearch.ca_file
        raise SettingsError(
            f"FENCEPOST_OPENSEARCH__CA_FILE: {file} cannot be read: {error.strerror or error}."
        ) from None
    if not settings.opensearch.verify:
        urllib3.disable_warnings(InsecureRequestWarning)  # it would come with every call
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
