"""E-mail messages as they travel (RFC 5322 and MIME), mailboxes of several, and web pages saved as MHTML."""

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from indexer.extract.encodings import decode, nul_encoding
from indexer.extract.kinds import KINDS
from indexer.extract.mail import flowed, mailbox, signed
from indexer.extract.mail.letter import BODY, Letter, attachment_name, letter_reading
from indexer.extract.mail.mime import Part, parts_of
from indexer.extract.mail.mime_fields import MOST_BYTES, Fields
from indexer.extract.members import Members
from indexer.extract.types import Block, Buffer, Limits, Reading, Request

_HEAD = 4096
_WIDE_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_MESSAGES = frozenset({"message/rfc822", "message/global", "message/news"})
_SIGNATURES = signed.SIGNATURES | {"application/pgp-encrypted"}  # a version number beside what is encrypted
_READ_OF_HEAD = ("from", "to", "cc", "bcc", "subject")
_DECORATION = re.compile(r"text/(?:css|javascript)|application/(?:x-)?(?:javascript|font.*)|font/.*|image/svg.*")
_PGP = re.compile(rb"-----BEGIN PGP MESSAGE-----.*?(?:-----END PGP MESSAGE-----|\Z)", re.DOTALL)


def read(content: Buffer, request: Request) -> Reading:
    """A block of the head, the body, and every attachment as a member; facts: from, to, cc, date, subject, title.

    A mailbox of several messages has them as members.
    """
    data, transcoded = _in_ascii_lines(bytes(content))
    messages = mailbox.messages(data)
    if messages is None:
        return _message(data, request, transcoded=transcoded)
    _refuse_more(len(messages), request.limits, "The mailbox has too many messages")
    members = Members(request)
    for number, message in enumerate(messages, start=1):
        members.read(f"message {number}", message, "message/rfc822")
    return Reading(members.blocks, {}, truncated=members.truncated, partial=members.partial)


def _in_ascii_lines(data: bytes) -> tuple[bytes, bool]:
    """The message with line ends that can be found, and whether its text had to be turned into UTF-8 for that."""
    wide = _WIDE_MARKS.get(data[:2]) or nul_encoding(data[:_HEAD])
    if wide:
        data = data.decode(wide, "replace").encode("utf-8", "replace")
    data = data.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    return data if b"\n" in data else data.replace(b"\r", b"\n"), bool(wide)


def _refuse_more(count: int, limits: Limits, sentence: str) -> None:
    if count > limits.members:
        raise limits.exceeded("members", sentence)


def _message(data: bytes, request: Request, *, transcoded: bool) -> Reading:
    fields, walk = parts_of(data)
    parts = list(islice(walk, request.limits.members + 1))
    _refuse_more(len(parts), request.limits, "The message has too many parts")
    message = _Message(request, transcoded=transcoded)
    for name in filter(fields.is_too_long, _READ_OF_HEAD):
        message.members.fail(f"the field {name.title()}", f"only its first {MOST_BYTES:,} bytes were read")
    message.read_body(parts)
    message.read_attachments(parts)
    return letter_reading(_letter(fields), message.body, message.attached, message.members)


def _letter(fields: Fields) -> Letter:
    return Letter(
        sender=fields.words("from"),
        to=fields.words("to"),
        cc=fields.words("cc"),
        bcc=fields.words("bcc"),
        date=fields.words("date"),
        moment=fields.moment(),
        subject=fields.words("subject"),
    )


