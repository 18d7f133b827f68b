import pytest

from indexer.extract import Extraction, Request, extract
from indexer.extract.mail.mime_fields import Fields, in_words, parameters
from pipeline.outcomes import TextQuality
from tests.samples._messages import HEAD, HEAD_FACTS, message, multipart, packed, part
from tests.samples.text import RUSSIAN

PAGE = part("<html><body>the page", "text/html")
PLAIN = part("the plain words")
EMPTY = part(" \r\n")


def read(content: bytes, **more: object) -> Extraction:
    return extract(Request(content, "a.eml", **more))  # type: ignore[arg-type] # whatever the test says


def body(content: bytes) -> str:
    """The text behind the head."""
    return "".join(passage.text for passage in read(content).passages if not passage.member).partition("\n\n")[2]


def field(name: str, value: str) -> Fields:
    fields = Fields()
    fields.add(name.encode(), value.encode())
    return fields


def test_the_head_is_text_and_facts():
    found = read(message(part("Light.")))
    assert found.passages[0].text == (
        "Subject: The lamp\nFrom: Keeper <keeper@example.org>\n"
        "To: Harbour <harbour@example.org>, pilot@example.org\nCc: crew@example.org\n"
        "Date: Tue, 1 Dec 2026 08:30:00 +0100\n\nLight.\n\n"
    )
    expected = HEAD_FACTS | {
        "characters": len(found.passages[0].text),
        "cc": "crew@example.org",
        "date": "2026-12-01T08:30:00+01:00",
    }
    assert expected.items() <= found.facts.items()


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("plain", "plain"),
        ("=?utf-8?Q?Gr=C3=BC=C3=9Fe_an?= alle", "Grüße an alle"),
        ("=?utf-8?B?w7w?= \t =?UTF-8?b?w7Y=?=", "üö"),
        ("=?utf-8?Q?K=C3?= =?utf-8?Q?=B6ln?=", "Köln"),
        ("a =?koi8-r*ru?B?7cHRyw==?= b", "a Маяк b"),
        ("=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=", "日本"),
        ("=?no-such?Q?=FC?=", "ü"),
        ("=?utf-8?Q?=FC?=", "ü"),
        ("=?utf-8?B?R3LDvMOfZQ", "Grüße"),
        ("=?utf-8?X?what?=", "=?utf-8?X?what?="),
        ("=? =?=", "=? =?="),
    ],
)
def test_encoded_words(raw: str, text: str):
    assert in_words(raw) == text


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ('attachment; filename="a b.txt"', "a b.txt"),
        ("attachment; FileName=a.txt; size=3", "a.txt"),
        (r'attachment; filename="a \"b\".txt"', 'a "b".txt'),
        (r'attachment; filename="C:\new\a.txt"', r"C:\new\a.txt"),
        ("attachment; filename*=utf-8'de'%C3%BC.txt", "ü.txt"),
        ("attachment; filename=u.txt; filename*=utf-8''%C3%BC.txt", "ü.txt"),
        ("attachment; filename*1*=%BC; filename*0*=utf-8''%C3; filename*2=.txt", "ü.txt"),
        ('attachment; filename*0="lo"; filename*1="ng.txt"', "long.txt"),
        ("attachment; filename*=koi8-r''%ED%C1%D1%CB", "Маяк"),
        ('attachment; filename="=?utf-8?Q?=C3=BC?=.txt"', "ü.txt"),
        ('attachment; filename="never closed.txt', "never closed.txt"),
        ("attachment; filename*=%%%", "%%%"),
        ("attachment;;; =; filename*x=1", ""),
    ],
)
def test_file_names(value: str, name: str):
    assert parameters(field("content-disposition", value), "content-disposition").get("filename", "") == name


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        (multipart("alternative", [PLAIN, PAGE]), "the plain words\n\n"),
        (multipart("alternative", [EMPTY, PAGE]), "the page\n\n"),
        (multipart("alternative", [PAGE, PLAIN]), "the plain words\n\n"),
        (multipart("alternative", [PLAIN, multipart("related", [PAGE], "=_in")]), "the plain words\n\n"),
        (multipart("mixed", [PAGE, part("the footer")]), "the page\n\nthe footer\n\n"),
        (multipart("alternative", [EMPTY, multipart("mixed", [PAGE, PAGE], "=_in")]), "the page\n\nthe page\n\n"),
        (
            multipart(
                "mixed",
                [multipart("alternative", [PLAIN, PAGE], "=_1"), multipart("alternative", [EMPTY, PAGE], "=_2")],
            ),
            "the plain words\n\nthe page\n\n",
        ),
        (b"\r\nno field at all", "no field at all\n\n"),
    ],
)
def test_the_body_is_plain_text_or_else_the_page(sent: bytes, text: str):
    assert body(message(sent)) == text


