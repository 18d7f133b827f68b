"""One composition root per background process: everything is made here, by keyword, and handed down.

A process starts even when its servers are away, waits for them, and ends within its grace period on SIGTERM.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine

from indexer import scratch
from indexer.actors import DeliveryWorker
from indexer.attempt import Indexer
from indexer.extract.pool import ExtractionPool
from indexer.search.backends import backend, inspect
from pipeline import broker, events, faults, logs
from pipeline.broker import Postman
from pipeline.database import connect
from pipeline.errors import BrokerUnavailable
from pipeline.holding import Holding
from pipeline.loop import Loop
from pipeline.processes import Presence
from pipeline.relay import Listener, Relay
from pipeline.settings import Settings, fault, parse_partitions
from pipeline.sweeper import Sweeper
from pipeline.waking import WakingBroker

RETRY_SECONDS = 1.0


def relay(settings: Settings) -> None:
    """Runs a relay until SIGTERM."""
    with _process(settings) as stopping:
        engine = _engine(settings, "relay", size=2)
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
        engine = _engine(settings, "sweeper", size=2)
        presence = Presence(settings, kind="sweeper")
        step = Loop("sweeper", Sweeper(engine, Postman(_broker(settings)), backend(settings), settings).run_once)
        presence.start(stopping)
        step.start()
        stopping.wait()
        step.stop()
        presence.stop()


def worker(settings: Settings) -> None:
    """Runs a worker until SIGTERM; work under way is finished or handed back within the grace period."""
    with _process(settings) as stopping:
        _check_broker(_broker(settings), stopping)
        partitions = parse_partitions(settings.worker.partitions, settings.partitions)
        threads = settings.worker.threads
        engine = _engine(settings, "worker", size=threads + 1)
        holding = Holding(attempt_seconds=settings.budget.attempt_seconds)
        presence = Presence(settings, kind="worker", partitions=partitions, slots=threads, holding=holding)
        presence.start(stopping)
        scratch.remove_left()
        search = backend(settings)
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
            delivery.start()
            stopping.wait()
            delivery.stop()
            presence.stop()


@contextmanager
def _process(settings: Settings) -> Iterator[threading.Event]:
    """The frame of every process: log, armed faults, and an event that SIGTERM and SIGINT set."""
    settings.needs("database_url", "broker_url")
    logs.configure(level=settings.log_level, as_json=settings.log_json)
    if armed := fault():
        faults.arm(*armed)
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


def _engine(settings: Settings, kind: str, *, size: int) -> Engine:
    url = settings.database_url.get_secret_value()
    return connect(url, application=f"fencepost {kind}", size=size, pooled=settings.is_pooled)


def _broker(settings: Settings) -> str:
    return settings.broker_url.get_secret_value()
