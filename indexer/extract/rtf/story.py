"""The words of an RTF file, collected in one pass over its tokens, and the blocks that they make."""

import re
from dataclasses import dataclass, replace

from indexer.extract.headings import Outline
from indexer.extract.quota import Quota
from indexer.extract.rtf.charsets import WESTERN, code_page, font_codec, joined, text_of
from indexer.extract.rtf.tokens import BINARY, BRACE, RUN, SIGN, TEXT, TOKEN, meant, with_bytes
from indexer.extract.rtf.words import (
    AROUND,
    ASIDES,
    BULLET,
    ITSELF,
    OF_SYMBOL_FONTS,
    READ_THOUGH_STARRED,
    SIGNS,
    SYMBOLS,
    UNREAD,
)
from indexer.extract.types import Block, Request

_KEPT = ("body", "aside", "around", "title", "instruction")
_STRETCH = 1 << 16
_LINK = re.compile(r'HYPERLINK\s+"((?:https?|mailto):[^"\s]*)"')
_LONGEST_INSTRUCTION = 4096


@dataclass(frozen=True, slots=True)
class _Group:
    """What holds until the next closing brace. A group that changes nothing shares that of the one around it."""

    into: str = "body"  # one of _KEPT, fonts or nothing
    codec: str = ""
    skip: int = 1
    is_deleted: bool = False