@pytest.mark.parametrize("packing", ["7BIT", "8bit", "binary", "x-unknown", ""])
def test_text_that_is_not_packed(packing: str):
    sent = part(RUSSIAN.encode("cp1251"), "text/plain; charset=cp1251", f"Content-Transfer-Encoding: {packing}")
    assert "Смотритель" in body(message(sent))


def test_an_encoding_in_the_metadata_wins_over_the_declared_one():
    sent = message(part("Привет".encode("cp866"), "text/plain; charset=koi8-r"))
    assert "Привет" in read(sent, encoding="cp866").passages[0].text


def test_fields_that_declare_nothing_are_guessed_together():
    sent = HEAD.encode().replace(b"The lamp", RUSSIAN[:60].encode("cp1251")) + part("x")
    assert "Маяк зажигали" in str(read(sent).facts["subject"])


def test_a_field_that_is_broken_costs_itself_only():
    sent = message(part("still here"), HEAD.replace("Cc:", "this is no field\r\nCc:").replace("Tue, 1 Dec", "the"))
    found = read(sent)
    assert found.facts["cc"] == "crew@example.org"
    assert "date" not in found.facts
    assert "Date: the 2026" in found.passages[0].text
    assert "still here" in found.passages[0].text


def test_attachments_are_named_in_the_head_and_signatures_are_not():
    parts = [
        PLAIN,
        packed(b"one", "text/plain", "../../one.txt"),
        packed(b"two", "text/plain"),
        packed(b"x", "application/pgp-signature", "signature.asc"),
        packed(b"\x89PNG\r\n\x1a\n", "image/png", "logo.png", "inline"),
    ]
    found = read(message(multipart("mixed", parts)))
    assert "Attachments: one.txt, attachment 2\n" in found.passages[0].text
    assert [p.member for p in found.passages] == [None, "one.txt", "attachment 2"]
    assert found.text_quality is TextQuality.OK


def test_a_message_inside_is_known_by_its_subject():
    inner = message(part("Words inside"), "Subject: =?utf-8?q?Re:_oil/wicks?=\n")
    nameless = message(part("No subject"), "From: a@example.org\n")
    parts = [PLAIN, part(inner, "message/rfc822"), part(nameless, "message/rfc822")]
    found = read(message(multipart("mixed", parts)))
    assert [p.member for p in found.passages] == [None, "Re: oil-wicks", "attachment 2"]


@pytest.mark.parametrize(
    ("more", "partial"), [(0, None), (1, ["the field Bcc: only its first 100,000 bytes were read"])]
)
def test_a_field_that_is_not_read_to_its_end_is_named(more: int, partial: list[str] | None):
    found = read(message(PLAIN, f"{HEAD}Bcc: {'a@b.org,' * 12_499}{'c' * (7 + more)}\n"))
    assert found.facts.get("partial") == partial


def test_a_picture_that_is_attached_is_missed_when_it_cannot_be_read():
    found = read(message(multipart("mixed", [PLAIN, packed(b"\x00\x01\x02" * 99, "image/x-none", "a.xyz")])))
    assert found.text_quality is TextQuality.PARTIAL


def test_an_invitation_is_read_where_nothing_else_says_it():
    calendar = part("BEGIN:VCALENDAR\r\nSUMMARY:At noon", "text/calendar")
    alone = read(message(multipart("alternative", [EMPTY, calendar])))
    assert "SUMMARY:At noon" in alone.passages[-1].text
    beside = read(message(multipart("alternative", [PLAIN, calendar])))
    assert [p.member for p in beside.passages] == [None]


def test_a_boundary_that_is_not_declared_is_found():
    sent = multipart("mixed", [PLAIN, packed(b"one", "text/plain", "one.txt")]).replace(b"boundary=", b"bound=")
    assert [p.member for p in read(message(sent)).passages] == [None, "one.txt"]


@pytest.mark.parametrize("end", [b"\n", b"\r"])
def test_other_line_ends(end: bytes):
    sent = message(multipart("mixed", [PLAIN, packed(b"one", "text/plain", "one.txt")])).replace(b"\r\n", end)
    assert [p.member for p in read(sent).passages] == [None, "one.txt"]


def test_text_of_utf_16_is_not_decoded_as_what_it_declared():
    sent = message(part("灯台の光", "text/plain; charset=cp932")).decode()
    assert "灯台の光" in read(sent.encode("utf-16-le")).passages[0].text


def test_lines_that_flow():
    flowed = part("a \r\nb\r\n > c\r\n>> d \r\n> e\r\n-- \r\nme \r\n", "text/plain; format=flowed")
    assert body(message(flowed)) == "a b\n> c\n>> d \n> e\n-- \nme\n\n"
    without = part("灯台 \r\nの光", "text/plain; format=flowed; delsp=yes")
    assert body(message(without)) == "灯台の光\n\n"


def test_a_mailbox_of_one_is_a_message():
    postmark = b"From keeper@example.org Tue Dec  1 08:30:00 2026\r\n"
    found = read(postmark + message(part("Light.")))
    assert found.facts["subject"] == "The lamp"
    assert {p.member for p in found.passages} == {None}
