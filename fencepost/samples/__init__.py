"""The sample documents: a small harbour museum in five formats and three languages."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
_SUFFIXES = frozenset({".txt", ".md", ".html", ".pdf", ".docx"})


@dataclass(frozen=True, slots=True)
class Question:
    """A search that must find a sample, on this page if its format has pages."""

    file: str
    query: str
    language: str
    page: int | None = None


def files() -> list[Path]:
    """The sample documents, by name."""
    return sorted(path for path in FOLDER.iterdir() if path.suffix in _SUFFIXES)


def questions() -> list[Question]:
    """What a search must find among them."""
    with (FOLDER / "expected.toml").open("rb") as file:
        return [Question(**entry) for entry in tomllib.load(file)["search"]]
