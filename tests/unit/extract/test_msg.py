from datetime import UTC, datetime

import pytest

from indexer.extract import KINDS, Extraction, Request, extract
from indexer.extract.mail.packed_rtf import unpacked
from indexer.extract.types import Limits
from pipeline.errors import Permanent
from pipeline.outcomes import TextQuality
from tests.samples import msg
from tests.samples._messages import HEAD_FACTS, Value, message, multipart, outlook, outlook_folder, packed, part
from tests.samples.text import JAPANESE

RTF = rb"{\rtf1\ansi The words of the lamp, the words of the harbour\par}"


def read(content: bytes, **more: object) -> Extraction:
    return extract(Request(content, "a.msg", **more))  # type: ignore[arg-type] # whatever the test says


def attached(name: str, data: bytes, media_type: str = "") -> dict[int, Value]:
    return {msg.METHOD: 1, msg.FILE_NAME: name, msg.DATA: data, msg.MEDIA_TYPE: media_type}


def test_the_head_is_that_of_any_message():
    found = read(outlook(msg.LAMP | {msg.BODY: "Light.\r\n"}, msg.RECIPIENTS))
    assert found.passages[0].text == (
        "Subject: The lamp\nFrom: Keeper <keeper@example.org>\n"
        "To: Harbour <harbour@example.org>, pilot@example.org\nCc: Crew\nDate: 2026-12-01 07:30 UTC\n\nLight.\n\n"
    )
    expected = HEAD_FACTS | {
        "characters": len(found.passages[0].text),
        "cc": "Crew",
        "date": "2026-12-01T07:30:00+00:00",
    }
    assert expected.items() <= found.facts.items()


def test_what_the_properties_do_not_say_is_in_the_posted_header():
    posted = "From: =?utf-8?Q?W=C3=A4rter?= <w@example.org>\r\nDate: Tue, 1 Dec 2026 08:30:00 +0100\r\n"
    found = read(outlook({msg.SUBJECT: "x", 0x007D: posted, 0x0E04: "Harbour"}))
    assert found.facts["from"] == "Wärter <w@example.org>"
    assert found.facts["date"] == "2026-12-01T08:30:00+01:00"
    assert found.facts["to"] == "Harbour"


@pytest.mark.parametrize(
    ("properties", "encoding", "text"),
    [
        ({msg.BODY: "plain", msg.PAGE: b"<p>page"}, "", "plain\n\n"),
        ({msg.BODY: "\r\n ", msg.PAGE: b"<p>page"}, "", "page\n\n"),
        ({msg.PAGE: "<p>Größe".encode("cp1252"), msg.INTERNET: 1252}, "", "Größe\n\n"),
        ({msg.PAGE: "<p>маяк".encode("koi8-r"), msg.INTERNET: 20866}, "", "маяк\n\n"),
        ({msg.BODY: JAPANESE, msg.CODE_PAGE: 932}, "cp932", JAPANESE.strip() + "\n\n"),
        ({msg.BODY: JAPANESE, msg.INTERNET: 932}, "cp932", JAPANESE.strip() + "\n\n"),
        ({msg.BODY: "Größe"}, "cp1252", "Größe\n\n"),
        ({msg.BODY: "Größe", msg.CODE_PAGE: 99999}, "utf-8", "Größe\n\n"),
    ],
)
def test_the_body(properties: dict[int, Value], encoding: str, text: str):
    found = read(outlook(properties, encoding=encoding))
    assert "".join(p.text for p in found.passages) == text


def test_members_with_their_paths():
    inner = outlook_folder({msg.SUBJECT: "In"}, attachments=[attached("a.txt", b"deeper")])
    found = read(outlook(msg.LAMP, attachments=[{msg.METHOD: 5, msg.NAME: "In", msg.DATA: inner}]))
    assert [(p.member, p.text.split()[-1]) for p in found.passages] == [
        (None, "In"),
        ("In", "a.txt"),
        ("In/a.txt", "deeper"),
    ]


