"""Keys in the database: what is stored of them, and what makes one useless."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from pipeline import keys, sessions
from pipeline.caller import Caller, Scope
from pipeline.errors import Forbidden, Invalid, NotFound
from pipeline.settings import TOKEN
from tests.support.rows import OperatedWorld
from tests.support.servers import Database


@pytest.fixture
def world(database: Database) -> OperatedWorld:
    return OperatedWorld(database.engine)


def made(world: OperatedWorld, scope: Scope = Scope.READ, *collections: str, days: float | None = None) -> str:
    with world.engine.begin() as connection:
        return keys.create(connection, "ada", scope, collections or None, days=days)[0]


def found(world: OperatedWorld, token: str) -> Caller | None:
    with world.engine.begin() as connection:
        return keys.find(connection, token)


def begun(world: OperatedWorld, token: str, hours: float = 1) -> str | None:
    with world.engine.begin() as connection:
        return sessions.begin(connection, token, hours=hours)


def seen(world: OperatedWorld, secret: str) -> Caller | None:
    with world.engine.begin() as connection:
        return sessions.find(connection, secret)


def test_a_key_is_found_by_its_token_with_scope_and_collections(world: OperatedWorld) -> None:
    token = made(world, Scope.WRITE, "papers", "default")

    caller = found(world, token)

    ids = {row["name"]: row["collection_id"] for row in world.rows("SELECT * FROM collections")}
    assert caller == Caller(Scope.WRITE, ids, keys.prefix_of(token), "ada")
    assert caller.visible == sorted(ids.values())


def test_no_secret_is_in_the_database(world: OperatedWorld) -> None:
    token = made(world)
    secret = begun(world, token)
    assert secret is not None
    tables = [row["name"] for row in world.rows("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'")]
    dump = "".join(str(world.rows(f"SELECT t::text AS row FROM {table} t")) for table in tables)

    assert token not in dump
    assert token.rpartition("_")[2] not in dump
    assert secret not in dump
    assert (keys.prefix_of(token) or "?") in dump, "the dump is one"
    assert keys.hashed(token).hex() in dump
    assert keys.hashed(secret).hex() in dump


def test_tokens_are_long_random_and_recognised(world: OperatedWorld) -> None:
    tokens = {made(world) for _ in range(5)}
    assert len(tokens) == 5
    assert all(TOKEN.fullmatch(token) and len(token.rpartition("_")[2]) * 4 == 256 for token in tokens)


@pytest.mark.parametrize("wrong", ["", "x", "fp_", "fp_00000000_" + "0" * 64, "FP_", "fp_é", "\0", "fp_" + "0" * 5000])
def test_what_is_no_key_finds_nobody(world: OperatedWorld, wrong: str) -> None:
    token = made(world)
    assert found(world, wrong) is None
    for near in (token[:-1], token + "0", token.upper(), " " + token, token[:12] + "0" * 64):
        assert found(world, near) is None
    assert found(world, token) is not None


def test_revoked_and_expired_keys_find_nobody_and_end_their_sessions(world: OperatedWorld) -> None:
    for ending in ("revoked_at = now()", "expires_at = now()"):
        token, other = made(world, days=1), made(world)
        secret, other_secret = begun(world, token), begun(world, other)
        assert secret is not None
        assert other_secret is not None
        assert seen(world, secret) == found(world, token) != None  # noqa: E711 - somebody, and the same

        world.execute(f"UPDATE api_keys SET {ending} WHERE prefix = :p", p=keys.prefix_of(token))

        assert found(world, token) is None
        assert seen(world, secret) is None
        assert begun(world, token) is None
        assert seen(world, other_secret) is not None


def test_a_session_ends_with_its_time_or_by_itself(world: OperatedWorld) -> None:
    token = made(world)
    first, second = begun(world, token), begun(world, token)
    assert first is not None
    assert second is not None
    world.age("sessions", "expires_at", timedelta(hours=2), f"hash = '\\x{keys.hashed(first).hex()}'")
    assert (seen(world, first), seen(world, second) is None) == (None, False)

    assert begun(world, token)
    assert len(world.rows("SELECT FROM sessions")) == 2, "what has expired is removed by the next one"
    with world.engine.begin() as connection:
        sessions.end(connection, second)
    assert seen(world, second) is None


def test_the_last_use_is_noted_at_most_once_a_minute(world: OperatedWorld) -> None:
    token = made(world)
    assert world.row("SELECT last_used_at FROM api_keys")["last_used_at"] is None
    found(world, token)
    noted = world.row("SELECT last_used_at, xmin::text AS version FROM api_keys")
    assert noted["last_used_at"] is not None

    for _ in range(3):
        found(world, token)
    assert world.row("SELECT xmin::text AS version FROM api_keys")["version"] == noted["version"], "no write"

    world.age("api_keys", "last_used_at", timedelta(seconds=61))
    found(world, token)
    assert world.row("SELECT last_used_at FROM api_keys")["last_used_at"] > noted["last_used_at"]


def test_nobody_waits_for_somebody_else_s_note(world: OperatedWorld) -> None:
    token = made(world)
    with world.engine.begin() as other:
        other.execute(text("SELECT FROM api_keys FOR NO KEY UPDATE"))
        with world.engine.begin() as connection:
            connection.execute(text("SET LOCAL lock_timeout = '1s'"))
            assert keys.find(connection, token) is not None


def test_a_collection_is_kept_by_id_so_that_a_name_takes_no_rights_along(world: OperatedWorld) -> None:
    token = made(world, Scope.READ, "papers")
    world.execute("UPDATE collections SET name = 'archive' WHERE name = 'papers'")
    world.execute("INSERT INTO collections (name) VALUES ('papers')")

    caller = found(world, token)

    assert caller is not None
    assert set(caller.collections or ()) == {"archive"}


def test_a_key_whose_collections_are_all_gone_sees_nothing_rather_than_everything(world: OperatedWorld) -> None:
    token = made(world, Scope.READ, "papers")
    world.execute("DELETE FROM collections WHERE name = 'papers'")

    caller = found(world, token)

    assert caller is not None
    assert (caller.visible, caller.among(None)) == ([], frozenset())


def test_the_list_tells_everything_but_the_secret(world: OperatedWorld) -> None:
    old, new = made(world, Scope.ADMIN, days=1), made(world, Scope.READ, "b", "a")
    world.execute("UPDATE api_keys SET expires_at = now() WHERE prefix = :prefix", prefix=keys.prefix_of(old))
    with world.engine.begin() as connection:
        listed = keys.listing(connection)
    assert [(key.prefix, key.scope, key.collections, key.state) for key in listed] == [
        (keys.prefix_of(new), "read", ["a", "b"], "usable"),
        (keys.prefix_of(old), "admin", None, "expired"),
    ]
    assert keys.hashed(new).hex() not in repr(listed)


@pytest.mark.parametrize("by", ["prefix", "fp_prefix", "id", "token"])
def test_a_key_is_revoked_by_any_of_its_names(world: OperatedWorld, by: str) -> None:
    made(world)
    token = made(world)
    prefix = keys.prefix_of(token) or ""
    name = {"prefix": prefix, "fp_prefix": f"fp_{prefix}", "id": "2", "token": token}[by]
    with world.engine.begin() as connection:
        first = keys.revoke(connection, name)
    with world.engine.begin() as connection:
        assert keys.revoke(connection, name) == first, "again changes nothing"
    assert (first.prefix, first.state) == (prefix, "revoked")
    assert len(world.rows("SELECT FROM api_keys WHERE revoked_at IS NULL")) == 1


@pytest.mark.parametrize("name", ["", "ffffffff", "99", "%", "fp_00000000_secretsecret", "\0"])
def test_nobody_else_is_revoked_and_no_text_repeats_what_might_be_a_secret(world: OperatedWorld, name: str) -> None:
    made(world)
    with world.engine.begin() as connection, pytest.raises(NotFound) as refusal:
        keys.revoke(connection, name)
    assert "secretsecret" not in str(refusal.value)
    assert len(world.rows("SELECT FROM api_keys WHERE revoked_at IS NULL")) == 1


@pytest.mark.parametrize(
    ("name", "collections", "days", "field"),
    [
        ("", None, None, "name"),
        (" \0", None, None, "name"),
        ("x" * 201, None, None, "name"),
        ("x", [], None, "collections"),
        ("x", [f"c{n}" for n in range(101)], None, "collections"),
        ("x", ["no/slash"], None, "collection"),
        ("x", None, 0, "days"),
        ("x", None, -1, "days"),
        ("x", None, 1e9, "days"),
        ("x", None, float("nan"), "days"),
    ],
)
def test_what_cannot_be_a_key_is_said(
    world: OperatedWorld, name: str, collections: list[str] | None, days: float | None, field: str
) -> None:
    with world.engine.begin() as connection, pytest.raises(Invalid, match=f"^{field} "):
        keys.create(connection, name, Scope.READ, collections, days=days)
    assert not world.rows("SELECT FROM api_keys")


def test_scopes_include_those_before_them() -> None:
    for scope, may in ((Scope.READ, 1), (Scope.WRITE, 2), (Scope.ADMIN, 3)):
        caller = Caller(scope, key="0a1b2c3d")
        assert [caller.may(needed) for needed in Scope] == [n < may for n in range(3)]
    with pytest.raises(Forbidden, match="This needs the scope write; the key 0a1b2c3d has read"):
        Caller(Scope.READ, key="0a1b2c3d").must(Scope.WRITE)
    with pytest.raises(Forbidden, match="only for a, b"):
        Caller(Scope.ADMIN, {"b": 2, "a": 1}, key="0a1b2c3d").must(Scope.ADMIN, everywhere=True)
