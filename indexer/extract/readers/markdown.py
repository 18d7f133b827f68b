"""Markdown: the words without the marks, each section under its heading."""

from markdown_it import MarkdownIt
from markdown_it.token import Token

from indexer.extract.headings import Outline
from indexer.extract.readers import text as plain
from indexer.extract.types import Block, Buffer, Fact, Reading, Request

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
    source = _without_front_matter(whole.blocks[0].text)
    blocks: list[Block] = []
    lines: list[str] = []
    outline = Outline()
    title: str | None = None
    heading: str | None = None
    tokens = MarkdownIt("commonmark").enable("table").parse(source)
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type == "heading_open":
            _close(blocks, lines, heading)
        elif before is not None and before.type == "heading_open":
            words = _inline(token)
            title = title or words
            heading = outline.enter(int(before.tag[1]), words)
            lines.append(f"{words}\n\n")
        else:
            lines.append(_words(token))
    _close(blocks, lines, heading)
    facts: dict[str, Fact] = dict(whole.facts)
    if title:
        facts["title"] = title
    return Reading(blocks, facts)


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
        case "text" | "code_inline" | "image":
            return token.content
        case "softbreak" | "hardbreak":
            return "\n"
        case _:
            return ""
