"""Documents that have been read and published with a text of any kind."""

from collections.abc import Sequence
from typing import Any

from indexer import results
from indexer.extract import Extraction, Passage
from pipeline.acceptance import Acceptance
from pipeline.outcomes import Published, TextQuality
from tests.support.world import World

EXTRACTOR = "text-2.1"


def publish(
    world: World, accepted: Acceptance, quality: str = "ok", passages: Sequence[Passage] = (), **facts: Any
) -> None:
    """Ends the version's job as a worker does that has extracted this."""
    (held,) = world.lease(accepted.job_id)
    assert held.sha256 is not None
    key = results.Key(held.sha256, EXTRACTOR, quality)
    extraction = Extraction("text/plain", TextQuality(quality), list(passages), facts)
    with world.engine.begin() as connection:
        results.store(connection, {key: extraction})
        result_id = results.find(connection, [key])[key].result_id
    world.finish(held, Published(result_id))
