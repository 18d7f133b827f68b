from collections.abc import Iterator

import pytest

from indexer.extract import KINDS, Extraction, Request, extract
from indexer.extract.members import Members
from indexer.extract.sniff import VERSION, versions_inside
from indexer.extract.types import Block, Limits, Reading
from pipeline.outcomes import TextQuality
from tests.samples._messages import message, multipart, packed, part
from tests.support import documents

PDF = documents.pdf([["First page"], ["Second page"]])


def nested(levels: int) -> bytes:
    content = documents.archive({"note.txt": b"words at level 0"})
    for n in range(1, levels):
        content = documents.archive({"note.txt": f"words at level {n}".encode(), "in.zip": content})
    return content


def read(content: bytes, **more: object) -> Extraction:
    return extract(Request(content, **more))  # type: ignore[arg-type] # whatever the test says


def test_pages_and_paths_survive_through_messages_and_archives():
    letter = message(multipart("mixed", [part("See below"), packed(PDF, "application/pdf", "tide.pdf")]))
    found = read(documents.archive({"post/letter.eml": letter}))
    assert [(p.member, p.page, p.text.split()[0]) for p in found.passages] == [
        ("post/letter.eml", None, "Subject:"),
        ("post/letter.eml/tide.pdf", 1, "First"),
        ("post/letter.eml/tide.pdf", 2, "Second"),
    ]


def test_one_that_fails_is_named_with_its_path_and_harms_no_other():
    inner = documents.archive({"torn.pdf": PDF[:100], "good.txt": b"good words"})
    found = read(documents.archive({"in.zip": inner, "last.txt": b"last words"}))
    assert [p.text for p in found.passages] == ["good words", "last words"]
    assert found.text_quality is TextQuality.PARTIAL
    (named,) = found.facts["partial"]  # type: ignore[misc] # a list
    assert str(named).startswith("in.zip/torn.pdf: The file begins like a PDF")


def test_the_first_that_fail_are_named_and_the_others_counted():
    found = read(documents.archive({f"{n:02}.pdf": PDF[:50] for n in range(60)}))
    partial = found.facts["partial"]
    assert isinstance(partial, list)
    assert [name.partition(":")[0] for name in partial] == [f"{n:02}.pdf" for n in range(50)]
    assert found.facts["partial_more"] == 10


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_how_deep_documents_may_lie(depth: int):
    found = read(nested(5), limits=Limits(depth=depth))
    assert [p.text for p in found.passages] == [f"words at level {4 - n}" for n in range(depth + 1)]
    assert f"limit is {depth} (FENCEPOST_EXTRACT__DEPTH)" in str(found.facts["partial"])


def test_when_the_time_is_up_the_rest_is_named():
    found = read(documents.archive({"a.txt": b"a", "b.txt": b"b"}), seconds=0)
    assert found.text_quality is TextQuality.NO_TEXT
    why = "The time was up before it was read"
    assert found.facts["partial"] == [f"a.txt: {why}", f"b.txt: {why}"]


def test_a_message_whose_time_is_up_keeps_its_head():
    found = read(message(multipart("mixed", [part("Hello"), packed(b"x", "text/plain", "a.txt")])), seconds=0)
    assert "Attachments: a.txt" in found.passages[0].text
    assert found.facts["partial"] == [
        "the message: the time was up before all of it was read",
        "a.txt: The time was up before it was read",
    ]


def test_what_archives_inside_use_up_counts_for_the_whole():
    inner = documents.archive({f"{n}.txt": b"x" * 1000 for n in range(4)}, compress=True)
    outer = documents.archive({"a.zip": inner, "b.zip": inner})
    assert len(read(outer).passages) == 8
    for limits, setting in ((Limits(members=9), "MEMBERS"), (Limits(total_bytes=7000), "TOTAL_BYTES")):
        found = read(outer, limits=limits)
        assert {p.member.partition("/")[0] for p in found.passages if p.member} == {"a.zip"}
        assert "b.zip: The archive" in str(found.facts["partial"])
        assert setting in str(found.facts["partial"])


def test_nothing_more_is_unpacked_once_there_is_enough_text():
    members = Members(Request(b"", limits=Limits(characters=10)))
    members.read("a.txt", b"more than ten characters")

    def never() -> Iterator[bytes]:
        raise AssertionError
        yield b""

    members.read("b.txt", never())
    assert members.truncated
    assert members.partial == []
    assert [block.member for block in members.blocks] == ["a.txt"]


def test_a_reader_that_fails_is_its_members_fault_but_not_one_without_memory():
    members = Members(Request(b""))

    def failing(_inside: Request) -> Reading:
        raise ZeroDivisionError

    def hungry(_inside: Request) -> Reading:
        raise MemoryError

    members.read_by("a", failing)
    assert members.partial == ["a: its reader failed (ZeroDivisionError)"]
    with pytest.raises(MemoryError):
        members.read_by("b", hungry)


