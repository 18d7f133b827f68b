"""How many passages there are, how long they are, and which words are common: estimates, refreshed now and then."""

from typing import NamedTuple

from sqlalchemy import Connection, text

from indexer.search import PACKAGE
from pipeline.database import query

SAMPLE = 1500
"""Passages that are looked at; only the logarithm of a frequency matters."""
COMMON = 0.005
"""A word in a smaller share of the passages is rare: its matches are counted when it is asked for."""
STALE_MINUTES = 60


class Statistics(NamedTuple):
    """Of the passages: how many, and how many words one has on average."""

    passages: float
    average_length: float


def statistics(connection: Connection) -> Statistics:
    """The estimates that ranking needs."""
    row = connection.execute(text("SELECT passages, average_length FROM search_statistics")).one()
    return Statistics(max(float(row.passages), 1), float(row.average_length))


def maintain(connection: Connection) -> None:
    """Empties the index's list of pending words and refreshes stale estimates.

    To be called about once a minute in a transaction of its own. Two callers at a time do no harm.
    """
    connection.execute(text("SELECT gin_clean_pending_list('passages_words'), gin_clean_pending_list('entries_words')"))
    claim = {"stale_minutes": STALE_MINUTES, "sample": SAMPLE}
    percent = connection.execute(query("claim_statistics", PACKAGE), claim).scalar()
    if percent is not None:
        fresh = {"percent": percent, "common": COMMON}
        connection.execute(query("refresh_statistics", PACKAGE), fresh)
