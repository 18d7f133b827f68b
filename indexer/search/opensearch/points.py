"""Points in time: the state of the index at the first page, so that the next pages are ranked by the same counts.

They are scarce (a node keeps 300) and cost the engine memory, so a process opens a bounded number and only where there
is a next page. Without one, a next page is that of the index as it is then.
"""

import time
from collections import deque
from contextlib import suppress

from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException

from indexer.search.cursor import LONGEST_POINT

KEPT_SECONDS = 120
MOST_OPEN = 64


class Points:
    """Opens and closes points in time of an alias. Thread-safe."""

    def __init__(self, client: OpenSearch, alias: str) -> None:
        self._client = client
        self._alias = alias
        self._opened: deque[float] = deque(maxlen=MOST_OPEN)

    def open(self, preference: str) -> str | None:
        """A new point; None when this process has many already, or the engine gives none that fits into a cursor."""
        now = time.monotonic()
        if len(self._opened) == MOST_OPEN and now - self._opened[0] < KEPT_SECONDS:
            return None
        self._opened.append(now)
        with suppress(OpenSearchException, KeyError):
            opened = self._client.create_pit(
                index=self._alias,
                keep_alive=f"{KEPT_SECONDS}s",
                preference=preference,
                allow_partial_pit_creation=False,
            )
            point = str(opened["pit_id"])
            if len(point) <= LONGEST_POINT:
                return point
            self.close(point)
        return None

    def close(self, point: str) -> None:
        """Frees what the engine keeps for it, or leaves that to the engine's clock."""
        with suppress(OpenSearchException):
            self._client.delete_pit(body={"pit_id": [point]})
