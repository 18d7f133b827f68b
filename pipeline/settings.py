"""Every setting of Fencepost: one frozen tree, read once per process, and the only module that reads the environment.

A variable is named after its place in the tree: `lease.seconds` is FENCEPOST_LEASE__SECONDS. Durations are seconds and
sizes are bytes, as the names say. docs/settings.md lists them all; a test keeps it complete.
"""

import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from pipeline.errors import SettingsError

PREFIX = "FENCEPOST_"
MIB = 1024 * 1024
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
TOKEN = re.compile("fp_(?P<prefix>[0-9a-f]{8})_[0-9a-f]{64}")
"""What the token of an API key looks like."""


class _Group(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Budget(_Group):
    """What a job may use up before a person must look at it."""

    attempts: int = Field(8, ge=1)
    elapsed_seconds: float = Field(6 * 3600, gt=0)
    attempt_seconds: float = Field(600, gt=0)
    backoff_first_seconds: float = Field(5, gt=0)
    backoff_most_seconds: float = Field(600, gt=0)
    backoff_jitter: float = Field(0.5, ge=0, le=1)
    publications: int = Field(10, ge=1)


class Lease(_Group):
    """How long a worker may be silent."""

    beat_seconds: float = Field(10, gt=0)
    seconds: float = Field(30, gt=0, validate_default=True)

    @field_validator("seconds")
    @classmethod
    def _three_beats(cls, seconds: float, info: ValidationInfo) -> float:
        beat = info.data.get("beat_seconds", 0)
        if seconds < 3 * beat:
            msg = f"a lease of {seconds:g} s is shorter than three beats of {beat:g} s"
            raise ValueError(msg)
        return seconds


class Relay(_Group):
    """How outbox rows travel to the broker."""

    claim_seconds: float = Field(10, gt=0)
    batch_jobs: int = Field(128, ge=1, le=1000)
    batch_bytes: int = Field(4 * MIB, ge=1)
    window_jobs: int = Field(256, ge=1)
    poll_seconds: float = Field(1, gt=0, le=1)


class Sweep(_Group):
    """How often the sweeper passes, and when it sends a lost delivery again."""

    every_seconds: float = Field(1, gt=0)
    resend_first_seconds: float = Field(30, gt=0)
    resend_most_seconds: float = Field(600, gt=0)


class Retention(_Group):
    """How long rows are kept that nothing needs any more, and how many search indexes that were replaced."""

    succeeded_days: float = Field(7, gt=0)
    superseded_days: float = Field(7, gt=0)
    resolved_days: float = Field(90, gt=0)
    tombstone_days: float = Field(30, gt=0)
    idempotency_hours: float = Field(24, gt=0)
    retired_indexes: int = Field(1, ge=0)


def _partition_ranges(text: str) -> str:
    parse_partitions(text, most=10_000)
    return text


class Worker(_Group):
    """One worker process."""

    threads: int = Field(3, ge=1, le=64)
    stop_grace_seconds: float = Field(8, gt=0)
    partitions: Annotated[str, AfterValidator(_partition_ranges)] = "all"


class Refill(_Group):
    """How much of an index that is built one worker writes at once."""

    threads: int = Field(3, ge=1, le=16)
    batch_documents: int = Field(200, ge=1, le=1000)
    batch_bytes: int = Field(MIB, ge=1)


class Extract(_Group):
    """What one extraction may use."""

    processes: int = Field(2, ge=1)
    seconds: float = Field(30, gt=0)
    memory_bytes: int = Field(1024 * MIB, ge=256 * MIB)
    characters: int = Field(20_000_000, ge=1000)
    pages: int = Field(20_000, ge=1)
    member_bytes: int = Field(128 * MIB, ge=1)
    total_bytes: int = Field(256 * MIB, ge=1)
    members: int = Field(10_000, ge=1)
    ratio: int = Field(250, ge=1)
    depth: int = Field(2, ge=0, le=10)
    cells: int = Field(20_000_000, ge=1)
    pixels: int = Field(100_000_000, ge=1)
    ocr_languages: str | None = Field(None, max_length=200)
    ocr_page_seconds: float = Field(20, gt=0)
    ocr_seconds: float = Field(240, gt=0)
    documents_per_process: int = Field(100, ge=1)

    @field_validator("ocr_languages")
    @classmethod
    def _tesseract_s(cls, languages: str | None) -> str | None:
        if languages and not re.fullmatch(r"[A-Za-z0-9_/-]+(\+[A-Za-z0-9_/-]+)*", languages):
            msg = f"{languages!r} does not name languages of Tesseract; write one or several, such as eng+deu"
            raise ValueError(msg)
        return languages

    @property
    def seconds_with_ocr(self) -> float:
        """The most time of one document, pictures included where they are read."""
        return self.seconds + (self.ocr_seconds if self.ocr_languages else 0)


class OpenSearch(_Group):
    """How an OpenSearch cluster is talked to; `opensearch_url` says where it is."""

    prefix: str = Field("fencepost", pattern="^[a-z][a-z0-9-]{0,50}$")
    user: str | None = None
    password: SecretStr = SecretStr("")
    ca_file: Path | None = None
    verify: bool = True
    timeout_seconds: float = Field(30, gt=0)
    bulk_bytes: int = Field(5 * MIB, ge=1024)
    bulk_entries: int = Field(500, ge=1)
    entry_bytes: int = Field(90 * MIB, ge=1024)
    concurrency: int = Field(4, ge=1, le=64)
    shards: int = Field(1, ge=1, le=1024)
    replicas: int = Field(0, ge=0, le=10)


class Upload(_Group):
    """What the front door takes."""

    most_bytes: int = Field(256 * MIB, ge=1)
    spool_folder: Path | None = None


def check_address(address: str, example: str, *schemes: str) -> None:
    """Raises ValueError unless it begins with one of the schemes and can be parsed; never repeats it: passwords."""
    try:
        is_fine = address.startswith(tuple(f"{scheme}://" for scheme in schemes)) and urlsplit(address).port != 0
    except ValueError:
        is_fine = False
    if not is_fine:
        msg = f"write an address such as {example}"
        raise ValueError(msg)


def _secret_address(example: str, *schemes: str) -> AfterValidator:
    def check(value: SecretStr) -> SecretStr:
        if value:
            check_address(value.get_secret_value(), example, *schemes)
        return value

    return AfterValidator(check)


def _secret_addresses(example: str, *schemes: str) -> AfterValidator:
    def check(value: SecretStr) -> SecretStr:
        for address in filter(None, value.get_secret_value().split(",")):
            check_address(address.strip(), example, *schemes)
        return value

    return AfterValidator(check)


def check_web_address(address: str) -> str:
    """The address; raises ValueError unless it is one of HTTP."""
    check_address(address, "http://127.0.0.1:8000", "http", "https")
    return address


def _token(value: SecretStr) -> SecretStr:
    if value and not TOKEN.fullmatch(value.get_secret_value()):
        msg = "write a key as `fencepost keys create` has printed it, fp_ and all"
        raise ValueError(msg)
    return value


Database = Annotated[SecretStr, _secret_address("postgresql://user:password@host/name", "postgresql", "postgres")]
Repository = Annotated[SecretStr, _secret_address("https://repository.example/maven2", "http", "https")]
Engine = Annotated[SecretStr, _secret_addresses("https://user:password@host:9200", "http", "https")]
Broker = Annotated[SecretStr, _secret_address("redis://:password@host:6379/0", "redis", "rediss", "unix")]


class LocalNode(_Group):
    """The OpenSearch node that `fencepost up --search opensearch` runs."""

    heap_bytes: int = Field(512 * MIB, ge=128 * MIB)
    port: int = Field(0, ge=0, le=65535)
    cache_folder: Path | None = None
    repository: Repository = SecretStr("")


class Settings(BaseSettings):
    """The whole tree; see the module's docstring for how a variable is named."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        frozen=True,
        extra="ignore",
        env_ignore_empty=True,
    )

    database_url: Database = SecretStr("")
    database_direct_url: Database = SecretStr("")
    broker_url: Broker = SecretStr("")
    search: Literal["postgres", "opensearch"] | None = None
    opensearch_url: Engine = SecretStr("")
    url: Annotated[str, AfterValidator(check_web_address)] = "http://127.0.0.1:8000"
    key: Annotated[SecretStr, AfterValidator(_token)] = SecretStr("")
    host: str = "127.0.0.1"
    port: int = Field(8000, ge=0, le=65535)
    require_keys: bool = False
    session_hours: float = Field(12, gt=0, le=24 * 365)
    partitions: int = Field(16, ge=1, le=1024)
    quarantine_owner: str = Field("operators", min_length=1)
    log_json: bool = False
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    budget: Budget = Budget()
    lease: Lease = Lease()
    relay: Relay = Relay()
    sweep: Sweep = Sweep()
    retention: Retention = Retention()
    worker: Worker = Worker()
    refill: Refill = Refill()
    extract: Extract = Extract()
    opensearch: OpenSearch = OpenSearch()
    local_opensearch: LocalNode = LocalNode()
    upload: Upload = Upload()

    @property
    def asks_for_keys(self) -> bool:
        """Whether the API answers only those who have a key: always when others than this machine can reach it."""
        return self.require_keys or self.host not in LOOPBACK

    @property
    def direct_url(self) -> str:
        """The address for what needs a session (locks, LISTEN, migrations), past any transaction pooler."""
        return self.database_direct_url.get_secret_value() or self.database_url.get_secret_value()

    @property
    def is_pooled(self) -> bool:
        """Whether `database_url` leads to a transaction pooler: it does when there is another way past it."""
        return self.direct_url != self.database_url.get_secret_value()

    @property
    def search_backend(self) -> Literal["postgres", "opensearch"]:
        """Where documents are searched: as `search` says, else where there is an address."""
        return self.search or ("opensearch" if self.opensearch_url.get_secret_value() else "postgres")

    @property
    def names_search(self) -> bool:
        """Whether anything says where documents are searched; else it is the default."""
        return bool(self.search or self.opensearch_url.get_secret_value())

    def needs(self, *names: str) -> Self:
        """Raises SettingsError unless each of the named settings is set."""
        for name in names:
            value = getattr(self, name)
            if not (value.get_secret_value() if isinstance(value, SecretStr) else value):
                raise SettingsError(f"{PREFIX}{name.upper()} is not set; `fencepost up` sets it for you.")
        return self


def load(**overrides: Any) -> Settings:  # noqa: ANN401 - any setting
    """Reads the environment once. Raises SettingsError: one sentence that names the variable."""
    known = _names(Settings)
    for name in os.environ:  # noqa: TID251 - the one module that may
        if name.startswith(PREFIX) and name.upper() not in known and not name.startswith(f"{PREFIX}FAULT"):
            raise SettingsError(f"{name} is not a setting of Fencepost; docs/settings.md lists them.")
    try:
        settings = Settings(**overrides)
    except ValidationError as error:
        first = error.errors()[0]
        variable = PREFIX + "__".join(str(part) for part in first["loc"]).upper()
        raise SettingsError(f"{variable}: {first['msg'].removeprefix('Value error, ')}.") from None
    try:
        parse_partitions(settings.worker.partitions, settings.partitions)
    except ValueError as error:
        raise SettingsError(f"{PREFIX}WORKER__PARTITIONS: {error}.") from None
    return settings


def environment() -> dict[str, str]:
    """A copy of the environment, for starting another process."""
    return dict(os.environ)  # noqa: TID251 - the one module that may


def fault() -> tuple[str, str] | None:
    """The fault and the token that arm this process (see pipeline.faults), if both are set."""
    values = os.environ.get(f"{PREFIX}FAULT"), os.environ.get(f"{PREFIX}FAULT_TOKEN")  # noqa: TID251 - as above
    return (values[0], values[1]) if values[0] and values[1] else None


def parse_partitions(text: str, most: int) -> list[int]:
    """The partitions that `all`, `3` or `0-7,12` names, each below `most`. Raises ValueError with a sentence."""
    if text == "all":
        return list(range(most))
    chosen: set[int] = set()
    for part in text.split(","):
        written = re.fullmatch("([0-9]{1,6})(?:-([0-9]{1,6}))?", part.strip())
        if written is None:
            msg = f"partitions are written like 0-7,12, not {text!r}"
            raise ValueError(msg)
        chosen.update(range(int(written[1]), int(written[2] or written[1]) + 1))
    if not chosen or max(chosen) >= most:
        msg = f"partitions go from 0 to {most - 1}, not {text!r}"
        raise ValueError(msg)
    return sorted(chosen)


def _names(model: type[BaseModel], prefix: str = PREFIX) -> set[str]:
    names = set()
    for name, field in model.model_fields.items():
        variable = f"{prefix}{name.upper()}"
        if isinstance(field.annotation, type) and issubclass(field.annotation, _Group):
            names |= _names(field.annotation, f"{variable}__")
        else:
            names.add(variable)
    return names
