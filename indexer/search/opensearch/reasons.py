"""Why the engine refuses, as sentences for operators. They never hold a password, nor the text of a document."""

import re
from typing import Any

from opensearchpy.exceptions import (
    ConnectionError,  # noqa: A004 - the client's own, which its errors of the network come under
    ConnectionTimeout,
    OpenSearchException,
    SSLError,
    TransportError,
)
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

WATERMARK = re.compile("disk|flood.stage|watermark", re.IGNORECASE)
NO_WRITE_INDEX = "no write index"

_OF_A_KIND = {
    "strict_dynamic_mapping_exception": "The index lacks a field that is written now; run `fencepost index rebuild`.",
    "index_closed_exception": "The index is closed; open it again in OpenSearch.",
    "circuit_breaking_exception": "OpenSearch is short of memory ({kind}).",
}
_OF_A_STATUS = {
    401: "OpenSearch does not know the user or the password; check FENCEPOST_OPENSEARCH_URL.",
    403: "OpenSearch does not allow this user to do that ({kind}); give it the rights that it needs.",
    429: "OpenSearch is overloaded ({kind}).",
}
_BLOCK = re.compile(r"blocked by: \[(.+?)\]", re.DOTALL)
_ROOM = re.compile(r"(?:\b(?:node_)?max_coordinating_and_primary_bytes=|larger than the limit of \[)([0-9]{1,18})")
_INDEX = re.compile(r"(?:no such index|index) \[([^\[\]]+)\]")


def reason_of(error: OpenSearchException) -> str:
    """What went wrong with a whole call."""
    match error:
        case SSLError():
            return f"The certificate of OpenSearch is not trusted, or TLS fails: {_first_line(error.info)}."
        case ConnectionTimeout():
            return "OpenSearch did not answer in time."
        case ConnectionError():
            return "OpenSearch cannot be reached." if is_unreached(error) else "The connection to OpenSearch broke."
        case TransportError():
            kind, reason = failure_of(error)
            return reason_for(int(error.status_code), kind, reason)
        case _:
            return "What answers at FENCEPOST_OPENSEARCH_URL does not speak like OpenSearch."


def reason_for(status: int, kind: str, reason: str) -> str:
    """What an answer means, of a call or of one item: its status, and the type and the reason of its error."""
    if kind == "cluster_block_exception":
        return _blocked(reason)
    if kind == "index_not_found_exception":
        return f"{_named(reason)} is not in OpenSearch any more; `fencepost index rebuild` makes a new one."
    if NO_WRITE_INDEX in reason:
        return "A write alias leads to no index that may be written; run `fencepost index rebuild`."
    known = _OF_A_KIND.get(kind) or _OF_A_STATUS.get(status) or "OpenSearch answered {status} ({kind})."
    return known.format(status=status, kind=_safe(kind) or "no details")


def room_in(reason: str) -> int | None:
    """The bytes for which the engine has room when it does nothing else, if it refuses for want of room and says so."""
    found = _ROOM.search(reason)
    return int(found[1]) if found else None


def is_unreached(error: OpenSearchException) -> bool:
    """Whether no connection came about, so that the engine never saw the request."""
    return isinstance(error, ConnectionError) and isinstance(error.info, NewConnectionError | ConnectTimeoutError)


def failure_of(error: TransportError) -> tuple[str, str]:
    """The type and the reason of the error of a whole call, if it says."""
    info = error.info if isinstance(error.info, dict) else {}
    return failure_in(info.get("error"))


def failure_in(error: Any) -> tuple[str, str]:  # noqa: ANN401 - JSON from outside
    """The type and the reason in the JSON of an error."""
    if not isinstance(error, dict):
        return "", ""
    return str(error.get("type") or ""), str(error.get("reason") or "")


def _blocked(reason: str) -> str:
    if WATERMARK.search(reason):
        return "The index is read-only (disk); free space on the nodes of OpenSearch."
    found = _BLOCK.search(reason)
    block = found[1] if found else "cluster block"
    return f"The index is read-only ({block[:200]})."


def _named(reason: str) -> str:
    found = _INDEX.search(reason)
    return f"The index {found[1].removesuffix('-write')}" if found else "An index"


def _safe(kind: str) -> str:
    """The type of an error, which is one word; anything else may be a page of a proxy."""
    return kind if re.fullmatch("[a-z0-9_.]{1,80}", kind) else ""


def _first_line(error: object) -> str:
    return str(error).partition("\n")[0][:300]
