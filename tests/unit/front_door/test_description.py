"""Whatever is said about a document becomes storable text, or is refused by name."""

import orjson
from hypothesis import given
from hypothesis import strategies as st

from ingest.description import FIELDS, describe, titled
from ingest.download import disposition
from pipeline.errors import Refusal

LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text(max_size=9)
JSON = LEAVES | st.lists(LEAVES, max_size=3) | st.dictionaries(st.text(max_size=9), LEAVES, max_size=3)


@given(st.dictionaries(st.sampled_from(FIELDS), st.none() | st.text(max_size=40) | JSON))
def test_anything_is_described_or_refused(fields: dict[str, object]) -> None:
    try:
        described = titled(describe(fields))
    except Refusal:
        return
    for text in (described.key, described.title, described.filename, described.media_type):
        assert text is None or "\0" not in text
        assert text is None or isinstance(text.encode(), bytes)
    assert b"\\u0000" not in orjson.dumps(described.metadata)
    assert described.filename is None or "/" not in described.filename
    assert described.title is not None or described.filename is None


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_file_name_is_one_safe_header(filename: str) -> None:
    header = disposition(filename)
    assert header.isascii()
    assert header.isprintable()
    assert header.count('"') == 2
