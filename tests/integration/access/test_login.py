"""How a person comes in: the form, the cookie and its flags, the way back and the way out."""

from http.cookies import SimpleCookie

import pytest
from httpx import Response

from pipeline import keys
from pipeline.caller import Scope
from tests.support import shelves
from tests.support.servers import Database
from tests.support.shelves import Scene


def log_in(scene: Scene, token: str, *, wanted: str = "/jobs", **headers: str) -> Response:
    return scene.client.post("/login", data={"key": f" {token}\n", "next": wanted}, headers=headers)


def cookie_of(answer: Response) -> dict[str, str]:
    """The header of the cookie that an answer gives for this session."""
    (morsel,) = SimpleCookie(answer.headers["set-cookie"]).values()
    return {name.replace("-", "_"): str(value) for name, value in morsel.items() if value} | {
        "name": morsel.key,
        "value": morsel.value,
    }


def with_cookie(scene: Scene, answer: Response, method: str, path: str) -> Response:
    given = cookie_of(answer)
    return scene.ask(None, method, path, headers={"Cookie": f"{given['name']}={given['value']}"})


def test_a_page_asks_for_a_key_and_comes_back_to_where_one_was(scene: Scene) -> None:
    asked = scene.ask(None, "GET", "/jobs?state=queued&x=%22")
    assert asked.status_code == 401
    assert 'name="next" value="/jobs?state=queued&amp;x=%22"' in asked.text
    assert "<nav" not in asked.text

    answer = log_in(scene, scene.key(), wanted="/jobs?state=queued&x=%22")

    assert (answer.status_code, answer.headers["location"]) == (303, "/jobs?state=queued&x=%22")
    page = with_cookie(scene, answer, "GET", "/jobs")
    assert page.status_code == 200
    assert "Log out" in page.text
    assert "somebody" in page.text


def test_the_cookie_is_for_this_site_and_no_script_reads_it(scene: Scene) -> None:
    given = cookie_of(log_in(scene, scene.key()))
    assert {name: given.get(name) for name in ("httponly", "samesite", "path", "max_age", "secure", "domain")} == {
        "httponly": "True", "samesite": "strict", "path": "/", "max_age": "43200", "secure": None, "domain": None,
    }  # fmt: skip
    assert given["name"] == "fencepost"
    assert len(given["value"]) * 4 == 256


def test_behind_https_the_cookie_travels_no_other_way(scene: Scene) -> None:
    """A proxy that ends TLS passes Host and Origin on; the browser's own Origin says how it came."""
    answer = log_in(scene, scene.key(), Host="docs.example", Origin="https://docs.example")
    given = cookie_of(answer)
    assert (given["secure"], given["name"], given["path"]) == ("True", "__Host-fencepost", "/")
    assert with_cookie(scene, answer, "GET", "/v1/documents").status_code == 200


@pytest.mark.parametrize(
    "wanted",
    ["//evil.example", "/\\evil.example", "https://evil.example", "evil", "", "javascript:alert(1)",
     "/x\r\nSet-Cookie: a=b", "/ x", "\\\\evil.example", "/\t/evil.example"],
)  # fmt: skip
def test_nobody_is_led_elsewhere_after_the_login(scene: Scene, wanted: str) -> None:
    answer = log_in(scene, scene.key(), wanted=wanted)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert len(answer.headers.get_list("set-cookie")) == 1


def test_a_wrong_key_is_told_and_gives_no_cookie(scene: Scene) -> None:
    revoked = scene.key()
    scene.ask(scene.key(), "DELETE", f"/v1/keys/{keys.prefix_of(revoked)}")
    for token in ("", "x", revoked, f"fp_{'0' * 8}_{'0' * 64}", "<script>"):
        answer = log_in(scene, token)
        assert answer.status_code == 401
        assert "not known here" in answer.text
        assert "set-cookie" not in answer.headers
        assert not token or f">{token}<" not in answer.text
        assert "<script>" not in answer.text


def test_a_login_from_another_site_is_refused(scene: Scene) -> None:
    for foreign in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert log_in(scene, scene.key(), **foreign).status_code == 403


def test_the_form_takes_no_more_than_a_form(scene: Scene) -> None:
    answer = scene.client.post("/login", content=b"key=" + b"x" * 1_000_000)
    assert answer.status_code == 413


def test_logging_out_ends_the_session_here_and_in_the_browser(scene: Scene) -> None:
    answer = log_in(scene, scene.key())
    out = with_cookie(scene, answer, "POST", "/logout")
    assert (out.status_code, out.headers["location"]) == (303, "/login")
    assert all("Max-Age=0" in header for header in out.headers.get_list("set-cookie"))
    assert with_cookie(scene, answer, "GET", "/jobs").status_code == 401


def test_logging_out_ends_both_sessions_of_a_browser_that_came_both_ways(scene: Scene) -> None:
    token = scene.key()
    plain = log_in(scene, token)
    secure = log_in(scene, token, Host="docs.example", Origin="https://docs.example")
    both = "; ".join(f"{cookie_of(one)['name']}={cookie_of(one)['value']}" for one in (plain, secure))
    assert scene.ask(None, "POST", "/logout", headers={"Cookie": both}).status_code == 303
    assert [with_cookie(scene, one, "GET", "/jobs").status_code for one in (plain, secure)] == [401, 401]


def test_a_revoked_key_ends_its_sessions_at_once(scene: Scene) -> None:
    token = scene.key()
    answer = log_in(scene, token)
    assert with_cookie(scene, answer, "GET", "/jobs").status_code == 200
    scene.ask(scene.key(), "DELETE", f"/v1/keys/{keys.prefix_of(token)}")
    assert with_cookie(scene, answer, "GET", "/jobs").status_code == 401
    assert with_cookie(scene, answer, "GET", "/v1/jobs").status_code == 401


def test_a_session_ends_with_its_hours(database: Database) -> None:
    with shelves.staged(database, session_hours=2) as scene:
        answer = log_in(scene, scene.key())
        assert cookie_of(answer)["max_age"] == "7200"
        assert with_cookie(scene, answer, "GET", "/jobs").status_code == 200
        scene.world.execute("UPDATE sessions SET expires_at = expires_at - interval '2 hours'")
        assert with_cookie(scene, answer, "GET", "/jobs").status_code == 401


@pytest.mark.parametrize(
    ("scope", "limited", "shown"),
    [
        (Scope.READ, True, {"Documents", "Search", "Jobs"}),
        (Scope.ADMIN, True, {"Documents", "Search", "Jobs", "Quarantine", "Outbox"}),
        (Scope.ADMIN, False, {"Overview", "Documents", "Search", "Quarantine", "Outbox", "Jobs", "Workers"}),
    ],
)
def test_the_pages_offer_what_the_key_may(scene: Scene, scope: Scope, limited: bool, shown: set[str]) -> None:  # noqa: FBT001 - a parameter of the test
    shelf = scene.shelf()
    answer = log_in(scene, scene.key(scope, *([shelf.name] if limited else [])))
    page = with_cookie(scene, answer, "GET", "/documents").text
    names = ("Overview", "Documents", "Search", "Quarantine", "Outbox", "Jobs", "Workers")
    assert {name for name in names if f">{name}</a></li>" in page} == shown
    assert ("Drop files" in page) is (scope is not Scope.READ)
    document = with_cookie(scene, answer, "GET", f"/documents/{shelf.published.document_id}").text
    assert ("Reindex" in document) is (scope is not Scope.READ)
    start = with_cookie(scene, answer, "GET", "/")
    assert (start.status_code, start.headers.get("location")) == ((303, "/documents") if limited else (200, None))
