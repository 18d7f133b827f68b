"""RTF: words of the body, notes, comments, text boxes and targets of links, then headers and footers.

A pass over the marks, in linear time; decision 20 says what striprtf leaves out. RTF does not say where its pages end,
except where somebody ended one, so pages are approximate.
"""

from indexer.extract.quota import EnoughError
from indexer.extract.rtf.story import Story
from indexer.extract.types import Buffer, Fact, Reading, Request


def read(content: Buffer, request: Request) -> Reading:
    """Blocks by page and section; facts: title, pages (approximate). `partial` says so where the end is missing."""
    story = Story(request)
    truncated = False
    try:
        is_whole = story.read(bytes(content).decode("latin-1"))
    except EnoughError:
        is_whole, truncated = True, True
    blocks = story.finish()
    facts: dict[str, Fact] = {}
    if title := story.title():
        facts["title"] = title
    if story.page > 1:
        facts |= {"pages": story.page, "pages_approximate": True}
    return Reading(blocks, facts, truncated, [] if is_whole else ["the end: it is missing, the file was cut off"])
