"""How a cluster is reached: addresses, users, certificates; and what is said when it cannot be."""

import ssl
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from indexer.search.backends import backend
from indexer.search.opensearch import OpenSearchBackend
from pipeline.errors import IndexUnavailable, SettingsError
from pipeline.settings import OpenSearch, Settings
from tests.support.entries import entry
from tests.support.node_index import backend_of
from tests.support.scripted_engine import ScriptedEngine, failure

TLS = Path(__file__).parents[2] / "support" / "tls"
AWAY = "http://127.0.0.1:9"


@pytest.fixture
def secure() -> Iterator[ScriptedEngine]:
    """A server with a certificate that no authority has signed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "certificate.pem", TLS / "key.pem")
    with ScriptedEngine(tls=context) as engine:
        yield engine


def publishes(url: str, **group: Any) -> str | None:
    """Publishes one document; returns what went wrong."""
    outcomes = backend_of(url, **group).publish(None, ["live"], [entry()])
    return next((getattr(outcome, "message", "refused") for outcome in outcomes.values()), None)


def user_of(scripted: ScriptedEngine) -> str | None:
    header = scripted.calls[-1].headers.get("authorization")
    return b64decode(header.removeprefix("Basic ")).decode() if header else None


def test_the_user_comes_from_the_address_or_from_the_settings(scripted: ScriptedEngine):
    address = scripted.url.removeprefix("http://")
    assert publishes(f"http://bob:p%40ss%3Aw%C3%B6rd@{address}") is None
    assert user_of(scripted) == "bob:p@ss:wörd"
    assert publishes(scripted.url, user="eve", password="日本") is None
    assert user_of(scripted) == "eve:日本"
    assert publishes(scripted.url) is None
    assert user_of(scripted) is None


def test_an_address_may_have_a_path(scripted: ScriptedEngine):
    assert publishes(f"{scripted.url}/search/engine/") is None
    assert scripted.calls[0].path == "/search/engine/_bulk"


def test_of_several_hosts_one_that_is_away_is_left_out(scripted: ScriptedEngine):
    client = backend_of(f"{AWAY}, {scripted.url}")
    results = [client.publish(None, ["live"], [entry()]) for _ in range(4)]
    assert sum(bool(result) for result in results) <= 1, "the host that is away is asked once at most"
    assert len(scripted.calls) >= 3


def test_a_certificate_must_be_vouched_for(secure: ScriptedEngine):
    message = publishes(secure.url)
    assert message is not None
    assert message.startswith("The certificate of OpenSearch is not trusted, or TLS fails")
    assert publishes(secure.url, ca_file=TLS / "certificate.pem") is None
    assert publishes(secure.url, verify=False) is None


def test_a_file_of_certificates_that_is_not_there_is_said_at_start(tmp_path: Path):
    with pytest.raises(
        SettingsError, match=r"FENCEPOST_OPENSEARCH__CA_FILE: .*missing.pem cannot be read: No such file"
    ):
        backend_of("https://127.0.0.1:9", ca_file=tmp_path / "missing.pem")


def test_without_an_address_there_is_no_backend():
    with pytest.raises(SettingsError, match="FENCEPOST_OPENSEARCH_URL is not set"):
        backend(Settings(search="opensearch"))


def test_a_process_starts_while_the_engine_is_away():
    made = backend(Settings(opensearch_url=AWAY))
    assert isinstance(made, OpenSearchBackend)
    with pytest.raises(IndexUnavailable, match="OpenSearch cannot be reached"):
        made.probe(["live"])


def test_neither_password_nor_text_is_in_any_message_or_log(scripted: ScriptedEngine, caplog: pytest.LogCaptureFixture):
    url = scripted.url.replace("http://", "http://bob:secret@")
    scripted.script(failure(401, "security_exception", "bob:secret"), failure(500, "exception", "lighthouse"))
    settings = Settings(opensearch_url=url, opensearch=OpenSearch(prefix="x"))
    with caplog.at_level("DEBUG"):
        messages = [str(OpenSearchBackend(settings).publish(None, ["live"], [entry("lighthouse")])) for _ in range(2)]
    assert len(messages) == 2
    for word in ("secret", "lighthouse"):
        assert not any(word in message for message in [*messages, caplog.text])
