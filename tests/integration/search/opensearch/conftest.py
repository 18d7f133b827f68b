"""What only the search backend in OpenSearch has: points in time, an engine that may be away, stored passages."""

from collections.abc import Iterator

import httpx
import pytest

from fencepost.local.opensearch import LocalOpenSearch


@pytest.fixture(params=["opensearch"])
def kind(request: pytest.FixtureRequest) -> str:
    """The search backend."""
    return str(request.param)


@pytest.fixture
def node(opensearch: LocalOpenSearch) -> Iterator[httpx.Client]:
    """The engine, past our client."""
    with httpx.Client(base_url=opensearch.url, trust_env=False, timeout=30) as client:
        yield client
