"""Markdown: the words without the marks, each section under its heading."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from indexer.extract.headings import Outline
from indexer.extract.quota import EnoughError, Quota
from indexer.extract.readers import text as plain
from indexer.extract.types import Block, Buffer, Fact, Reading, Request

_TOKENS_AT_ONCE = 1000
_FRONT_MATTER = "---\n"
_CODE = frozenset({"fence", "code_block"})
_AFTER = {
    "td_close": "\t",
    "th_close": "\t",
    "tr_close": "\n",
    "table_close": "\n",
    "bullet_list_close": "\n",
    "ordered_list_close": "\n",
}


def read(content: Buffer, request: Request) -> Reading:
    """One block per section; the first heading is the title. Code and the words of links and images are kept."""
    whole = plain.read(content, request)
    truncated = False
    quota = Quota(request.limits.characters)
    blocks: list[Block] = []
    lines: list[str] = []
    outline = Outline()
    title: str | None = None
    heading: str | None = None
    try:
        for before, token in pairwise(_tokens(_without_front_matter(whole.blocks[0].text), request)):
            if token.type == "heading_open":
                _close(blocks, lines, heading)
            words = _words(token)
            if before.type == "heading_open":
                title = title or words
                heading = outline.enter(int(before.tag[1]), words)
                words += "\n\n"
            lines.append(words)
            quota.spend(len(words))
    except EnoughError:
        truncated = True
    _close(blocks, lines, heading)
    facts: dict[str, Fact] = dict(whole.facts)
    if title:
        facts["title"] = title
    return Reading(blocks, facts, truncated=truncated)


def _tokens(source: str, request: Request) -> Iterator[Token]:
    """The tokens behind one that begins all. Raises OutOfTimeError.

    What is inside a paragraph is taken apart here, one by one: it is more than half of the work.
    """
    parser = MarkdownIt("commonmark").enable("table").disable("inline")
    references: dict[str, Any] = {}
    yield Token("", "", 0)
    for number, token in enumerate(parser.parse(source, references), start=1):
        if number % _TOKENS_AT_ONCE == 0:
            request.check_time()
        if token.type == "inline":
            token.children = []
            parser.inline.parse(token.content, parser, references, token.children)
        yield token


def _without_front_matter(source: str) -> str:
    if not source.startswith(_FRONT_MATTER):
        return source
    end = source.find("\n---\n", len(_FRONT_MATTER) - 1)
    return source if end < 0 else f"{source[len(_FRONT_MATTER) : end]}\n\n{source[end + 5 :]}"


def _close(blocks: list[Block], lines: list[str], heading: str | None) -> None:
    if text := "".join(lines):
        blocks.append(Block(text, heading=heading))
    lines.clear()


def _words(token: Token) -> str:
    if token.type == "inline":
        return _inline(token)
    if token.type in _CODE:
        return f"{token.content}\n"
    if token.type == "paragraph_close":
        return "\n" if token.hidden else "\n\n"
    return _AFTER.get(token.type, "")


def _inline(token: Token) -> str:
    return "".join(_inline_words(child) for child in token.children or [])


def _inline_words(token: Token) -> str:
    match token.type:
        case "text" | "text_special" | "code_inline" | "image":
            return token.content
        case "softbreak" | "hardbreak":
            return "\n"
        case _:
            return ""