class _Message:
    """Chooses among the parts what is the body and what is attached."""

    def __init__(self, request: Request, *, transcoded: bool) -> None:
        self.body: list[Block] = []
        self.attached: list[str] = []
        self.members = Members(request)
        self._request = request
        self._transcoded = transcoded
        self._told: set[int] = set()

    def read_body(self, parts: Iterable[Part]) -> None:
        """The words of the plain text; of a page where there is no plain text, or it is empty."""
        shown = [part for part in parts if _is_shown(part)]
        spoken: set[int] = set()
        found: dict[int, list[Block]] = {}
        for place in sorted(range(len(shown)), key=lambda place: shown[place].media_type != "text/plain"):
            part = shown[place]
            if self._request.time_is_up():
                self.members.fail(BODY, "the time was up before all of it was read")
                break
            if part.alternative in spoken:
                continue
            found[place] = self._plain(part) if part.media_type == "text/plain" else self._page(part)
            if part.alternative and _says_something(found[place]):
                self._told.add(part.alternative)
                if part.media_type == "text/plain":
                    spoken.add(part.alternative)
        self.body = [block for _, blocks in sorted(found.items()) for block in blocks]

    def read_attachments(self, parts: Iterable[Part]) -> None:
        """All that is not the body; what only adorns or signs it is left out."""
        for part in parts:
            if _is_shown(part) or part.media_type in _SIGNATURES or _is_decoration(part):
                continue
            if part.inside == "alternative" and part.alternative in self._told and not part.filename:
                continue  # the same once more, as an invitation for calendars
            self._attachment(part)

    def _plain(self, part: Part) -> list[Block]:
        content = part.content()
        if b"-----BEGIN PGP MESSAGE-----" in content:
            content = _PGP.sub(b"", content)
            self.members.fail(BODY, "it is encrypted")
        text = decode(content, self._charset(part), self._request.encoding).text.replace("\r\n", "\n")
        if part.parameters.get("format", "").lower() == "flowed":
            text = flowed.unfolded(text, without_space=part.parameters.get("delsp", "").lower() == "yes")
        return [Block(f"{text.strip()}\n\n")] if text.strip() else []

    def _page(self, part: Part) -> list[Block]:
        charset = self._charset(part)
        declared = f"text/html; charset={charset}" if charset else "text/html"
        found = KINDS["html"].read_inside(part.content(), replace(self._request, declared_media_type=declared))
        self.members.truncated = self.members.truncated or found.truncated
        return found.blocks

    def _charset(self, part: Part) -> str:
        packed = part.fields.text("content-transfer-encoding").lower() in {"base64", "quoted-printable"}
        return part.parameters.get("charset", "") if packed or not self._transcoded else "utf-8"

    def _attachment(self, part: Part) -> None:
        content = part.content()
        if part.media_type in signed.WRAPPED:
            signed.read_wrapped(content, self.members)
            return
        if part.inside == "encrypted":
            self.members.fail(BODY, "it is encrypted")
            return
        if _is_adornment(part):
            self.members.read(attachment_name(part.filename, 0), content, part.media_type, quietly=True)
            return
        name = attachment_name(part.filename or _subject(part, content), len(self.attached) + 1)
        self.attached.append(name)
        charset = f"; charset={self._charset(part)}" if self._charset(part) else ""
        media_type = "message/rfc822" if part.media_type in _MESSAGES else f"{part.media_type}{charset}"
        self.members.read(name, content, media_type)


def _subject(part: Part, content: bytes) -> str:
    """What people know a message inside by, which has a file name in the rarest case; '' of anything else."""
    return parts_of(content)[0].words("subject").replace("/", "-") if part.media_type in _MESSAGES else ""


def _is_shown(part: Part) -> bool:
    is_text = part.media_type in {"text/plain", "text/html"}
    return is_text and part.disposition != "attachment" and not part.filename and part.inside != "encrypted"


def _is_decoration(part: Part) -> bool:
    return part.inside == "related" and _DECORATION.fullmatch(part.media_type) is not None


def _is_adornment(part: Part) -> bool:
    """A picture that stands in the text, such as the logo in everybody's signature."""
    is_inline = part.disposition == "inline" or part.inside == "related" or bool(part.fields.text("content-id"))
    return part.media_type.startswith("image/") and is_inline and part.disposition != "attachment"


def _says_something(blocks: Iterable[Block]) -> bool:
    return any(block.text and not block.text.isspace() for block in blocks)
