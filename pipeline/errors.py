"""The errors of Fencepost; the class decides what becomes of an attempt.

FencepostError
├── SettingsError            a setting is wrong: said in one sentence, exit code 2
│   └── NameTaken            somebody else has the name of a search index
├── Refusal                  a request cannot be granted: carries an HTTP status and a stable code
│   ├── Unauthorized         401 key_required, key_not_valid
│   ├── Forbidden            403 scope_too_small, needs_all_collections, collection_not_allowed
│   ├── NotFound             404
│   ├── Conflict             409 (newer_version_exists, in_progress, …)
│   ├── PreconditionFailed   412 version_mismatch
│   ├── TooLarge             413
│   └── Invalid              422
├── Permanent                the document can never be processed as it is: quarantined at once, never retried
└── Transient                worth another try within the job's budgets
    ├── BrokerUnavailable    the broker is away or full: no budget is spent
    └── IndexUnavailable     the search engine is away, overloaded or read-only: no budget is spent
"""


class FencepostError(Exception):
    """The root of all errors that Fencepost raises on purpose."""


class SettingsError(FencepostError):
    """A setting is missing or wrong; the message names the variable."""


class NameTaken(SettingsError):
    """A search index or alias of that name belongs to somebody else; the message says what to do."""


class Refusal(FencepostError):
    """A request that cannot be granted, with the stable code that clients may rely on."""

    status = 400

    def __init__(self, code: str, detail: str, **extra: object) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.extra = extra


class Unauthorized(Refusal):
    """Nobody knows who asks."""

    status = 401


class Forbidden(Refusal):
    """The caller is known, and may not do this."""

    status = 403


class NotFound(Refusal):
    """There is no such thing, or it is not the caller's."""

    status = 404


def no_document(document_id: object) -> NotFound:
    """The refusal of a document that is not there."""
    return NotFound("document_not_found", f"There is no document {document_id}.")


class Conflict(Refusal):
    """The request contradicts the present state."""

    status = 409


class PreconditionFailed(Refusal):
    """The version that the caller expected is not the newest one."""

    status = 412


class TooLarge(Refusal):
    """The upload is over the size limit, which the detail names."""

    status = 413


class Invalid(Refusal):
    """The request is well-formed but asks for something that cannot be."""

    status = 422


def invalid(field: str, what: str) -> Invalid:
    """The refusal of one field."""
    return Invalid("invalid", f"{field} {what}.", errors=[{"field": field, "message": what}])


class Permanent(FencepostError):
    """A document that can never be processed as it is.

    `code` is one of `pipeline.outcomes.FAILURES`, `message` a sentence about this document.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Transient(FencepostError):
    """Something that may go better next time."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class BrokerUnavailable(Transient):
    """The broker cannot be reached or takes no more messages."""

    def __init__(self, message: str) -> None:
        super().__init__("broker_unavailable", message)


class IndexUnavailable(Transient):
    """The search engine cannot be reached, takes no writes, or misses an index."""

    def __init__(self, message: str) -> None:
        super().__init__("index_unavailable", message)
