"""E-mail: encodings, attachments, signatures, mailboxes, and what mail programs and attackers do wrong."""

from base64 import b64encode

from indexer.extract import Limits
from tests.samples import Sample
from tests.samples._messages import HEAD, message, multipart, packed, part, wrapped_in_signature
from tests.samples.text import JAPANESE, RUSSIAN
from tests.support import documents

PAGE = "<html><body><p>The <b>page</b> of the lamp</p></body></html>"
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(40)
ALTERNATIVE = multipart("alternative", [part("The plain lamp"), part(PAGE, "text/html")], "=_inner")


def _everything() -> bytes:
    inner = message(multipart("mixed", [part("A message inside"), packed(b"kept\n", "text/plain", "log.txt")], "=_log"))
    attached = [
        packed(documents.pdf([["First page"], ["Second page"]]), "application/pdf", "tide.pdf"),
        packed(documents.archive({"notes/a.txt": b"a note in an archive"}), "application/zip", "notes.zip"),
        packed(RUSSIAN.encode("koi8-r"), "text/plain; charset=koi8-r", "=?koi8-r?B?" + _word("маяк.txt", "koi8-r")),
        part(
            b64encode(b"by sections"),
            "text/plain",
            "Content-Disposition: attachment; filename*0*=utf-8''M%C3%B6; filename*1*=we%20n; filename*2=.txt",
            "Content-Transfer-Encoding: base64",
        ),
        packed(b"nobody named this", "text/plain"),
        part(inner, "message/rfc822"),
    ]
    return message(multipart("mixed", [ALTERNATIVE, *attached], "=_outer"))


def _word(text: str, charset: str) -> str:
    return f"{b64encode(text.encode(charset)).decode()}?="


def _invitation() -> bytes:
    meeting = part("BEGIN:VCALENDAR\r\nSUMMARY:Hidden\r\nEND:VCALENDAR", "text/calendar; method=REQUEST")
    logo = packed(PICTURE, "image/png", "logo.png", "inline")
    related = multipart("related", [part(PAGE, "text/html"), logo], "=_related")
    return message(multipart("alternative", [part(" \r\n"), related, meeting]))


def _signed() -> bytes:
    signature = packed(b"\x30\x80\x06\x09", "application/pkcs7-signature", "smime.p7s")
    return message(multipart("signed", [part("Signed by the keeper"), signature], more="; micalg=sha-256"))


def _deep(depth: int) -> bytes:
    opened = "".join(f'Content-Type: multipart/mixed; boundary="edge {n}"\r\n\r\n--edge {n}\r\n' for n in range(depth))
    return message(opened.encode() + part("At the bottom of it"))


def _nested(depth: int) -> bytes:
    inner = message(part("The innermost words"))
    for n in range(depth):
        inner = message(multipart("mixed", [part(f"Around it, {n}"), part(inner, "message/rfc822")], f"=_{n}"))
    return inner


def _mailbox(count: int) -> bytes:
    one = message(part("Letter number {n}\r\n\r\n>From afar\r\n"))
    return b"".join(
        b"From keeper@example.org Tue Dec  1 08:30:00 2026\n" + one.replace(b"{n}", b"%d" % n) + b"\n"
        for n in range(count)
    )


def _saved_page() -> bytes:
    parts = [part(PAGE, "text/html"), part("p { color: red }", "text/css"), packed(PICTURE, "image/png", "", "inline")]
    head = "From: <Saved by a browser>\r\nSubject: The harbour\r\nMIME-Version: 1.0\r\n"
    return message(multipart("related", parts), head)


def _wrong(charset: str, data: bytes, packing: str = "8bit") -> bytes:
    return message(part(data, f"text/plain; charset={charset}", f"Content-Transfer-Encoding: {packing}"))


_MALFORMED = (
    b'From: =?no-such?B?w7w?= =?utf-8?Q?=C3=BCber =?=\r\nTo: "unclosed <a@b\r\nthis is no field\r\n'
    b"Date: the day before\r\nSubject: =?utf-8?B?R3LDvMOfZQ?=\r\n =?utf-8?Q?_aus_K=C3?= =?utf-8?Q?=B6ln?=\r\n"
    b"Received: from [\r\nMessage-ID: <>>\r\nMIME-Version: 1.0\r\n"
    b"Content-Type: text/plain; charset=\"; =;;\r\nContent-Disposition: inline; filename*9*=x'\r\n\r\nStill read\r\n"
)

