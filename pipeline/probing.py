"""The probe: tries whether an index in trouble takes writes again, and lets publishing go on when it does.

One process at a time tries, however many run a prober; no transaction is open meanwhile.
"""

from sqlalchemy import Engine, text

from pipeline import breaker, events, indexes
from pipeline.asking import Index
from pipeline.breaker import INDEX
from pipeline.errors import IndexUnavailable
from pipeline.relay import CHANNEL

EVERY_SECONDS = 0.5
LAPSE_SECONDS = 60.0
"""How long a probe may take; then its prober is taken for dead, and somebody else may try."""


class Prober:
    """Closes the breaker of the index."""

    def __init__(self, engine: Engine, index: Index) -> None:
        self._engine = engine
        self._index = index

    def run_once(self) -> float:
        """Probes if it is time; returns the seconds until the next look."""
        with self._engine.begin() as connection:
            failures = breaker.claim_probe(connection, INDEX, lapse_seconds=LAPSE_SECONDS)
            targets = indexes.targets(connection) if failures is not None else ()
        if failures is None:
            return EVERY_SECONDS
        try:
            self._index.probe(targets)
        except IndexUnavailable as error:
            with self._engine.begin() as connection:
                breaker.put_off(connection, INDEX, reason=error.message, failures=failures)
        else:
            self._close()
        return EVERY_SECONDS

    def _close(self) -> None:
        with self._engine.begin() as connection:
            seconds = breaker.close(connection, INDEX)
            connection.execute(text("SELECT pg_notify(:channel, '')"), {"channel": CHANNEL})  # relays wait no longer
        if seconds is not None:
            events.emit("index.recovered", seconds=round(seconds, 1))
