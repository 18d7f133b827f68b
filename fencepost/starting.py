"""How every process of ours starts: its log, the fault that a test has armed, and its connections to PostgreSQL."""

from sqlalchemy import Engine

from pipeline import faults, logs
from pipeline.database import connect
from pipeline.settings import Settings, fault


def prepare(settings: Settings) -> None:
    """Sets up the log, and arms the fault that the environment names."""
    logs.configure(level=settings.log_level, as_json=settings.log_json)
    if armed := fault():
        faults.arm(*armed)


def engine_for(settings: Settings, name: str, *, size: int) -> Engine:
    """An engine whose connections say which of us they belong to."""
    url = settings.database_url.get_secret_value()
    return connect(url, application=f"fencepost {name}", size=size, pooled=settings.is_pooled)
