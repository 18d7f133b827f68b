"""Who comes in: with which key, to which route, from which site, and under which name of the server."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from httpx import Client

from fencepost.http.door import Door
from fencepost.local.postgres import LocalPostgres
from pipeline import events, keys, logs
from pipeline.caller import Scope
from pipeline.settings import Settings
from tests.support import api, routes, shelves
from tests.support.routes import Declared
from tests.support.servers import Database
from tests.support.shelves import Scene, Shelf
from tests.support.world import World

GUARDED = [route for route in routes.ALL if route.needs is not None]
LESS = {Scope.WRITE: Scope.READ, Scope.ADMIN: Scope.WRITE}


@pytest.fixture(scope="module")
def shelf(scene: Scene) -> Shelf:
    return scene.shelf()


@pytest.mark.parametrize("route", GUARDED, ids=lambda route: route.name)
def test_nobody_comes_in_without_a_usable_key(scene: Scene, shelf: Shelf, route: Declared) -> None:
    before = scene.state(shelf)
    useless = {"none": None, "unknown": f"fp_{'0' * 8}_{'0' * 64}", "malformed": "x", "empty": ""}
    useless |= {"revoked": scene.key(), "expired": scene.key(days=1)}
    for name, column in (("revoked", "revoked_at"), ("expired", "expires_at")):
        prefix = keys.prefix_of(useless[name] or "")
        scene.world.execute(f"UPDATE api_keys SET {column} = now() WHERE prefix = :prefix", prefix=prefix)
    for name, token in useless.items():
        for path, options in shelves.requests_for(route, shelf):
            answer = scene.ask(token, route.method, path, **options)

            assert answer.status_code == 401, (name, path)
            assert answer.headers["www-authenticate"].startswith("Bearer")
            assert not [one for one in shelf.ids if one in answer.text.replace(path, "")]
            if path.startswith("/v1/"):
                assert answer.headers["content-type"] == "application/problem+json"
                assert answer.json()["code"] == ("key_not_valid" if token else "key_required")
    assert scene.state(shelf) == before


@pytest.mark.parametrize("route", GUARDED, ids=lambda route: route.name)
def test_a_smaller_scope_is_not_enough(scene: Scene, shelf: Shelf, route: Declared) -> None:
    assert route.needs is not None
    if route.needs.scope not in LESS:
        return
    before = scene.state(shelf)
    token = scene.key(LESS[route.needs.scope])
    for path, options in shelves.requests_for(route, shelf):
        answer = scene.ask(token, route.method, path, **options)
        assert answer.status_code == 403, (path, answer.text)
        assert f"needs the scope {route.needs.scope}" in answer.text
        if path.startswith("/v1/"):
            assert answer.json()["code"] == "scope_too_small"
    assert scene.state(shelf) == before


def test_a_revoked_key_stops_at_once(scene: Scene) -> None:
    token, admin = scene.key(Scope.READ), scene.key()
    assert scene.ask(token, "GET", "/v1/documents").status_code == 200

    revoked = scene.ask(admin, "DELETE", f"/v1/keys/{keys.prefix_of(token)}")

    assert revoked.json()["state"] == "revoked"
    assert scene.ask(token, "GET", "/v1/documents").status_code == 401
    assert scene.ask(admin, "GET", "/v1/documents").status_code == 200


def test_an_administrator_makes_and_lists_keys_over_http(scene: Scene) -> None:
    admin = scene.key()
    made = scene.ask(admin, "POST", "/v1/keys", json={"name": "ci", "scope": "write", "collections": ["ci"]})
    assert made.status_code == 201
    token = made.json()["key"]
    assert scene.ask(token, "POST", "/v1/documents?collection=ci", content=b"x").status_code == 202
    listed = scene.ask(admin, "GET", "/v1/keys")
    (item,) = [item for item in listed.json()["items"] if item["prefix"] == keys.prefix_of(token)]
    assert (item["name"], item["scope"], item["collections"], item["state"]) == ("ci", "write", ["ci"], "usable")
    assert token not in listed.text
    assert scene.ask(admin, "DELETE", "/v1/keys/ffffffff").status_code == 404
    bad = scene.ask(admin, "POST", "/v1/keys", json={"name": "x", "collections": []})
    assert (bad.status_code, bad.json()["code"]) == (422, "invalid")


def test_health_and_the_style_sheet_are_open(scene: Scene) -> None:
    for path in ("/health/live", "/health/ready", "/static/style.css", "/login"):
        assert scene.ask(None, "GET", path).status_code == 200
    for path in ("/nowhere", "/v1/nowhere", "/v1", "/static/../v1/documents", "/health/../v1/documents", "//v1/jobs"):
        assert scene.ask(None, "GET", path).status_code in {401, 404}
    assert scene.ask(None, "GET", "/v1/nowhere").status_code == 401


def test_the_key_is_asked_for_before_the_body_is_read(scene: Scene) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(4096):
            sent += 1
            yield b"{" + b" " * 65536

    # The server closes while more is on its way, so the end of the answer may be lost.
    headers = {"Content-Type": "application/json"}
    with scene.client.stream("POST", "/v1/reindex", content=endless(), headers=headers) as answer:
        assert answer.status_code == 401
    assert sent < 4096


@pytest.mark.parametrize("host", ["docs.example", "10.0.0.7:8000", "127.0.0.1", "evil.example"])
def test_with_a_key_the_server_answers_under_any_name(scene: Scene, host: str) -> None:
    assert scene.ask(scene.key(), "GET", "/v1/documents", headers={"Host": host}).status_code == 200
    assert scene.ask(None, "GET", "/v1/documents", headers={"Host": host}).status_code == 401


def test_a_key_in_a_header_may_come_from_anywhere(scene: Scene) -> None:
    foreign = {"Origin": "https://app.example", "Sec-Fetch-Site": "cross-site"}
    answer = scene.ask(scene.key(), "POST", "/v1/documents", content=b"x", headers=foreign)
    assert answer.status_code == 202
    assert "access-control-allow-origin" not in answer.headers


def test_a_cookie_from_another_site_changes_nothing(scene: Scene) -> None:
    cookie = {"Cookie": f"fencepost={session_of(scene)}"}
    own = str(scene.client.base_url).rstrip("/")
    for foreign in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": own.replace("http:", "https:") + "1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example", "Authorization": "Basic eDp5"},
    ):
        answer = scene.ask(None, "POST", "/v1/documents", content=b"x", headers=cookie | foreign)
        assert (answer.status_code, answer.json()["code"]) == (403, "cross_origin")
        out = scene.ask(None, "POST", "/logout", headers=cookie | foreign)
        assert out.status_code == 403
    ours = {"Origin": own, "Sec-Fetch-Site": "same-origin"}
    assert scene.ask(None, "POST", "/v1/documents", content=b"x", headers=cookie | ours).status_code == 202


def test_under_another_name_a_page_has_no_cookie_and_sees_nothing(scene: Scene) -> None:
    """DNS rebinding: the name is the attacker's, so the browser sends what it has for that name, which is nothing."""
    rebound = {"Host": "evil.example", "Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"}
    assert scene.ask(None, "GET", "/v1/documents", headers=rebound).status_code == 401
    assert scene.ask(None, "POST", "/v1/documents", content=b"x", headers=rebound).status_code == 401


