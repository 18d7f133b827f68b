"""HTML read as a stream of tags and words, in time that grows with its length and nothing else.

It follows the tokeniser of the HTML standard where that shows in the words. Where a page is cut off or a quotation mark
is missing, more of it is kept than a browser would show. The parser of the standard library needs 10 seconds for 40 KB
of `a <b c < d`; decision 20 has the measurements.
"""

import re
from html import unescape
from typing import Protocol

_PLAIN_TAG = re.compile(  # as nearly all are written; what fails was looked at no further than to the next `<`
    r"""([^<]*+)<(?:/([a-zA-Z][^\s/><]*+)\s*+|([a-zA-Z][^\s/><]*+)"""
    r"""((?:\s++[^\s/><="']++(?:=(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'<>=/]++(?=[\s>])))?)*+)\s*+(/?))>"""
)
_PLAIN_ATTRIBUTE = re.compile(r"""([^\s=]++)(?:=(?:"([^"]*+)"|'([^']*+)'|(\S++)))?""")
_MARKUP = re.compile(r"<(?=[a-zA-Z/!?])")
_TAG_NAME = re.compile(r"[a-zA-Z][^\s/>]*+")
_BETWEEN = re.compile(r"[\s/]*+")
_ATTRIBUTE_NAME = re.compile(r"[^\s/>][^\s/>=]*+")
_EQUALS = re.compile(r"\s*+=\s*+")
_BARE_VALUE = re.compile(r"[^\s>]*+")
_RAW = frozenset({"script", "style", "xmp", "iframe", "noembed", "noframes"})
_WITH_ENTITIES = frozenset({"title", "textarea"})
_WITH_WORDS_INSIDE = _RAW | _WITH_ENTITIES
_CDATA = "<![CDATA["
_COMMENT_END = re.compile(r"--!?>")
_STRETCH = 1 << 16


class Handler(Protocol):
    """What is done with the tags and words; names are in small letters. It is told `attributes` of these tags only."""

    with_attributes: frozenset[str]

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """A start tag."""

    def end(self, tag: str) -> None:
        """An end tag; the elements of HTML need not have one, nor a start tag."""

    def text(self, text: str) -> None:
        """Words between two tags, with all character references resolved."""

    def pause(self) -> None:
        """Some ten thousand characters have passed. What this raises ends the reading."""


def parse(source: str, handler: Handler) -> None:
    """Reads a page or a piece of one. Any text is HTML: there is nothing to raise."""
    _Tokens(source, handler).read()