SAMPLES = [
    Sample("plain.eml", lambda: message(part("The lamp is lit")), words=("Cc: crew@example.org", "The lamp is lit")),
    Sample(
        "everything.eml",
        _everything,
        words=("The plain lamp", "First page", "a note in an archive", "Смотритель", "by sections", "inside", "kept"),
        absent=("page of the lamp",),
        members=(
            *("tide.pdf", "notes.zip/notes/a.txt", "маяк.txt", "Möwe n.txt"),
            *("attachment 5", "The lamp", "The lamp/log.txt"),
        ),
    ),
    Sample("alternative.eml", lambda: message(ALTERNATIVE), words=("The plain lamp",), absent=("page",)),
    Sample("page-only.eml", lambda: message(part(PAGE, "text/html")), words=("The page of the lamp",)),
    Sample("invitation.eml", _invitation, words=("The page of the lamp",), absent=("Hidden", "logo")),
    Sample("signed.eml", _signed, words=("Signed by the keeper",), absent=("p7s",)),
    *(
        Sample(
            f"wrapped-{'open' if is_open else 'closed'}.eml",
            lambda is_open=is_open: message(
                packed(
                    wrapped_in_signature(part("Signed, and in plain sight, by the keeper"), open_lengths=is_open),
                    "application/pkcs7-mime; smime-type=signed-data",
                    "smime.p7m",
                )
            ),
            words=("in plain sight",),
        )
        for is_open in (False, True)
    ),
    Sample(
        "smime.eml",
        lambda: message(packed(b"\x30\x80\x06\x09*\x86H\x86\xf7\r\x01\x07\x03", "application/pkcs7-mime", "smime.p7m")),
        outcome="partial",
        words=("Subject: The lamp",),
        partial=("the message: it is encrypted",),
    ),
    Sample(
        "pgp.eml",
        lambda: message(
            multipart(
                "encrypted",
                [
                    part("Version: 1", "application/pgp-encrypted"),
                    part("-----BEGIN PGP MESSAGE-----", "application/octet-stream"),
                ],
            )
        ),
        outcome="partial",
        words=("Subject: The lamp",),
        partial=("the message: it is encrypted",),
    ),
    Sample(
        "pgp-inline.eml",
        lambda: message(part("Hello\r\n-----BEGIN PGP MESSAGE-----\r\nhQEMA\r\n-----END PGP MESSAGE-----\r\nBye")),
        outcome="partial",
        words=("Hello", "Bye"),
        absent=("hQEMA",),
    ),
    Sample("utf-16.eml", lambda: message(part("Der Leuchtturm grüßt")).decode().encode("utf-16"), words=("grüßt",)),
    Sample("undeclared.eml", lambda: HEAD.encode() + b"\r\n" + RUSSIAN.encode("cp1251"), words=("Смотритель",)),
    Sample("declared-wrong.eml", lambda: _wrong("us-ascii", RUSSIAN.encode()), words=("Смотритель",)),
    Sample("declared-unknown.eml", lambda: _wrong("x-none", JAPANESE.encode("cp932")), words=("漁船の目印",)),
    Sample("koi8-r.eml", lambda: _wrong("koi8-r", RUSSIAN.encode("koi8-r")), words=("Смотритель",)),
    Sample("iso-2022-jp.eml", lambda: _wrong("iso-2022-jp", JAPANESE.encode("iso2022_jp")), words=("灯台の光",)),
    Sample("raw-header.eml", lambda: "Subject: Größe\r\nMIME-Version: 1.0\r\n\r\nx".encode(), words=("Größe",)),
    Sample("malformed.eml", lambda: _MALFORMED, words=("Grüße aus Köln", "Still read")),
    Sample(
        "flowed.eml",
        lambda: message(part("One \r\nparagraph\r\n> quoted \r\n> words\r\n-- \r\nme", "text/plain; format=flowed")),
        words=("One paragraph\n", "> quoted words\n", "-- \nme"),
    ),
    Sample(
        "quoted-damaged.eml",
        lambda: _wrong("utf-8", b"Gr=C3=BC=C3=9Fe =XY =\r\nand on=", "quoted-printable"),
        words=("Grüße", "and on"),
    ),
    Sample(
        "base64-damaged.eml",
        lambda: _wrong("utf-8", b"VGhlIGxh\r\n!bXAgaXMg*bGl0IGFuZCB3ZWxs!!", "base64"),
        words=("The lamp is lit and well",),
    ),
    Sample("cut-off.eml", lambda: _everything()[:700], outcome="partial", words=("The plain lamp",)),
    Sample("no-boundary.eml", lambda: _everything().replace(b"boundary=", b"bound="), words=("The plain lamp",)),
    Sample("inbox.mbox", lambda: _mailbox(3), words=("Letter number 2", "\nFrom afar"), members=("message 3",)),
    Sample("page.mhtml", _saved_page, words=("The harbour", "The page of the lamp"), absent=("color",)),
    Sample(
        "nested.eml",
        lambda: _nested(8),
        outcome="partial",
        words=("Around it, 4",),
        absent=("Around it, 3",),
        partial=("FENCEPOST_EXTRACT__DEPTH",),
    ),
    Sample("deep.eml", lambda: _deep(20_000), words=("At the bottom of it",)),
    Sample(
        "many-parts.eml",
        lambda: message(multipart("mixed", [part("x", "text/x-none")] * 60)),
        outcome="limit_exceeded",
        limits=Limits(members=50),
    ),
]