def test_messages_too_deep_inside_each_other_are_named():
    inner = outlook_folder({msg.SUBJECT: "level 0"})
    for n in range(1, 6):
        inner = outlook_folder(
            {msg.SUBJECT: f"level {n}"}, attachments=[{msg.METHOD: 5, msg.NAME: "in", msg.DATA: inner}]
        )
    found = read(outlook(msg.LAMP, attachments=[{msg.METHOD: 5, msg.NAME: "in", msg.DATA: inner}]))
    assert [p.member for p in found.passages] == [None, "in", "in/in", "in/in/in"]
    assert "in/in/in/in: Documents lie too deep" in str(found.facts["partial"])


def test_a_signed_message_inside_is_read_and_its_signature_is_not():
    inside = message(
        multipart("signed", [part("In plain sight"), packed(b"0", "application/pkcs7-signature", "s.p7s")]), ""
    )
    found = read(outlook(msg.LAMP, attachments=[attached("smime.p7m", inside, "multipart/signed")]))
    assert found.text_quality is TextQuality.OK
    assert "In plain sight" in found.passages[-1].text


def test_a_part_over_the_limit_is_named_and_the_others_are_read():
    files = [attached("a.txt", b"x" * 9000), attached("b.txt", b"small")]
    found = read(outlook({msg.SUBJECT: "x"}, attachments=files), limits=Limits(member_bytes=5000))
    assert [p.member for p in found.passages] == [None, "b.txt"]
    assert "a.txt: A part of the message has too many bytes" in str(found.facts["partial"])


def test_too_many_attachments_are_refused():
    content = outlook({msg.SUBJECT: "x"}, attachments=[attached(f"{n}.txt", b"x") for n in range(6)])
    with pytest.raises(Permanent, match="FENCEPOST_EXTRACT__MEMBERS"):
        read(content, limits=Limits(members=5))


def test_a_date_beyond_all_calendars_is_left_out():
    content = outlook({msg.SUBJECT: "x", msg.SENT: datetime(2026, 1, 1, tzinfo=UTC)})
    at = content.index((0x00390040).to_bytes(4, "little")) + 8
    assert "date" in read(content).facts
    assert "date" not in read(content[:at] + b"\xff" * 8 + content[at + 8 :]).facts


def test_packed_rtf_may_repeat_what_it_is_writing():
    body = b"\x02a\x0c\xf6..."  # a letter, and eight from where it stands on
    head = (len(body) + 12).to_bytes(4, "little") + (12).to_bytes(4, "little") + b"LZFu" + bytes(4)
    assert unpacked(head + body, 100) == b"aaaaaaaaa..."


def test_packed_rtf():
    packed_ = msg.packed_rtf(RTF)
    assert unpacked(packed_, 1000) == RTF
    assert unpacked(packed_, 10) == RTF[:10]
    assert unpacked(packed_[:40], 1000) == RTF[: len(unpacked(packed_[:40], 1000))]
    plain = (len(RTF) + 12).to_bytes(4, "little") + len(RTF).to_bytes(4, "little") + b"MELA" + bytes(4) + RTF
    assert unpacked(plain, 1000) == RTF


@pytest.mark.parametrize("data", [b"", b"x" * 15, b"x" * 40])
def test_what_is_no_packed_rtf_is_corrupt(data: bytes):
    with pytest.raises(Permanent) as refusal:
        unpacked(data, 1000)
    assert refusal.value.code == "corrupt"


def test_rtf_is_read_where_there_is_nothing_else():
    found = read(outlook({msg.SUBJECT: "x", msg.RTF: msg.packed_rtf(RTF)}))
    if "rtf" not in KINDS:
        pytest.skip("there is no reader of RTF")
    assert "The words of the lamp, the words of the harbour" in found.passages[0].text


def test_rtf_that_cannot_be_read_is_named():
    found = read(outlook({msg.SUBJECT: "x", msg.RTF: b"x" * 40}))
    assert found.facts["partial"] == ["the message: The RTF in the message is packed in an unknown way"]
