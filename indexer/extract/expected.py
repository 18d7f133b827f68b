"""Under which key a stored result would be stored today, so that those of earlier readers and settings can be told."""

from collections.abc import Callable
from functools import lru_cache

from indexer.extract.allowance import limits, ocr_as_set
from indexer.extract.extraction import extractor, fingerprint
from indexer.extract.kinds import KINDS
from indexer.extract.sniff import versions_inside
from indexer.extract.types import Request
from pipeline.settings import Extract

GONE = "nothing"
"""In the place of a reader inside that there is no more."""
LEFT_OUT = "left"
"""In the place of a reader inside, with a digest: members were left out. It is never outdated by itself."""
_REMEMBERED = 1000


def expected_key(settings: Extract) -> Callable[[str, str], tuple[str, str] | None]:
    """What gives today's (extractor, fingerprint) for the extractor of a stored result and its document's encoding.

    None where nothing reads that kind any more.
    """
    request_limits, request_ocr = limits(settings), ocr_as_set(settings)

    @lru_cache(_REMEMBERED)
    def expected(stored: str, encoding: str) -> tuple[str, str] | None:
        own, *inside = stored.split("+")
        kind = KINDS.get(_name(own))
        if kind is None:
            return None
        request = Request(b"", encoding=encoding, limits=request_limits, ocr=request_ocr)
        return "+".join([extractor(kind), *map(_of_today, inside)]), fingerprint(kind, request)

    return expected


def _of_today(version: str) -> str:
    name = _name(version)
    return version if name == LEFT_OUT else versions_inside().get(name, GONE)


def _name(version: str) -> str:
    return version.rpartition("-")[0]
