"""A form is the same form however its bytes arrive, and no bytes crash its reader."""

from contextlib import suppress
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ingest.multipart import Form
from ingest.spool import Spool
from pipeline.errors import Refusal
from pipeline.settings import Upload
from tests.support.forms import BOUNDARY, FORM_HEADERS, form

CONTENT = st.binary(max_size=200) | st.lists(
    st.sampled_from([b"\r\n", b"--", BOUNDARY.encode(), f"\r\n--{BOUNDARY}".encode()[:-1], b"x"]), max_size=9
).map(b"".join)


def read(body: bytes, cuts: list[int]) -> tuple[dict[str, str], bytes]:
    """The fields and the file of a form that arrives in pieces."""
    with Spool(Upload()) as spool:
        reader = Form(FORM_HEADERS["Content-Type"], spool)
        places = [0, *sorted(cut % (len(body) + 1) for cut in cuts), len(body)]
        for begin, end in pairwise(places):
            reader.write(body[begin:end])
        reader.end()
        spool.file.seek(0)
        return reader.fields, spool.file.read()


@given(content=CONTENT, cuts=st.lists(st.integers(0, 2000), max_size=8))
def test_a_form_may_be_cut_anywhere(content: bytes, cuts: list[int]) -> None:
    if f"\r\n--{BOUNDARY}".encode() in b"\r\n" + content:
        return  # such a file is cut short by its own sender
    body = form(("title", None, "Tïtle".encode()), ("file", "日本.txt", content), ("key", None, b"k"))
    fields, file = read(body, cuts)
    assert fields == {"title": "Tïtle", "filename": "日本.txt", "key": "k"}
    assert file == content


@given(body=st.binary(max_size=500), start=st.booleans())
def test_any_bytes_are_a_form_or_refused(body: bytes, start: bool) -> None:  # noqa: FBT001 - drawn by Hypothesis
    with suppress(Refusal):
        read((f"--{BOUNDARY}\r\n".encode() if start else b"") + body, [7])