def test_a_key_counts_and_not_the_cookie_beside_it(scene: Scene) -> None:
    cookie = {"Cookie": f"fencepost={session_of(scene)}"}
    assert scene.ask(None, "GET", "/v1/workers", headers=cookie).status_code == 200
    assert scene.ask(scene.key(Scope.READ), "GET", "/v1/workers", headers=cookie).status_code == 403
    assert scene.ask("wrong", "GET", "/v1/workers", headers=cookie).status_code == 401


def test_no_cache_keeps_what_one_caller_was_told(scene: Scene) -> None:
    for token in (scene.key(), None):
        for path in ("/v1/documents", "/documents"):
            assert scene.ask(token, "GET", path).headers["cache-control"] == "no-store"


def test_the_log_knows_who_asked_and_never_the_secret(
    scene: Scene, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "_subscribers", [])
    logs.configure(level="debug", as_json=True)
    token = scene.key()
    prefix = keys.prefix_of(token)
    scene.ask(token, "POST", "/v1/keys", json={"name": "x"})
    scene.ask(token[:-1] + ("0" if token[-1] != "0" else "1"), "GET", f"/v1/jobs/{token}")
    events.emit("request.failed", error=f"about {token}", exc_info=ValueError(token))
    said = capsys.readouterr().err

    assert '"key.created"' in said
    assert f'"key": "{prefix}"' in said, "who did it"
    assert '"key.refused"' in said
    assert "Traceback" in said or "ValueError" in said
    assert token.rpartition("_")[2] not in said
    assert f"fp_{prefix}_***" in said


