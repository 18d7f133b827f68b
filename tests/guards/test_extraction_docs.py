"""docs/extraction.md tells of every format, quality and failure, and its example works."""

import re
from pathlib import Path

import pytest

from indexer.extract import KINDS, Request
from pipeline.errors import Permanent
from pipeline.outcomes import FAILURES, TextQuality
from pipeline.settings import Extract
from pipeline.text_facts import TextFacts

OF_PROCESSES = {"FENCEPOST_EXTRACT__PROCESSES", "FENCEPOST_EXTRACT__DOCUMENTS_PER_PROCESS"}
DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "extraction.md").read_text()


def table(first_column: str) -> list[str]:
    """What stands in the first column of the table that begins with this column."""
    (body,) = re.findall(rf"^\| {first_column} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", TEXT, re.MULTILINE)
    return re.findall(r"^\| `(\w+)` \|", body, re.MULTILINE)


def test_every_kind_is_in_the_table_of_formats() -> None:
    rows = table("Kind")
    assert sorted(rows) == sorted(KINDS), "each once, and none that is not read"


def test_every_quality_and_every_failure_is_explained() -> None:
    assert table("Quality") == list(TextQuality)
    assert sorted(table("Code")) == sorted(FAILURES)


def test_every_setting_of_extraction_is_told() -> None:
    names = {f"FENCEPOST_EXTRACT__{name.upper()}" for name in Extract.model_fields}
    assert [name for name in sorted(names - OF_PROCESSES) if name not in TEXT] == []


def test_every_fact_is_named() -> None:
    assert [
        name for name in TextFacts.model_fields if f"`{name}`" not in TEXT and name not in {"quality", "hint"}
    ] == []


def test_the_example_of_a_reader_reads() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    module: dict[str, object] = {}
    exec(compile(code, "srt.py", "exec"), module)  # noqa: S102 - our own example
    read = module["read"]
    assert callable(read)
    film = "1\n00:00:01,000 --> 00:00:02,500\nПривет, Ada.\n\n2\n00:00:03,000 --> 00:00:04,000\nGood night.\n"
    reading = read(film.encode("cp1251"), Request(b"", encoding="cp1251"))
    assert [block.text for block in reading.blocks] == ["Привет, Ada.\nGood night."]
    assert reading.facts["encoding"] == "cp1251"
    with pytest.raises(Permanent):
        read(b"1\nno times\n", Request(b""))