class Story:
    """Collects the words in one pass."""

    def __init__(self, request: Request) -> None:
        self.page = 1
        self._request = request
        self._limits = request.limits
        self._quota = Quota(request.limits.characters)
        self._blocks: list[Block] = []
        self._around: dict[str, None] = {}  # headers and footers repeat, and are kept once
        self._outline = Outline()
        self._heading: str | None = None
        self._level: int | None = None
        self._section: list[str] = []
        self._pieces: dict[str, list[str]] = {into: [] for into in _KEPT}
        self._asides: list[str] = []
        self._group = _Group()
        self._stack: list[_Group] = []
        self._bytes = bytearray()  # those of one character may come in several tokens
        self._to_skip = 0  # what stands beside \u for programs that do not know it
        self._starred = False
        self._code_page = WESTERN
        self._fonts: dict[int, str] = {}
        self._font = 0

    def read(self, source: str) -> bool:
        """Reads the document; returns whether its end is there."""
        at = 0
        was_opened, pause_at = False, _STRETCH
        while found := TOKEN.match(source, at):
            at = found.end()
            kind = found.lastindex
            if kind == RUN:
                for word, number in meant(found[RUN]):
                    self._word(word, number)
            elif kind == TEXT:
                self._text(with_bytes(found[TEXT]))
            elif kind == BRACE and self._is_closed_by(found[BRACE]):
                return True
            elif kind == BINARY:
                at += max(0, int(found[BINARY]))
            elif kind == SIGN:
                self._starred = self._starred or (was_opened and found[SIGN] == "*")
                self._sign(found[SIGN])
            was_opened = kind == BRACE and found[BRACE] == "{"
            if at > pause_at:
                pause_at = at + _STRETCH
                self._request.check_time()
        while self._stack:
            self._close()
        return False

    def finish(self) -> list[Block]:
        """All blocks. Where nothing marked a page's end, the pages are unknown."""
        self._end_paragraph()
        self._flush()
        if self.page == 1:
            self._blocks = [Block(block.text, None, None, block.heading) for block in self._blocks]
        return [*self._blocks, *map(Block, self._around)]

    def title(self) -> str:
        """What its properties call it, on one line."""
        return " ".join(joined(self._pieces["title"]).split())

    def _is_closed_by(self, brace: str) -> bool:
        if brace == "{":
            self._decode()
            self._to_skip = 0
            self._starred = False
            self._stack.append(self._group)
        else:
            self._close()
        return not self._stack

    def _close(self) -> None:
        self._decode()
        self._to_skip = 0
        left, self._group = self._group, self._stack.pop() if self._stack else self._group
        if left.into != self._group.into:
            self._leave(left.into)

    def _leave(self, into: str) -> None:
        """A destination ends: a note, a header or what a field is told to show."""
        if into not in {"aside", "around", "instruction"}:
            return
        text = joined(self._pieces[into]).strip()
        self._pieces[into].clear()
        if into == "instruction":
            link = _LINK.search(text[:_LONGEST_INSTRUCTION])
            self._asides += [link[1]] if link else []
        elif text and into == "aside":
            self._asides.append(text)
        elif text:
            self._around[f"{text}\n\n"] = None

    def _word(self, word: str, number: int | None) -> None:
        self._decode()
        starred, self._starred = self._starred, False
        if word in SIGNS:
            self._sign_of_a_word(SIGNS[word])
            return
        self._to_skip = 0
        match word:
            case "u" if number is not None:
                unit = number & 0xFFFF
                self._put(BULLET if unit in OF_SYMBOL_FONTS else chr(unit))
                self._to_skip = self._group.skip
            case "par" | "sect" | "page":
                self._break(word)
            case "uc":
                self._group = replace(self._group, skip=max(0, number or 0))
            case "f" | "fcharset" | "ansicpg" | "mac" | "pc" | "pca":
                self._encoding(word, number or 0)
            case "deleted" | "plain":
                self._group = replace(self._group, is_deleted=word == "deleted" and number != 0)
            case "pard" | "outlinelevel":
                self._level = number if word == "outlinelevel" else None
            case _:
                self._destination(word, starred=starred)

    def _destination(self, word: str, *, starred: bool) -> None:
        into = self._group.into
        if word == "ud" and len(self._stack) > 1:  # the Unicode half of \upr, whose other half is not read
            into = self._stack[-2].into
        elif word == "title" or (word == "fldinst" and into != "nothing"):
            into = "title" if word == "title" else "instruction"
        elif word == "fonttbl":
            into = "fonts"
        elif word in UNREAD or (starred and word not in READ_THOUGH_STARRED):
            into = "nothing"
        elif into == "body" and (word in ASIDES or word in AROUND):
            into = "aside" if word in ASIDES else "around"
        if into != self._group.into:
            self._group = replace(self._group, into=into)

    def _encoding(self, word: str, number: int) -> None:
        match word:
            case "f" if self._group.into == "fonts":
                self._font = number
            case "f":
                codec = self._fonts.get(number, "")
                if codec != self._group.codec:
                    self._group = replace(self._group, codec=codec)
            case "fcharset":
                self._fonts[self._font] = font_codec(number)
            case _:
                self._code_page = code_page({"mac": 10000, "pc": 437, "pca": 850}.get(word, number))

    def _text(self, text: str) -> None:
        if self._to_skip:
            skipped = min(self._to_skip, len(text))
            self._to_skip -= skipped
            text = text[skipped:]
        if self._group.into in self._pieces:
            self._bytes += text.encode("latin-1")

    def _sign(self, sign: str) -> None:
        if sign in ITSELF:  # perhaps the second byte of a character
            self._text(sign)
            return
        self._decode()
        if sign in "\r\n":
            self._break("par")
        elif sign in SYMBOLS:
            self._sign_of_a_word(SYMBOLS[sign])

    def _sign_of_a_word(self, sign: str) -> None:
        if self._to_skip:
            self._to_skip -= 1
        else:
            self._put(sign)

    def _decode(self) -> None:
        if self._bytes:
            data = bytes(self._bytes)
            self._bytes.clear()
            self._put(text_of(data, self._group.codec, self._code_page))

    def _put(self, text: str) -> None:
        if self._group.is_deleted or self._group.into not in self._pieces:
            return
        self._pieces[self._group.into].append(text)
        self._quota.spend(len(text))

    def _break(self, word: str) -> None:
        if self._group.into != "body":
            self._put("\n")
        elif word == "page":
            self._next_page()
        else:
            self._end_paragraph()

    def _end_paragraph(self) -> None:
        text = joined(self._pieces["body"])
        self._pieces["body"].clear()
        if self._level is not None and text.strip():
            self._flush()
            self._heading = self._outline.enter(self._level, text)
        self._section += [f"{paragraph}\n" for paragraph in (text, *self._asides)]
        self._asides.clear()

    def _next_page(self) -> None:
        self._section.append(f"{joined(self._pieces['body'])}\n")
        self._pieces["body"].clear()
        self._flush()
        self.page += 1
        if self.page > self._limits.pages:
            raise self._limits.exceeded("pages", "The document has too many pages")

    def _flush(self) -> None:
        text = "".join(self._section)
        self._section.clear()
        if text.strip():
            self._blocks.append(Block(text, self.page, None, self._heading))