def test_no_answer_repeats_a_secret(scene: Scene) -> None:
    token = scene.key()
    for path in (f"/v1/jobs/{token}", f"/v1/documents/{token}", f"/nowhere/{token}", f"/v1/keys/{token}x"):
        for method in ("GET", "DELETE"):
            assert token not in scene.ask(token, method, path).text


def test_without_keys_nothing_changes_on_loopback(database: Database, world: World) -> None:
    world.upload("x", collection="papers")
    with api.serving(database) as client:
        assert client.get("/v1/workers").status_code == 200
        assert len(client.get("/v1/documents").json()["items"]) == 1
        for token in ("nonsense", f"fp_{'0' * 8}_{'0' * 64}"):
            answer = client.get("/v1/documents", headers={"Authorization": f"Bearer {token}"})
            assert answer.status_code == 200, "a key is not looked at where none is asked for"
        assert client.get("/v1/documents", headers={"Host": "evil.example"}).status_code == 403
        evil = {"Authorization": "Bearer x", "Origin": "https://evil.example"}
        assert client.post("/v1/documents", content=b"x", headers=evil).status_code == 403
        assert client.get("/login", follow_redirects=False).headers["location"] == "/"
        assert "Log out" not in client.get("/").text


def test_while_the_database_is_away_nobody_is_let_in_and_health_answers(
    postgres: LocalPostgres, database: Database
) -> None:
    with shelves.staged(database) as scene:
        token = scene.key()
        postgres.stop()
        try:
            answers = {path: scene.ask(token, "GET", path) for path in ("/v1/documents", "/documents", "/health/live")}
        finally:
            postgres.start()
    assert [answer.status_code for answer in answers.values()] == [503, 503, 200]
    assert answers["/v1/documents"].json()["code"] == "database_unavailable"
    assert "PostgreSQL does not answer" in answers["/documents"].text


def test_a_route_behind_no_door_lets_nobody_in(database: Database) -> None:
    """Should the middleware ever be left out, routes fail instead of answering."""
    said: list[dict[str, Any]] = []

    async def app(scope: dict[str, Any], _receive: object, _send: object) -> None:
        said.append(dict(scope.get("state", {})))

    door = Door(app, engine=database.engine, settings=Settings(require_keys=True))  # type: ignore[arg-type]
    for path in ("/health/live", "/login"):
        asyncio.run(door({"type": "http", "path": path, "headers": []}, None, None))  # type: ignore[arg-type]
    assert said == [{}, {}], "what is open has no caller"


def session_of(scene: Scene) -> str:
    """The secret of a session that was begun with an administrator's key."""
    with Client(base_url=scene.client.base_url) as client:
        answer = client.post("/login", data={"key": scene.key()})
        assert answer.status_code == 303
        return answer.cookies["fencepost"]