def test_a_member_read_quietly_is_not_missed():
    members = Members(Request(b""))
    members.read("logo.png", b"\x00\x01\x02" * 100, quietly=True)
    assert members.partial == []
    members.read("logo.png", b"\x00\x01\x02" * 100)
    assert members.partial[0].startswith("logo.png (2): This is a binary file")


def test_what_reads_the_members_is_recorded_however_deep_they_lie():
    def versions(*names: str) -> list[str]:
        return sorted(KINDS[name].version for name in names)

    page = message(part("<p>Words</p>", "text/html"))
    certain = documents.archive({"good.pdf": PDF, "torn.pdf": PDF[:100]})
    assert "contains" not in extract(Request(b"words")).facts
    assert "contains" not in extract(Request(PDF)).facts
    assert read(certain).facts["contains"] == versions("pdf")
    assert read(page).facts["contains"] == versions("html")
    inside = documents.archive({"in.zip": certain, "letter.eml": page})
    assert read(inside).facts["contains"] == sorted([*versions("pdf", "html", "zip", "eml"), VERSION])


@pytest.mark.parametrize("member", [b"words", b"7z\xbc\xaf\x27\x1c", documents.archive({})])
def test_a_member_that_may_be_of_another_kind_some_day_is_recorded(member: bytes):
    contains = read(documents.archive({"member": member})).facts["contains"]
    assert isinstance(contains, list)
    assert VERSION in contains


def test_it_is_told_which_member_is_being_read_and_when_it_has_been():
    letter = message(multipart("mixed", [part("See below"), packed(PDF, "application/pdf", "tide.pdf")]))
    request = Request(documents.archive({"letter.eml": letter, "torn.pdf": PDF[:100], "z.txt": b"words"}))
    told: list[int] = []
    request.spent.tell = told.append
    extract(request)
    assert told == [1, 2, 1, 0, 3, 0, 4, 0]


def test_whatever_ends_a_document_inside_a_member_leaves_it_at_that():
    request = Request(b"")
    told: list[int] = []
    request.spent.tell = told.append

    def hungry(inside: Request) -> Reading:
        Members(inside).read_by("deep", hungrier)
        raise AssertionError

    def hungrier(_inside: Request) -> Reading:
        raise MemoryError

    with pytest.raises(MemoryError):
        Members(request).read_by("a", hungry)
    assert told == [1, 2]


def test_a_member_that_is_left_out_is_outdated_by_any_other_reader():
    found = read(
        documents.archive({"note.txt": b"words", "slow.pdf": PDF}), left_out={2: "it takes too long to be read"}
    )
    assert found.facts["partial"] == ["slow.pdf: it takes too long to be read"]
    assert found.facts["contains"] == sorted(versions_inside().values())


GARBAGE = "\ue000\ue001 \ufffd word " * 50


def test_one_member_of_garbage_is_named_and_does_not_discredit_the_others():
    inner = documents.archive({"garbage.txt": GARBAGE.encode(), "good.txt": b"good words"})
    found = read(documents.archive({"in.zip": inner, "long.txt": b"plain words " * 100}))
    assert found.text_quality is TextQuality.PARTIAL
    assert found.facts["partial"] == ["in.zip/garbage.txt: its text is unreliable"]
    mail = message(multipart("mixed", [part("See below " * 100), packed(GARBAGE.encode(), "text/plain", "a.txt")]))
    assert read(mail).facts["partial"] == ["a.txt: its text is unreliable"]


def test_a_document_is_unreliable_when_most_of_it_or_its_own_text_is():
    most = read(documents.archive({"garbage.txt": GARBAGE.encode(), "good.txt": b"good words"}))
    assert most.text_quality is TextQuality.TEXT_UNRELIABLE
    assert most.facts["partial"] == ["garbage.txt: its text is unreliable"]
    attached = packed(b"plain words " * 1000, "text/plain", "a.txt")
    own = read(message(multipart("mixed", [part(GARBAGE, "text/plain; charset=utf-8"), attached])))
    assert own.text_quality is TextQuality.TEXT_UNRELIABLE
    assert "partial" not in own.facts


def test_an_empty_member_has_nothing_to_miss():
    assert read(documents.archive({"__init__.py": b"", "a.py": b"pass"})).text_quality is TextQuality.OK


def test_a_member_gets_the_request_of_the_whole():
    seen: list[Request] = []

    def look(inside: Request) -> Reading:
        seen.append(inside)
        return Reading([Block("x", 7, "deeper", "head")])

    whole = Request(b"all", "all.zip", "application/zip", "koi8-r", depth=1)
    members = Members(whole)
    members.read_by("in/a.txt", look)
    (inside,) = seen
    assert (inside.filename, inside.declared_media_type, inside.encoding, inside.depth) == ("a.txt", "", "", 2)
    assert inside.spent is whole.spent
    assert members.blocks == [Block("x", 7, "in/a.txt/deeper", "head")]
