"""Messages as Outlook saves them."""

from datetime import UTC, datetime

from tests.samples import Sample
from tests.samples._compound import compound
from tests.samples._messages import Value, outlook, outlook_folder, part, wrapped_in_signature
from tests.samples.text import CHINESE, JAPANESE, KOREAN, RUSSIAN, TRADITIONAL
from tests.support import documents

SUBJECT, BODY, PAGE, RTF, SENDER, ADDRESS = 0x0037, 0x1000, 0x1013, 0x1009, 0x0C1A, 0x5D01
SENT, CODE_PAGE, INTERNET = 0x0039, 0x3FFD, 0x3FDE
NAME, SMTP, ROLE = 0x3001, 0x39FE, 0x0C15
DATA, METHOD, FILE_NAME, MEDIA_TYPE, CONTENT_ID = 0x3701, 0x3705, 0x3707, 0x370E, 0x3712

LAMP: dict[int, Value] = {
    SUBJECT: "The lamp",
    SENDER: "Keeper",
    ADDRESS: "keeper@example.org",
    SENT: datetime(2026, 12, 1, 7, 30, tzinfo=UTC),
}
RECIPIENTS: list[dict[int, Value]] = [
    {NAME: "Harbour", SMTP: "harbour@example.org", ROLE: 1},
    {NAME: "pilot@example.org", SMTP: "pilot@example.org", ROLE: 1},
    {NAME: "Crew", ROLE: 2},
]


def _file(name: str, data: bytes, **more: Value) -> dict[int, Value]:
    return {METHOD: 1, FILE_NAME: name, DATA: data} | {int(key[1:], 16): value for key, value in more.items()}


def _everything() -> bytes:
    inner = outlook_folder({SUBJECT: "Inside", BODY: "A message inside"}, attachments=[_file("log.txt", b"kept")])
    return outlook(
        LAMP | {BODY: "The plain lamp\r\n", PAGE: b"<p>The page"},
        RECIPIENTS,
        [
            _file("tide.pdf", documents.pdf([["First page"], ["Second page"]])),
            {METHOD: 5, NAME: "Inside", DATA: inner},
            {METHOD: 1, DATA: b"nobody named this"},
            _file("logo.png", b"\x89PNG\r\n\x1a\n", x370E="image/png", x3712="logo@1"),
            _file("smime.p7s", b"0", x370E="application/pkcs7-signature"),
            _file("large.txt", b"a large one\n" * 1000),
        ],
    )


def _code_page(page: int, encoding: str, text: str) -> bytes:
    return outlook({SUBJECT: text[:8], BODY: text, CODE_PAGE: page}, encoding=encoding)


def packed_rtf(rtf: bytes) -> bytes:
    """RTF as it is in a message, with one reference back: to its first letters, which the dictionary begins with."""
    rest = rtf.removeprefix(b"{\\rtf1")
    groups = [b"\x01" + bytes([0x00, 0x04]) + rest[:7]]
    groups += [b"\0" + rest[n : n + 8] for n in range(7, len(rest), 8)]
    body = b"".join(groups)
    return (len(body) + 12).to_bytes(4, "little") + len(rtf).to_bytes(4, "little") + b"LZFu" + bytes(4) + body


SAMPLES = [
    Sample(
        "everything.msg",
        _everything,
        words=(
            *("From: Keeper <keeper@example.org>", "To: Harbour <harbour@example.org>, pilot@example.org", "Cc: Crew"),
            *("2026-12-01 07:30 UTC", "The plain lamp", "First page", "A message inside", "kept", "a large one"),
        ),
        absent=("The page", "logo", "p7s"),
        members=("tide.pdf", "Inside", "Inside/log.txt", "attachment 3", "large.txt"),
    ),
    *(
        Sample(f"cp{page}.msg", lambda row=(page, encoding, text): _code_page(*row), words=(word,))
        for page, encoding, text, word in (
            (932, "cp932", JAPANESE, "漁船の目印"),
            (936, "gb18030", CHINESE, "渔船在夜里"),
            (949, "cp949", KOREAN, "안전하게"),
            (950, "cp950", TRADITIONAL, "漁船在夜裡"),
            (1251, "cp1251", RUSSIAN, "Смотритель"),
        )
    ),
    Sample(
        "page.msg",
        lambda: outlook({BODY: " ", PAGE: "<p>Der Leuchtturm grüßt".encode("cp1252"), INTERNET: 1252}),
        words=("Der Leuchtturm grüßt",),
    ),
    Sample("page-as-text.msg", lambda: outlook({PAGE: "<p>Größe</p>"}), words=("Größe",)),
    Sample(
        "signed.msg",
        lambda: outlook(
            LAMP,
            attachments=[
                _file(
                    "smime.p7m",
                    wrapped_in_signature(part("In plain sight, and signed by the keeper"), open_lengths=False),
                    x370E="application/pkcs7-mime",
                )
            ],
        ),
        words=("In plain sight",),
        members=("signed message",),
    ),
    Sample(
        "encrypted.msg",
        lambda: outlook(LAMP, attachments=[_file("smime.p7m", b"0\x80", x370E="application/pkcs7-mime")]),
        outcome="partial",
        words=("Subject: The lamp",),
        partial=("the message: it is encrypted",),
    ),
    Sample(
        "linked.msg",
        lambda: outlook(
            LAMP, attachments=[{METHOD: 4, FILE_NAME: "far.txt"}, {METHOD: 6, NAME: "Chart", DATA: {"CONTENTS": b"x"}}]
        ),
        outcome="partial",
        words=("far.txt",),
        partial=("far.txt: it is not in the message", "Chart: This is an object of another program"),
    ),
    Sample("cut-off.msg", lambda: _everything()[:3000], outcome="corrupt"),
    Sample("nothing.msg", lambda: compound({"__properties_version1.0": b""}), outcome="no_text"),
]
