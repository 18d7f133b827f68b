"""`make prove`: removes each guard in turn, in a copy of the tree, and names the test that goes red.

A guard whose removal no test notices is not proven; the run then fails. tests/guards/test_prove.py keeps the list in
step with the code, in every ordinary run.
"""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.settings import environment

ROOT = Path(__file__).parents[1]
SECONDS = 300


@dataclass(frozen=True)
class Guard:
    """One guard: where it stands, what it is replaced by, and where the test that must miss it is."""

    name: str
    file: str
    code: str
    without: str
    tests: str


GUARDS = (
    Guard(
        "generation",
        "pipeline/queries/finish_if_held.sql",
        "j.generation = e.generation AND j.state = 'leased'",
        "j.state = 'leased'",
        "tests/integration/test_jobs.py",
    ),
    Guard(
        "state",
        "pipeline/queries/finish_if_held.sql",
        "j.generation = e.generation AND j.state = 'leased'",
        "j.generation = e.generation",
        "tests/integration/test_jobs.py",
    ),
    Guard(
        "version condition",
        "indexer/search/queries/upsert_entries.sql",
        "WHERE mine.version <= excluded.version",
        "WHERE true",
        "tests/races/test_races.py",
    ),
    Guard(
        "tombstone",
        "indexer/search/queries/upsert_entries.sql",
        "WHERE mine.version <= excluded.version",
        "WHERE mine.version <= excluded.version OR mine.tombstone",
        "tests/races/test_races.py",
    ),
    Guard(
        "document lock",
        "pipeline/queries/lock_documents.sql",
        "\nFOR NO KEY UPDATE",
        "",
        "tests/races/test_races.py",
    ),
    Guard(
        "SKIP LOCKED",
        "pipeline/queries/lock_documents_free.sql",
        "FOR NO KEY UPDATE SKIP LOCKED",
        "FOR NO KEY UPDATE",
        "tests/races/test_races.py",
    ),
    Guard(
        "SKIP LOCKED of the relay",
        "pipeline/queries/claim_outbox.sql",
        "FOR NO KEY UPDATE OF o, j SKIP LOCKED",
        "",
        "tests/races/test_races.py",
    ),
    Guard(
        "acknowledge last",
        "pipeline/waking.py",
        "        self.queued_message_ids.add(message.message_id)\n",
        '        self.broker.do_ack(self.queue_name, message.options["redis_message_id"])\n',
        "tests/faults/test_worker_faults.py",
    ),
    Guard(
        "window",
        "pipeline/queries/claim_outbox.sql",
        "           :window_jobs - (",
        "           :window_jobs + 1000000 - (",
        "tests/integration/test_relay.py",
    ),
    Guard(
        "breaker",
        "pipeline/queries/unclaim_outbox.sql",
        "CASE WHEN :refused THEN 0 ELSE 1 END",
        "0",
        "tests/integration/test_relay.py",
    ),
    Guard(
        "door",
        "fencepost/http/door.py",
        "        if caller is None:\n",
        "        caller = caller or ANYBODY\n        if caller is None:\n",
        "tests/integration/access/test_door.py",
    ),
    Guard(
        "scope",
        "pipeline/requests.py",
        "        caller.must(self.scope, everywhere=self.everywhere)\n",
        "",
        "tests/integration/access/test_door.py",
    ),
    Guard(
        "collections of a document",
        "pipeline/requests.py",
        "    if caller.visible is not None:\n",
        "    if False:\n",
        "tests/integration/access/test_two_collections.py",
    ),
    Guard(
        "collections of an upload",
        "ingest/intake.py",
        "            self._caller.must_see(submission.collection)\n",
        "            pass\n",
        "tests/integration/access/test_two_collections.py",
    ),
    Guard(
        "collections of a search",
        "indexer/search_routes.py",
        "    return caller.among(",
        "    return (",
        "tests/integration/access/test_two_collections.py",
    ),
)


def main() -> int:
    """Prints one line a guard; returns 1 if some guard is not proven."""
    unproven = 0
    for guard in GUARDS:
        red = removed(guard)
        print(f"{'proven' if red else 'NOT PROVEN':10}  {guard.name:24}  {red or 'no test noticed'}", flush=True)  # noqa: T201 - the result
        unproven += red is None
    return 1 if unproven else 0


def removed(guard: Guard) -> str | None:
    """The first test that fails without the guard, None if none does."""
    with TemporaryDirectory(prefix="fencepost-prove-") as folder:
        tree = Path(folder)
        for name in ("pipeline", "ingest", "indexer", "fencepost", "tests", "pyproject.toml"):
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, tree / name)
        path = tree / guard.file
        code = path.read_text()
        assert code.count(guard.code) == 1, f"{guard.file} does not contain exactly one {guard.code!r}"
        path.write_text(code.replace(guard.code, guard.without))
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", guard.tests],
            cwd=tree,
            env=environment() | {"PYTHONPATH": str(tree)},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    red = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if run.returncode == 1 and red:
        return red[0].split(" - ")[0].removeprefix("FAILED ").removeprefix("ERROR ")
    assert run.returncode == 0, run.stdout + run.stderr
    return None


if __name__ == "__main__":
    sys.exit(main())
