"""A client of the HTTP API: one method a thing that people do, and two errors.

FencepostError
├── Unreachable      nobody answers at this address, or not in time
└── Answered         the server answered with a problem: `status`, `code` and a sentence
"""

import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import UUID

import httpx
from pydantic import SecretStr

from pipeline.errors import FencepostError
from pipeline.states import SETTLED

PAGE = 500
CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 90.0


SAYINGS = {
    "key_required": "This server needs a key: set FENCEPOST_KEY to one that `fencepost keys create` has printed.",
    "key_not_valid": "The key in FENCEPOST_KEY is not known to this server, was revoked, or has expired.",
}
"""What a user of this client can do about a problem that the server tells in the words of HTTP."""


class Unreachable(FencepostError):
    """No server answers; the message says where it was looked for."""


class Answered(FencepostError):
    """The server answered with a problem."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code


LOOK_SECONDS = 0.1
_never = threading.Event()


class Client:
    """Talks with one server, with a key if one is given; a context manager, safe to share among threads."""

    def __init__(self, url: str, key: SecretStr | None = None) -> None:
        self.url = url.rstrip("/")
        self._http = httpx.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {key.get_secret_value()}"} if key else {},
            timeout=httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
            trust_env=False,
            follow_redirects=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def get(self, path: str, **query: Any) -> Any:  # noqa: ANN401 - any JSON
        """The JSON at a path; a query value of None is left out."""
        return self.ask("GET", path, query=query)

    def post(self, path: str, body: object = None, **query: Any) -> Any:  # noqa: ANN401 - any JSON
        """Posts JSON and returns JSON; waits as long as it takes."""
        return self.ask("POST", path, body=body, query=query, timeout=httpx.Timeout(None, connect=CONNECT_SECONDS))

    def delete(self, path: str) -> Any:  # noqa: ANN401 - any JSON
        """Deletes what is at a path."""
        return self.ask("DELETE", path)

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: object = None,
        timeout: httpx.Timeout | None = None,
    ) -> Any:  # noqa: ANN401 - any JSON
        """One request; raises Unreachable or Answered."""
        options: dict[str, Any] = {"timeout": timeout} if timeout is not None else {}
        if body is not None:
            options["json"] = body
        wanted = {name: value for name, value in (query or {}).items() if value is not None}
        return self._request(method, path, params=wanted, **options)

    def upload(self, path: Path, *, names: Mapping[str, str]) -> dict[str, Any]:
        """Uploads one file, streaming it; `names` are the query parameters. Raises OSError if it cannot be read."""
        with path.open("rb") as file:
            headers = {"Content-Length": str(os.fstat(file.fileno()).st_size)}
            answer: dict[str, Any] = self._request(
                "POST", "/v1/documents", params=dict(names), content=file, headers=headers
            )
        return answer

    def items(self, path: str, *, limit: int | None = None, **query: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401
        """The items of a list, page after page, at most `limit`."""
        cursor = None
        while True:
            page = self.get(path, limit=min(limit or PAGE, PAGE), cursor=cursor, **query)
            yield from page["items"][:limit]
            cursor = page["next"]
            if limit is not None:
                limit -= len(page["items"])
            if cursor is None or (limit is not None and limit <= 0):
                return

    def document(self, name: str, *, collection: str | None = None) -> dict[str, Any]:
        """The document with this id, or else with this key; raises Answered 404 or 409 (`ambiguous`)."""
        if (document_id := as_uuid(name)) is not None:
            found: dict[str, Any] = self.get(f"/v1/documents/{document_id}")
            return found
        matches = list(self.items("/v1/documents", key=name, collection=collection, limit=2))
        if not matches:
            raise Answered(404, "document_not_found", f"There is no document {name}.")
        if len(matches) > 1:
            raise Answered(409, "ambiguous", f"Several collections have a document {name}; say which one.")
        return matches[0]

    def settled(self, document_id: str, version: int) -> dict[str, Any]:
        """The document once this version, or a newer one, is final or needs a person; waits as long as it takes."""
        while True:
            document: dict[str, Any] = self.get(f"/v1/documents/{document_id}")
            if document["input_version"] > version or document["state"] in SETTLED:
                return document
            _never.wait(LOOK_SECONDS)

    def _request(self, method: str, path: str, **options: Any) -> Any:  # noqa: ANN401 - httpx's own options
        try:
            response = self._http.request(method, path, **options)
        except httpx.TransportError as error:
            reason = f": {error}" if str(error) else ""
            raise Unreachable(f"No server answers at {self.url}{reason}. Start one with `fencepost up`.") from None
        if response.is_success:
            return response.json()
        raise _problem(response)


def _problem(response: httpx.Response) -> Answered:
    try:
        problem = response.json()
        detail = SAYINGS.get(problem["code"], problem["detail"])
        return Answered(response.status_code, problem["code"], detail)
    except (ValueError, KeyError, TypeError):
        return Answered(response.status_code, "unknown", f"The server answered {response.status_code}.")


def as_uuid(name: str) -> UUID | None:
    """The id that a name is, None if it is none."""
    try:
        return UUID(name)
    except ValueError:
        return None