def _plain(attributes: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, *values in _PLAIN_ATTRIBUTE.findall(attributes):
        found.setdefault(name.lower(), _resolved("".join(values)))
    return found


def _resolved(text: str) -> str:
    if "&" not in text:
        return text
    try:
        return unescape(text)
    except ValueError:  # the number of a character in thousands of digits
        return text


class _Tokens:
    """The source and a place in it, which only moves on. What was found ahead of it, or not at all, is remembered."""

    def __init__(self, source: str, handler: Handler) -> None:
        self._source = source
        self._handler = handler
        self._found: dict[str, int] = {}
        self._pause_at = _STRETCH

    def read(self) -> None:
        at = 0
        while at < len(self._source):
            at = self._words_and_plain_tags(at)
            sign = self._next_markup(at)
            if sign > at:
                self._handler.text(_resolved(self._source[at:sign]))
            at = self._markup(sign) if sign < len(self._source) else sign
            self._pause_now_and_then(at)

    def _words_and_plain_tags(self, at: int) -> int:
        """Reads as far as the tags need no closer look, which most pages do to their end; returns where that is."""
        source, handler = self._source, self._handler
        start, end, text, with_attributes = handler.start, handler.end, handler.text, handler.with_attributes
        while found := _PLAIN_TAG.match(source, at):
            at = found.end()
            words, ended, tag, attributes, closed = found.groups()
            if words:
                text(_resolved(words))
            if ended:
                end(ended.lower())
            else:
                tag = tag.lower()
                start(tag, _plain(attributes) if tag in with_attributes else {})
                if closed:
                    end(tag)
                elif tag in _WITH_WORDS_INSIDE:
                    at = self._raw(tag, at)
            if at > self._pause_at:
                self._pause_now_and_then(at)
        return at

    def _pause_now_and_then(self, at: int) -> None:
        if at > self._pause_at:
            self._pause_at = at + _STRETCH
            self._handler.pause()

    def _next_markup(self, at: int) -> int:
        """Where the next sign stands that is no word itself; where nothing ends any more, only a comment begins."""
        found = _MARKUP.search(self._source, at)
        sign = found.start() if found else len(self._source)
        if self._find(">", sign) < 0:
            sign = self._find("<!--", sign)
        return sign if sign >= 0 else len(self._source)

    def _find(self, wanted: str, at: int) -> int:
        found = self._found.get(wanted, 0)
        if 0 <= found < at or wanted not in self._found:
            found = self._found[wanted] = self._source.find(wanted, at)
        return found

    def _markup(self, at: int) -> int:
        """Handles what begins with `<` here; returns where it ends."""
        source = self._source
        if source.startswith("<!--", at):
            end = _COMMENT_END.search(source, at + 2)
            return end.end() if end else len(source)
        close = self._find(">", at)
        if source.startswith("</", at):
            return self._end_tag(at, close)
        if source.startswith(_CDATA, at):
            return self._cdata(at, close)
        return close + 1 if source[at + 1] in "!?" else self._start_tag(at)

    def _cdata(self, at: int, close: int) -> int:
        end = self._find("]]>", at)
        if end < 0:
            return close + 1
        self._handler.text(self._source[at + len(_CDATA) : end])
        return end + 3

    def _end_tag(self, at: int, close: int) -> int:
        if name := _TAG_NAME.match(self._source, at + 2):
            self._handler.end(name[0].lower())
        return close + 1

    def _start_tag(self, at: int) -> int:
        name = _TAG_NAME.match(self._source, at + 1)
        tag = name[0].lower() if name else ""
        attributes: dict[str, str] = {}
        at += 1 + len(tag)
        while self._source[at : at + 1] not in {">", ""}:
            at = self._past(_BETWEEN, at)
            if self._source[at : at + 1] not in {">", ""}:
                at = self._attribute(at, attributes)
        self._handler.start(tag, attributes)
        if self._source[at - 1] == "/":
            self._handler.end(tag)
            return at + 1
        return self._raw(tag, at + 1) if tag in _WITH_WORDS_INSIDE else at + 1

    def _attribute(self, at: int, attributes: dict[str, str]) -> int:
        end = self._past(_ATTRIBUTE_NAME, at)
        name, value = self._source[at:end].lower(), ""
        if equals := _EQUALS.match(self._source, end):
            start = equals.end()
            quote = self._source[start : start + 1]
            end = self._find(quote, start + 1) if quote in {'"', "'"} else -1
            if end >= 0:
                value, end = self._source[start + 1 : end], end + 1
            else:
                end = self._past(_BARE_VALUE, start)
                value = self._source[start:end]
        attributes.setdefault(name, _resolved(value))
        return end

    def _raw(self, tag: str, at: int) -> int:
        """The content of an element whose tags are words. A script that does not end goes on to the end of the page."""
        end = self._end_of(tag, at)
        if end < 0 and tag in _WITH_ENTITIES:
            return at
        end = len(self._source) if end < 0 else end
        text = self._source[at:end]
        self._handler.text(_resolved(text) if tag in _WITH_ENTITIES else text)
        return end

    def _end_of(self, tag: str, at: int) -> int:
        mark = f"</{tag}"
        if self._found.get(mark) == -1:
            return -1
        found = re.compile(f"{mark}(?=[\\s/>])", re.IGNORECASE).search(self._source, at)
        self._found[mark] = found.start() if found else -1
        return self._found[mark]

    def _past(self, pattern: re.Pattern[str], at: int) -> int:
        found = pattern.match(self._source, at)
        return found.end() if found else at
