"""The languages of documents: what is known of one, and which there are, since in these a query's words are stemmed."""

import re
from collections.abc import Iterable, Mapping
from threading import Lock

from sqlalchemy import Engine, text
from sqlalchemy.engine import Connection

from indexer.search.stems import DEFAULT, has_stemmer

_CODE = re.compile(r"([a-z]{2,3})(?:[-_].*)?", re.DOTALL)
_PRESENT = text("SELECT language FROM search_languages ORDER BY first_at, language")
_NOTE = text("""
    INSERT INTO search_languages (language) SELECT unnest(CAST(:languages AS text[])) ON CONFLICT DO NOTHING
""")


def chosen(metadata: Mapping[str, object], detected: str | None) -> str | None:
    """The language of a document: what its metadata says (`de`, `de-AT`), else what was detected."""
    said = metadata.get("language")
    code = _CODE.fullmatch(said.strip().lower()) if isinstance(said, str) else None
    return code[1] if code is not None else detected


def present(connection: Connection) -> tuple[str, ...]:
    """The languages in which words of the index may be stemmed, the default one first."""
    return (DEFAULT, *connection.scalars(_PRESENT))


class Languages:
    """Notes the languages of documents before they are published. Thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._noted = {DEFAULT}
        self._lock = Lock()

    def note(self, languages: Iterable[str | None]) -> None:
        """Sees to it that searches ask in these languages. Nearly always all of them are noted already."""
        with self._lock:
            new = sorted({code for code in languages if code is not None and has_stemmer(code)} - self._noted)
        if not new:
            return
        with self._engine.begin() as connection:
            connection.execute(_NOTE, {"languages": new})
        with self._lock:
            self._noted.update(new)
