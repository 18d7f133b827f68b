"""What is wrong right now: sentences for the top of the overview, each with the rows behind it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pipeline.breaker import INDEX
from pipeline.overview import CAP, Snapshot
from pipeline.wording import clause, counted, duration, moment

OLD_SECONDS = 600.0
"""From here on the oldest queued job is an alarm."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """One thing that a person should look at. `rows` is the page on which they find it; `bad` ones make it red."""

    code: str
    sentence: str
    rows: str
    bad: bool = True


def alarms(counted_all: Snapshot, live: dict[str, Any]) -> list[Alarm]:
    """Everything that is wrong, the worst first."""
    found = [
        *_lost(counted_all),
        *_stopped(counted_all, live),
        *_stuck(live),
        *_index(live),
        *_disagreeing(live),
        *_waiting_for_people(live),
    ]
    return sorted(found, key=lambda alarm: not alarm.bad)


def _lost(counted_all: Snapshot) -> Iterator[Alarm]:
    if difference := counted_all["difference"]:
        yield Alarm("difference", f"Accepted versions and jobs differ by {difference:,}. This must never be.", "/jobs")


def _stopped(counted_all: Snapshot, live: dict[str, Any]) -> Iterator[Alarm]:
    running = live["processes"]
    unread = [p for p in live["partitions"] if not p["workers"]]
    waits = any(p["queued"] or p["sent"] for p in unread)
    if running["worker"] and unread:
        names = ", ".join(str(p["partition"]) for p in unread[:8]) + (" and more" if len(unread) > 8 else "")
        yield Alarm("unread_partitions", f"No worker reads partition {names}.", "/workers")
    elif not running["worker"]:
        yield Alarm("no_worker", "No worker is running.", "/workers", bad=waits or counted_all["unfinished"] > 0)
    for kind, consequence in (("relay", "nothing is sent to the workers"), ("sweeper", "nothing lost is recovered")):
        if not running[kind]:
            yield Alarm(f"no_{kind}", f"No {kind} is running: {consequence}.", "/workers")
    for broken in live["breakers"]:
        since = f"since {moment(broken['opened_at'], broken['opened_at'] + timedelta(seconds=broken['age_seconds']))}"
        if broken["name"] == INDEX:
            sentence = f"Publishing is paused {since}: {clause(broken['reason'])}. Uploads are accepted and wait."
            yield Alarm("index", sentence, "/outbox?all=true")
        else:
            yield Alarm("breaker", f"The {broken['name']} is away {since}: {clause(broken['reason'])}.", "/outbox")


def _stuck(live: dict[str, Any]) -> Iterator[Alarm]:
    if n := len(live["expired_leases"]):
        leases = "1 lease" if n == 1 else f"{n} leases"
        yield Alarm("expired_leases", f"{leases} ran out and nobody has taken the work back yet.", "/jobs?state=leased")
    oldest = live["oldest_queued"]
    if oldest and oldest["age_seconds"] > OLD_SECONDS:
        age = duration(oldest["age_seconds"])
        yield Alarm("oldest_queued", f"The oldest document in the queue waits for {age}.", f"/jobs/{oldest['job_id']}")
    short = live["capacity"]["short_by"]
    if oldest and short and short >= 0.5:  # a rush that is over is no lack
        yield Alarm("capacity", f"More arrives than the workers can do: short by {short:.0f}.", "/workers", bad=False)


def _index(live: dict[str, Any]) -> Iterator[Alarm]:
    """What is wrong with the search index; `live` has it where somebody looked."""
    index = live.get("index")
    if index is None:
        return
    if index["drifted"]:
        entries = f"{index['drifted']:,} {'entries differ' if index['drifted'] > 1 else 'entry differs'}"
        yield Alarm("drift", f"{entries} from the database. Run fencepost index verify --repair.", "/index")
    build = index["build"]
    if build is not None and build["phase"] == "stuck":
        sentence = f"The rebuild is stuck. {build['error']} Run fencepost index rebuild to try again."
        yield Alarm("rebuild_stuck", sentence, "/index")
    elif index["outdated"] and (build is None or build["kind"] != "rebuild"):
        sentence = "The search index was made by another release. Run fencepost index rebuild."
        yield Alarm("index_outdated", sentence, "/index", bad=False)


def _disagreeing(live: dict[str, Any]) -> Iterator[Alarm]:
    """Workers that read with other settings; `live` has a sentence about each where somebody looked."""
    sentences = live.get("disagreements", ())
    if len(sentences) == 1:
        yield Alarm("reading_settings", sentences[0], "/workers", bad=False)
    elif sentences:
        sentence = f"{len(sentences):,} workers read documents with other settings than this server."
        yield Alarm("reading_settings", sentence, "/workers", bad=False)


def _waiting_for_people(live: dict[str, Any]) -> Iterator[Alarm]:
    if n := live["outbox"]["exhausted"]:
        rows = f"{counted(n, CAP)} message{'s' if n > 1 else ''}"
        yield Alarm("exhausted", f"The broker refuses {rows}; each waits for a person to release it.", "/outbox")
    if n := live["quarantined"]:
        rows = f"{counted(n, CAP)} document{'s need' if n > 1 else ' needs'}"
        yield Alarm("quarantined", f"{rows} a person.", "/quarantine", bad=False)
