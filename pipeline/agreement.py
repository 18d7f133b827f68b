"""Whether all read documents with the same settings: each worker writes its own into the register of processes.

Otherwise the text of a document depends on who reads it, and the API tells by its own settings what is outdated.
"""

from collections.abc import Iterator, Mapping

from sqlalchemy import Connection, text

from pipeline.settings import Extract, Settings

_NOT_OF_TEXT = {"processes", "memory_bytes", "documents_per_process"}
_OF_PICTURES = {"ocr_page_seconds", "ocr_seconds"}


def deciding(settings: Extract) -> dict[str, object]:
    """The settings that decide what text comes out of a document."""
    return settings.model_dump(exclude=_NOT_OF_TEXT | (set() if settings.ocr_languages else _OF_PICTURES))


def disagreements(connection: Connection, settings: Settings) -> list[str]:
    """A sentence about each live worker that reads with other settings than these."""
    rows = connection.execute(
        text("""
            SELECT process_id, reads_with FROM processes
            WHERE kind = 'worker' AND ended_at IS NULL AND lost_at IS NULL AND reads_with IS NOT NULL
              AND heartbeat_at > clock_timestamp() - make_interval(secs => :silent_seconds)
            ORDER BY process_id
        """),
        {"silent_seconds": settings.lease.seconds},
    )
    here = deciding(settings.extract)
    return [
        f"Worker {row.process_id} reads documents with other settings than this server: {different}."
        for row in rows
        if (different := ", ".join(_differences(row.reads_with, here)))
    ]


def _differences(there: Mapping[str, object], here: Mapping[str, object]) -> Iterator[str]:
    for name in sorted(there.keys() & here.keys()):
        if there[name] != here[name]:
            yield f"FENCEPOST_EXTRACT__{name.upper()} is {_said(there[name])} there, {_said(here[name])} here"


def _said(value: object) -> str:
    match value:
        case None:
            return "not set"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:g}"
        case _:
            return str(value)
