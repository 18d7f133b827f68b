"""One composition root per background process: everything is made here, by keyword, and handed down.

A process starts even when its servers are away, waits for them, and ends within its grace period on SIGTERM.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import Engine

from fencepost.starting import engine_for, prepare
from indexer import scratch
from indexer.actors import DeliveryWorker
from indexer.attempt import Indexer
from indexer.extract.isolation.pool import ExtractionPool
from indexer.extract.isolation.trial import tried_ocr
from indexer.rebuilding import Builder
from indexer.refilling import Refiller
from indexer.search.backend import SearchBackend
from indexer.search.backends import backend, inspect
from pipeline import broker, events, indexes
from pipeline.broker import Postman
from pipeline.database import AWAY
from pipeline.errors import BrokerUnavailable
from pipeline.holding import Holding
from pipeline.loop import Loop
from pipeline.probing import Prober
from pipeline.processes import Presence
from pipeline.purging import Purger
from pipeline.relay import Listener, Relay
from pipeline.settings import Settings, parse_partitions
from pipeline.sweeper import Sweeper
from pipeline.waking import WakingBroker

RETRY_SECONDS = 1.0
STOP_SECONDS = 2.0
"""How long a step may take to end: whatever waits for another server is left, as every step may be repeated."""


def relay(settings: Settings) -> None:
    """Runs a relay until SIGTERM."""
    with _process(settings) as stopping:
        engine = engine_for(settings, "relay", size=2)
        presence = Presence(settings, kind="relay")
        step = Loop("relay", Relay(engine, Postman(_broker(settings)), settings).run_once)
        listener = Listener(settings.direct_url, step.wake)
        presence.start(stopping)
        listener.start()
        step.start()
        stopping.wait()
        listener.stop()
        step.stop()
        presence.stop()


def sweeper(settings: Settings) -> None:
    """Runs a sweeper until SIGTERM."""
    with _process(settings) as stopping:
        engine = engine_for(settings, "sweeper", size=3)
        presence = Presence(settings, kind="sweeper")
        index = backend(settings)
        steps = (
            Loop("sweeper", Sweeper(engine, Postman(_broker(settings)), index, settings).run_once),
            Loop("prober", Prober(engine, index).run_once),
            Loop("builder", Builder(engine, index, settings).run_once),
            Loop("purger", Purger(engine, index, settings).run_once),
        )
        presence.start(stopping)
        for step in steps:
            step.start()
        stopping.wait()
        for step in steps:
            step.stop(timeout=STOP_SECONDS)
        presence.stop()


def worker(settings: Settings) -> None:
    """Runs a worker until SIGTERM; work under way is finished or handed back within the grace period."""
    with _process(settings) as stopping:
        _check_broker(_broker(settings), stopping)
        tried_ocr(settings.extract)  # which says what to install
        partitions = parse_partitions(settings.worker.partitions, settings.partitions)
        threads = settings.worker.threads
        engine = engine_for(settings, "worker", size=threads + settings.refill.threads + 1)
        holding = Holding(attempt_seconds=settings.budget.attempt_seconds)
        presence = Presence(settings, kind="worker", partitions=partitions, slots=threads, holding=holding)
        presence.start(stopping)
        scratch.remove_left()
        search = backend(settings)
        _await_index(engine, search, stopping)
        inspect(search, engine)
        with ExtractionPool(settings.extract) as pool:
            indexer = Indexer(
                engine=engine,
                backend=search,
                pool=pool,
                holding=holding,
                worker_id=presence.process_id,
                settings=settings,
            )
            waking = WakingBroker(_broker(settings), permits=threads, partitions=partitions)
            delivery = DeliveryWorker(waking, indexer, holding, settings)
            refiller = Refiller(engine, search, holding, worker_id=presence.process_id, settings=settings)
            refills = [Loop(f"refill {n + 1}", refiller.run_once) for n in range(settings.refill.threads)]
            delivery.start()
            for refill in refills:
                refill.start()
            stopping.wait()
            for refill in refills:
                refill.stop(timeout=0)
            delivery.stop()
        presence.stop()  # after the children, which would take its processor
        scratch.remove_left()  # of deliveries that were handed back: their threads are not waited for


@contextmanager
def _process(settings: Settings) -> Iterator[threading.Event]:
    """The frame of every process: log, armed faults, and an event that SIGTERM and SIGINT set."""
    settings.needs("database_url", "broker_url")
    prepare(settings)
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    yield stopping
    events.emit("process.stopped")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # threads of Dramatiq that wait for an absent broker shall not hold the process


def _check_broker(url: str, stopping: threading.Event) -> None:
    """Refuses a broker that may drop messages; waits for one that is away."""
    while not stopping.is_set():
        try:
            return broker.check(broker.client(url))
        except BrokerUnavailable as error:
            events.emit("broker.unavailable", error=error.message)
            stopping.wait(RETRY_SECONDS)
    return None


def _await_index(engine: Engine, search: SearchBackend, stopping: threading.Event) -> None:
    """Waits while the live index belongs to another backend than the settings say: nothing could be published to it."""
    said = False
    while not stopping.is_set():
        with suppress(*AWAY), engine.connect() as connection:
            live = indexes.live(connection)
            if live is not None and live.backend == search.kind:
                return
            if not said:
                events.emit("index.elsewhere", index=live.name if live else None, backend=search.kind)
                said = True
        stopping.wait(RETRY_SECONDS)


def _broker(settings: Settings) -> str:
    return settings.broker_url.get_secret_value()
