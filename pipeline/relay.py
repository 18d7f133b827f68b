"""The relay: claim due outbox rows ─▶ send them to the broker ─▶ confirm. No network call inside a transaction.

A crash between sending and confirming repeats messages, which harms nobody: a delivery is an offer to lease.
"""

import select
import threading
from collections.abc import Callable

import psycopg
from sqlalchemy import Engine

from pipeline import breaker, events, faults, outbox
from pipeline.breaker import BROKER
from pipeline.broker import MessageRefused, Postman
from pipeline.errors import BrokerUnavailable
from pipeline.faults import Fault
from pipeline.outbox import Delivery
from pipeline.settings import Settings

CHANNEL = "fencepost_outbox"


class Relay:
    """Carries outbox rows to the broker. Any number of relays may run side by side."""

    def __init__(self, engine: Engine, postman: Postman, settings: Settings) -> None:
        self._engine = engine
        self._postman = postman
        self._settings = settings
        self._after_collection = 0
        self._failures = 0
        self._may_be_open = True  # a relay that died may have left the breaker open

    def run_once(self) -> float:
        """One claim and what follows; returns the seconds to wait before the next one.

        After a failure a single row, or a ping, tries whether the broker is back.
        """
        most_rows = 1 if self._failures else outbox.MOST_ROWS
        with self._engine.begin() as connection:
            claim = outbox.claim(
                connection, self._settings, after_collection=self._after_collection, most_rows=most_rows
            )
        started_behind, self._after_collection = self._after_collection > 0, claim.next_collection
        if not claim.deliveries:
            return 0 if started_behind else self._idle()
        faults.reach(Fault.RELAY_AFTER_CLAIM)
        sent, pause = self._send(claim.deliveries)
        faults.reach(Fault.RELAY_AFTER_PUBLISH)
        if sent:
            self._confirm(sent)
        return pause

    def _idle(self) -> float:
        if self._may_be_open:
            try:
                self._postman.ping()
            except BrokerUnavailable as error:
                return self._open_breaker((), error)
            self._close_breaker()
        return self._settings.relay.poll_seconds

    def _send(self, deliveries: tuple[Delivery, ...]) -> tuple[list[Delivery], float]:
        """What the broker took, and the seconds to pause.

        An outage gives the rest back unspent, a refusal costs only its own rows.
        """
        sent: list[Delivery] = []
        for place, delivery in enumerate(deliveries):
            try:
                self._postman.send(delivery)
                sent.append(delivery)
            except MessageRefused as error:
                with self._engine.begin() as connection:
                    outbox.refuse(connection, delivery, self._settings, error=str(error))
                events.emit("outbox.refused", partition=delivery.partition, rows=len(delivery.rows), error=str(error))
            except BrokerUnavailable as error:
                return sent, self._open_breaker(deliveries[place:], error)
        self._close_breaker()
        return sent, 0

    def _confirm(self, sent: list[Delivery]) -> None:
        faults.reach(Fault.RELAY_BEFORE_CONFIRM)
        with self._engine.begin() as connection:
            outbox.confirm(connection, sent)
        events.emit("outbox.relayed", deliveries=len(sent), jobs=sum(len(d.jobs) for d in sent))

    def _open_breaker(self, unsent: tuple[Delivery, ...], error: BrokerUnavailable) -> float:
        self._failures += 1
        self._may_be_open = True
        with self._engine.begin() as connection:
            outbox.give_back(connection, unsent, self._settings, error=error.message)
            breaker.trip(connection, BROKER, reason=error.message)
            pause = breaker.pause(connection, BROKER)
        if self._failures == 1:
            events.emit("broker.unavailable", error=error.message)
        return pause

    def _close_breaker(self) -> None:
        if not self._may_be_open:
            return
        with self._engine.begin() as connection:
            seconds = breaker.close(connection, BROKER)
        if seconds is not None:
            events.emit("broker.recovered", seconds=round(seconds, 1))
        self._failures, self._may_be_open = 0, False


class Listener:
    """Calls `wake` when an intake says that it has committed; polling is the guarantee, this only saves time."""

    def __init__(self, url: str, wake: Callable[[], None]) -> None:
        self._url = url
        self._wake = wake
        self._stopping = threading.Event()

    def start(self) -> None:
        """Listens in a thread of its own."""
        threading.Thread(target=self._listen, name="listener", daemon=True).start()

    def stop(self) -> None:
        """Ends within a second."""
        self._stopping.set()

    def _listen(self) -> None:
        while not self._stopping.is_set():
            try:
                with psycopg.connect(self._url, autocommit=True, connect_timeout=5) as connection:
                    connection.execute(f"LISTEN {CHANNEL}")
                    self._wake()
                    while not self._stopping.is_set():
                        if select.select([connection.fileno()], [], [], 1.0)[0]:
                            for _ in connection.notifies(timeout=0):
                                pass
                            self._wake()
            except psycopg.Error as error:
                events.emit("listener.disconnected", error=str(error).strip())
                self._stopping.wait(1.0)
