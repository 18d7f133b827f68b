"""Messages as Outlook saves them (.msg)."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from indexer.extract.compound import Compound, Storage
from indexer.extract.kinds import KINDS
from indexer.extract.mail import signed
from indexer.extract.mail.letter import BODY, Letter, attachment_name, letter_reading
from indexer.extract.mail.mime import parts_of
from indexer.extract.mail.mime_fields import Fields
from indexer.extract.mail.outlook import FILE_HEADER, INTERNET_CODE_PAGE, MESSAGE_HEADER, Properties
from indexer.extract.mail.packed_rtf import unpacked
from indexer.extract.members import Members
from indexer.extract.sniff import choose_kind
from indexer.extract.types import Block, Buffer, Reading, Request, reason
from pipeline.errors import Permanent

_RECIPIENT, _ATTACHMENT = "__recip_version1.0_", "__attach_version1.0_"
_SUBJECT, _HEADERS, _CLASS = 0x0037, 0x007D, 0x001A
_PLAIN, _PAGE, _RTF = 0x1000, 0x1013, 0x1009
_SENT, _DELIVERED = 0x0039, 0x0E06
_SENDERS = ((0x0042, (0x5D02, 0x0065)), (0x0C1A, (0x5D01, 0x0C1F)))  # the name and the addresses of each
_NAME, _ADDRESSES, _ROLE = 0x3001, (0x39FE, 0x3003), 0x0C15
_SHOWN = {1: 0x0E04, 2: 0x0E03, 3: 0x0E02}  # the names of all recipients of a role
_DATA, _METHOD, _MEDIA_TYPE, _CONTENT_ID, _HIDDEN = 0x3701, 0x3705, 0x370E, 0x3712, 0x7FFE
_FILE_NAMES = (0x3707, 0x3704, 0x3001)
_LINKED = frozenset({2, 3, 4, 7})


def read(content: Buffer, request: Request) -> Reading:
    """A block of the head, the body, and every attachment as a member; facts: from, to, cc, date, subject, title."""
    file = Compound(content)
    return _message(file, file.folder, request, FILE_HEADER)


def _message(file: Compound, storage: Storage, request: Request, header: int) -> Reading:
    properties = Properties(file, storage, request.limits, header)
    members = Members(request)
    body = _body(properties, request, members)
    attached: list[str] = []
    attachments = _folders(storage, _ATTACHMENT)
    if len(attachments) > request.limits.members:
        raise request.limits.exceeded("members", "The message has too many attachments")
    for folder in attachments:
        attachment = Properties(file, folder, request.limits, encoding=properties.encoding)
        _attach(file, attachment, members, attached)
    return letter_reading(_letter(file, storage, properties, request), body, attached, members)


def _folders(storage: Storage, beginning: str) -> list[Storage]:
    """In the order of their numbers, which is that of the message."""
    return [folder for name, folder in sorted(storage.storages.items()) if name.startswith(beginning)]


def _letter(file: Compound, storage: Storage, properties: Properties, request: Request) -> Letter:
    posted = _posted(properties)
    roles: dict[int | None, list[str]] = {}
    for folder in _folders(storage, _RECIPIENT)[: request.limits.members]:
        recipient = Properties(file, folder, request.limits, encoding=properties.encoding)
        roles.setdefault(recipient.integer(_ROLE), []).append(_person(recipient, _NAME, _ADDRESSES))
    to, cc, bcc = (", ".join(roles.get(role, ())) or properties.words(shown) for role, shown in _SHOWN.items())
    moment = properties.moment(_SENT) or properties.moment(_DELIVERED) or posted.moment()
    return Letter(
        sender=next(filter(None, (_person(properties, *ids) for ids in _SENDERS)), posted.words("from")),
        to=to,
        cc=cc,
        bcc=bcc,
        date=f"{moment:%Y-%m-%d %H:%M %Z}".strip() if moment else "",
        moment=moment,
        subject=properties.words(_SUBJECT),
    )


def _posted(properties: Properties) -> Fields:
    """The header of the message as it came by post, if it did."""
    return parts_of(properties.text(_HEADERS).encode("utf-8", "replace"))[0]


def _person(properties: Properties, name: int, addresses: tuple[int, ...]) -> str:
    words = properties.words(name)
    address = next((found for number in addresses if "@" in (found := properties.words(number))), "")
    if not address or address.lower() == words.lower():
        return words or address
    return f"{words} <{address}>" if words else address


def _body(properties: Properties, request: Request, members: Members) -> list[Block]:
    """The plain text, else the page, else the RTF: Outlook makes each of them from the others."""
    for blocks in _bodies(properties, request, members):
        if any(block.text.strip() for block in blocks):
            return blocks
    return []


def _bodies(properties: Properties, request: Request, members: Members) -> Iterator[list[Block]]:
    with suppress(Permanent):  # another of them may be shorter
        yield [Block(properties.text(_PLAIN).replace("\r\n", "\n").strip() + "\n\n")]
    page = properties.binary(_PAGE)
    declared = properties.code_page(INTERNET_CODE_PAGE)
    if not page and (words := properties.text(_PAGE)):
        page, declared = words.encode("utf-8", "replace"), "utf-8"
    media_type = f"text/html; charset={declared}" if declared else ""
    yield _noted(KINDS["html"].read_inside(page, replace(request, declared_media_type=media_type)), members)
    if packed := properties.binary(_RTF):
        try:
            rtf = unpacked(packed, request.limits.member_bytes)
            yield _noted(choose_kind(rtf).read_inside(rtf, request), members)
        except Permanent as refusal:
            members.fail(BODY, reason(refusal))


def _noted(reading: Reading, members: Members) -> list[Block]:
    members.truncated = members.truncated or reading.truncated
    return reading.blocks


def _attach(file: Compound, attachment: Properties, members: Members, attached: list[str]) -> None:
    media_type = attachment.text(_MEDIA_TYPE).lower()
    if media_type in signed.SIGNATURES:
        return
    if media_type in signed.WRAPPED:
        signed.read_wrapped(attachment.binary(_DATA), members)
        return
    name = next(filter(None, map(attachment.words, _FILE_NAMES)), "")
    is_picture_in_text = media_type.startswith("image/") and (attachment.flag(_HIDDEN) or attachment.text(_CONTENT_ID))
    name = attachment_name(name, len(attached) + 1)
    if not is_picture_in_text:
        attached.append(name)
    if attachment.integer(_METHOD) in _LINKED:
        members.fail(name, "it is not in the message, which only says where it was")
    elif message := attachment.storage(_DATA):
        members.read_by(name, lambda inside: _embedded(file, message, inside))
    else:
        media_type = "message/rfc822" if media_type == "multipart/signed" else media_type
        members.read(name, _data(attachment), media_type, quietly=bool(is_picture_in_text))


def _embedded(file: Compound, storage: Storage, request: Request) -> Reading:
    if not any(name.startswith("__substg1.0_") for name in storage.streams):
        raise Permanent("unsupported_format", "This is an object of another program.")
    return _message(file, storage, request, MESSAGE_HEADER)


def _data(attachment: Properties) -> Iterator[bytes]:
    """Read only when it is its turn, and what it raises is the attachment's."""
    yield attachment.binary(_DATA)
