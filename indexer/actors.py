"""The Dramatiq side of a worker: one actor, a queue per partition, and a stop that burns no attempt.

The actor never raises: an exception would be acknowledged and gone. What it cannot finish it leaves leased, and the
sweeper finds it.
"""

import threading

import dramatiq
from dramatiq.worker import Worker
from sqlalchemy.exc import DBAPIError

from indexer.attempt import Indexer
from pipeline import events
from pipeline.broker import ACTOR, job_ids
from pipeline.database import reason
from pipeline.holding import Holding
from pipeline.settings import Settings
from pipeline.waking import WakingBroker

HAND_BACK_SECONDS = 2
"""What the hand-back gets of the grace period."""


class DeliveryWorker:
    """Consumes the queues of some partitions with a few threads."""

    def __init__(self, broker: WakingBroker, indexer: Indexer, holding: Holding, settings: Settings) -> None:
        self._broker = broker
        self._indexer = indexer
        self._holding = holding
        self._settings = settings
        dramatiq.actor(actor_name=ACTOR, queue_name=broker.wanted_queues[0], broker=broker)(self._deliver)
        self._worker = Worker(
            broker, queues=set(broker.wanted_queues), worker_threads=settings.worker.threads, worker_timeout=500
        )
        self._worker.queue_prefetch = 1

    def start(self) -> None:
        """Starts the consumers and the threads."""
        self._worker.start()
        for queue in self._broker.wanted_queues:
            self._broker.declare_queue(queue)
        self._broker.listen()

    def stop(self) -> None:
        """Takes nothing more, lets running work finish within the grace period, and hands the rest back."""
        self._broker.stopping.set()
        self._broker.wake_all()
        stopper = threading.Thread(target=self._worker.stop, name="stopper", daemon=True)
        stopper.start()
        stopper.join(self._settings.worker.stop_grace_seconds - HAND_BACK_SECONDS)
        try:
            self._indexer.hand_back(self._holding.all())
        except DBAPIError as error:
            events.emit("database.unavailable", loop="hand back", error=reason(error))

    def _deliver(self, delivery_id: str = "", jobs: object = None, **_unknown: object) -> None:
        with events.context(delivery=delivery_id):
            try:
                self._indexer.deliver(job_ids(jobs))
            except ValueError as error:
                events.emit("delivery.malformed", error=str(error))
            except Exception as error:  # noqa: BLE001 - see the module's docstring
                events.emit("attempt.failed", error=repr(error), exc_info=error)
