import struct

import pytest

from indexer.extract import Extraction, Request, extract
from indexer.extract.types import Limits
from pipeline.errors import Permanent
from pipeline.outcomes import TextQuality
from tests.samples.zip_file import named, overlapping
from tests.support import documents, hostile


def read(content: bytes, **more: object) -> Extraction:
    return extract(Request(content, "a.zip", **more))  # type: ignore[arg-type] # whatever the test says


def paths(content: bytes) -> list[str | None]:
    return [passage.member for passage in read(content).passages]


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("plain.txt", "ascii"),
        ("żółw.txt", "utf-8"),
        ("Übersicht März.txt", "cp437"),
        ("été/çà.txt", "cp437"),
        ("château âgé.txt", "cp437"),
        ("Отчёт за 2020 год.txt", "cp866"),
        ("ЖУРНАЛ №3 draft.txt", "cp866"),
        ("ポスター.txt", "cp932"),
        ("報告書のまとめ.txt", "cp932"),
        ("灯塔的光芒照亮了海港，渔船在夜里安全返航.txt", "gb18030"),
        ("등대의 불빛은 매일 밤 바다를 비추었고.txt", "cp949"),
    ],
)
def test_names_in_old_code_pages(name: str, encoding: str):
    assert paths(named({name.encode(encoding): b"words"})) == [name]


def test_all_names_together_tell_the_code_page():
    names = ["отчёт.txt", "a.txt", "Я.txt"]
    assert paths(named({name.encode("cp866"): b"words" for name in names})) == names


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (b"../../etc/passwd", "etc/passwd"),
        (b"/etc/passwd", "etc/passwd"),
        (b"C:\\a\\..\\b.txt", "a/b.txt"),
        (b"./a//b.txt", "a/b.txt"),
        (b"..", "a file without a name"),
        (b"x" * 300 + b".txt", "x" * 196 + ".txt"),
    ],
)
def test_a_path_leads_nowhere_outside(raw: bytes, path: str):
    assert paths(named({raw: b"words"})) == [path]


def test_what_file_managers_leave_behind_is_no_file():
    found = read(
        documents.archive({"a.txt": b"words", "__MACOSX/._a.txt": b"\0\5", "b/.DS_Store": b"\0", "b/Thumbs.db": b"\0"})
    )
    assert found.text_quality is TextQuality.OK
    assert (found.facts["characters"], found.facts["files"]) == (5, 1)


def test_an_archive_of_what_cannot_be_read_has_no_text_and_says_why():
    found = read(documents.archive({"a.png": b"\x00\x01\x02" * 99}))
    assert found.text_quality is TextQuality.NO_TEXT
    assert len(found.facts["partial"]) == 1  # type: ignore[arg-type] # a list


def test_a_file_with_a_password_is_named():
    closed = bytearray(documents.archive({"a.txt": b"secret", "b.txt": b"open"}))
    closed[6] |= 1
    closed[closed.index(b"PK\1\2") + 8] |= 1
    found = read(bytes(closed))
    assert [p.text for p in found.passages] == ["open"]
    assert found.facts["partial"] == ["a.txt: it needs a password"]


def test_a_damaged_file_is_named():
    whole = documents.archive({"a.txt": b"the first", "b.txt": b"the second"})
    found = read(whole.replace(b"the first", b"the fOrst", 1))
    assert [p.text for p in found.passages] == ["the second"]
    assert "a.txt in the archive cannot be unpacked: Bad CRC-32" in str(found.facts["partial"])


def test_a_file_over_the_limit_of_a_member_is_named_and_the_others_are_read():
    found = read(documents.archive({"a.txt": b"x" * 2000, "b.txt": b"small"}), limits=Limits(member_bytes=1000))
    assert [p.text for p in found.passages] == ["small"]
    assert "FENCEPOST_EXTRACT__MEMBER_BYTES" in str(found.facts["partial"])


@pytest.mark.parametrize(
    ("content", "code", "says"),
    [
        (overlapping(3), "corrupt", "overlap"),
        (named({b"a.txt": b"x", b"b.txt": b"y"}, flags=1), "password_required", "encrypted with a password"),
        (hostile.crowded_zip(60), "limit_exceeded", "FENCEPOST_EXTRACT__MEMBERS"),
        (documents.archive({"a": bytes(900), "b": bytes(900)}), "limit_exceeded", "FENCEPOST_EXTRACT__TOTAL_BYTES"),
    ],
)
def test_refusals_of_the_whole(content: bytes, code: str, says: str):
    with pytest.raises(Permanent, match=says) as refusal:
        read(content, limits=Limits(members=50, total_bytes=1500))
    assert refusal.value.code == code


def test_a_zip64_archive_is_counted_before_it_is_opened():
    whole = documents.archive({f"{n}.txt": b"x" for n in range(60)})
    end = whole.rindex(b"PK\5\6")
    size, start = struct.unpack_from("<II", whole, end + 12)
    record = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 60, 60, size, start)
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, end, 1)
    zip64 = whole[:end] + record + locator + whole[end : end + 8] + b"\xff" * 12 + b"\0\0"
    assert len(read(zip64).passages) == 60
    with pytest.raises(Permanent, match="too many members"):
        read(zip64, limits=Limits(members=50))
