"""How the log of a process looks: one line an event, as text for people or as JSON for machines."""

import logging
import re
import sys
from collections.abc import MutableMapping

import structlog

from pipeline import events

PASSWORD = re.compile(r"(?P<before>\w+://[^:/@\s]*:)[^@\s]+(?=@)")
TOKEN = re.compile(r"(?P<before>fp_[0-9a-f]{8}_)[0-9a-f]{8,}")


def configure(*, level: str, as_json: bool) -> None:
    """Sends events and the warnings of libraries to standard error. Called once by each composition root."""
    number = logging.getLevelNamesMapping()[level.upper()]
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _hide_secrets,
    ]
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer(colors=False, pad_event_to=20)
    )
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(
        stream=sys.stderr, level=max(number, logging.WARNING), format="%(levelname)s %(name)s %(message)s"
    )
    logging.getLogger("dramatiq").setLevel(logging.CRITICAL + 1)  # our own events say it, once and without tracebacks
    events.subscribe(events.log)


def hide_secrets(text: str) -> str:
    """The text with the password of every address, and the secret of every API key, replaced."""
    return TOKEN.sub(r"\g<before>***", PASSWORD.sub(r"\g<before>***", text))


def _hide_secrets(_logger: object, _method: str, event: MutableMapping[str, object]) -> MutableMapping[str, object]:
    for name, value in event.items():
        if isinstance(value, str):
            event[name] = hide_secrets(value)
    return event
