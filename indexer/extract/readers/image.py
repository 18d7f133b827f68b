"""Pictures (PNG, JPEG, GIF, TIFF, BMP, WebP): their words, where pictures are read at all."""

from indexer.extract.pictures import size
from indexer.extract.pictures.ocr import Recogniser, UnreadableError
from indexer.extract.types import Block, Buffer, Fact, Reading, Request
from pipeline.errors import Permanent


def read(content: Buffer, request: Request) -> Reading:
    """One block per page with words, of which only a TIFF has several; facts: pages, ocr_pages, ocr_languages."""
    if request.ocr is None:
        return Reading([], {"ocr": "off"})
    limits = request.limits
    sizes = size.pages(content, limits.pages + 1)
    if len(sizes) > limits.pages:
        raise limits.exceeded("pages", "The picture has too many pages")
    for width, height in sizes:
        if width * height > limits.pixels:
            raise limits.exceeded("pixels", f"The picture has {width:,} by {height:,} pixels")
    recogniser = Recogniser(request.ocr, request.spent)
    blocks = []
    damaged = []
    picture = bytes(content)
    for number in range(1, len(sizes) + 1):
        if not recogniser.has_time_for(number):
            continue
        try:
            text = recogniser.text(number, picture, number - 1 if len(sizes) > 1 else None)
        except UnreadableError:
            damaged.append(f"page {number}: it is damaged")
            continue
        if text:
            blocks.append(Block(f"{text}\n\n", number))
    if len(damaged) == len(sizes):
        raise Permanent("corrupt", "The picture cannot be decoded.")
    facts: dict[str, Fact] = {"pages": len(sizes), "ocr_pages": recogniser.pages, "ocr_languages": recogniser.languages}
    return Reading(blocks, facts, partial=damaged + recogniser.failed())
