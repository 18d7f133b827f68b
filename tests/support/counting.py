"""A worker of a test that remembers what it extracted."""

from concurrent.futures import Future

from indexer.attempt import Indexer
from indexer.extract import Extraction, Kind, Request
from indexer.extract.isolation.pool import ExtractionPool
from pipeline.holding import Holding
from pipeline.settings import Extract, Settings
from tests.support.indexing import Library


class CountingPool(ExtractionPool):
    """A pool that remembers what it was given."""

    def __init__(self, settings: Extract) -> None:
        super().__init__(settings)
        self.asked: list[str] = []

    def submit(self, request: Request, kind: Kind | None = None, *, crashed_before: bool = False) -> Future[Extraction]:
        self.asked.append(request.filename)
        return super().submit(request, kind, crashed_before=crashed_before)

    def taken(self) -> list[str]:
        """What was extracted since somebody last asked."""
        asked, self.asked = sorted(self.asked), []
        return asked


def deliver(library: Library, pool: CountingPool, settings: Settings | None = None) -> None:
    """Does all that waits, as a worker."""
    indexer = Indexer(
        engine=library.world.engine,
        backend=library.backend,
        pool=pool,
        holding=Holding(attempt_seconds=600),
        worker_id=1,
        settings=settings or library.world.settings,
    )
    for delivery in library.world.relay():
        indexer.deliver(delivery.jobs)
