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
        "index: nothing is leased",
        "pipeline/queries/lease.sql",
        "AND NOT EXISTS (SELECT FROM breakers WHERE name = 'index')",
        "",
        "tests/integration/test_index_outage.py",
    ),
    Guard(
        "index: nothing is sent",
        "pipeline/queries/claim_outbox.sql",
        "WHERE NOT EXISTS (SELECT FROM breakers WHERE name = 'index')",
        "",
        "tests/integration/test_index_outage.py",
    ),
    Guard(
        "index: no clock runs",
        "pipeline/queries/finish_if_held.sql",
        "WHEN f.refund AND f.code = 'index_unavailable' THEN j.elapsed_spent",
        "WHEN false THEN j.elapsed_spent",
        "tests/integration/test_index_outage.py",
    ),
    Guard(
        "index: one at a time probes",
        "pipeline/queries/claim_probe.sql",
        " AND probe_at <= clock_timestamp()",
        "",
        "tests/integration/test_index_outage.py",
    ),
    Guard(
        "index: one count a pause",
        "pipeline/queries/trip_breaker.sql",
        "WHERE b.probe_at <= clock_timestamp()",
        "",
        "tests/integration/test_index_outage.py",
    ),
    Guard(
        "index: late probes",
        "pipeline/queries/put_off_probe.sql",
        " AND failures = :failures",
        "",
        "tests/integration/test_index_outage.py",
    ),
    Guard(
        "offered, not yet confirmed",
        "pipeline/queries/send_again.sql",
        "DO UPDATE SET claim = NULL, claimed_until = NULL, tries = 0",
        "DO NOTHING",
        "tests/integration/test_index_outage.py",
    ),
    Guard(
        "purge looks again",
        "pipeline/purging.py",
        "gone = [document for document, version in still.items() if version == chosen[document]]",
        "gone = list(chosen)",
        "tests/integration/test_index_outage.py",
    ),
    Guard(
        "version in the engine",
        "indexer/search/opensearch/bulk.py",
        """"_id":"{self.document_id}",'
            f'"version":{self.version},"version_type":"external_gte"}}}}'""",
        """"_id":"{self.document_id}"}}}}'""",
        "tests/integration/engine/test_node.py",
    ),
    Guard(
        "no index by accident",
        "indexer/search/opensearch/bulk.py",
        "require_alias=True, ",
        "",
        "tests/integration/engine/test_node.py",
    ),
    Guard(
        "removed meanwhile",
        "indexer/search/opensearch/reading.py",
        "id=document_id, **guard)",
        "id=document_id)",
        "tests/integration/engine/test_node.py",
    ),
    Guard(
        "remembered deletes",
        "indexer/search/opensearch/bulk.py",
        "if found.get(document, 0) <= newest[document].version:",
        "if found.get(document, 0) < 0:",
        "tests/integration/engine/test_answers.py",
    ),
    Guard(
        "giants",
        "indexer/search/opensearch/bulk.py",
        "return len(items) == 1 and",
        "return len(items) == 0 and",
        "tests/integration/engine/test_sizes.py",
    ),
    Guard(
        "read-only",
        "indexer/search/opensearch/verdicts.py",
        "if kind in _OF_THE_INDEX or",
        "if",
        "tests/integration/engine/test_answers.py",
    ),
    Guard(
        "one layer of retries",
        "indexer/search/opensearch/connection.py",
        "max_retries=0,",
        "max_retries=2,",
        "tests/integration/engine/test_answers.py",
    ),
    Guard(
        "few rows",
        "indexer/search/rows.py",
        "mixed = members > MOST_ROWS // 2",
        "mixed = False",
        "tests/unit/search/test_rows.py",
    ),
    Guard(
        "generation of refills",
        "pipeline/queries/finish_refills_if_held.sql",
        "AND r.generation = e.generation AND e.state <> 'done'",
        "AND e.state <> 'done'",
        "tests/integration/index/test_rebuild.py",
    ),
    Guard(
        "attempts that do not know of a new index",
        "indexer/rebuilding.py",
        "        if not indexes.is_settled(connection, build.epoch):\n            return None\n        total",
        "        total",
        "tests/integration/index/test_rebuild.py",
    ),
    Guard(
        "drift is looked at twice",
        "indexer/verifying.py",
        "if before.get(one) != fact or _is_in_flight(fact, entry):",
        "if False:",
        "tests/integration/index/test_verify.py",
    ),
    Guard(
        "no purge beside a build",
        "pipeline/queries/purgeable_tombstones.sql",
        "  AND NOT EXISTS (SELECT FROM builds WHERE finished_at IS NULL)\n",
        "",
        "tests/integration/index/test_rebuild.py",
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
    Guard(
        "collections",
        "indexer/search/scope.py",
        "None if request.collections is None else",
        "None if True else",
        "tests/integration/search/test_filters.py",
    ),
    Guard(
        "collections in the engine",
        "indexer/search/opensearch/queries.py",
        "if scope.collection_ids is not None:",
        "if scope.collection_ids:",
        "tests/integration/search/test_filters.py",
    ),
    Guard(
        "all words first",
        "indexer/search/opensearch/queries.py",
        "COMPLETE_BOOST = 100",
        "COMPLETE_BOOST = 0",
        "tests/integration/search/test_queries.py",
    ),
    Guard(
        "point in time",
        "indexer/search/opensearch/searching.py",
        "if cursor.point is not None:",
        "if cursor.point == cursor:",
        "tests/integration/search/test_paging.py",
    ),
    Guard(
        "lost points in time",
        "indexer/search/opensearch/searching.py",
        "if not isinstance(error.status_code, int) or error.status_code in _FULL:",
        "if error is not None:",
        "tests/integration/search/opensearch",
    ),
    Guard(
        "bounded points in time",
        "indexer/search/opensearch/points.py",
        "now - self._opened[0] < KEPT_SECONDS",
        "now < self._opened[0]",
        "tests/integration/search/opensearch",
    ),
    Guard(
        "bounded exclusions",
        "indexer/search/query.py",
        "MOST_EXCLUDED = 100",
        "MOST_EXCLUDED = 650",
        "tests/integration/search/test_large_queries.py",
    ),
    Guard(
        "bounded alternatives",
        "indexer/search/terms.py",
        "[telling[0][:MOST_TERMS]]",
        "telling[:1]",
        "tests/integration/search/test_large_queries.py",
    ),
    Guard(
        "readers are locked in",
        "indexer/extract/isolation/child.py",
        "    sandbox.enter(scratch, forks=terms.forks)\n",
        "",
        "tests/integration/test_odd_readers.py",
    ),
    Guard(
        "Landlock",
        "indexer/extract/isolation/sandbox.py",
        "_succeed(_LIBC.syscall(_RESTRICT_SELF, rules, 0))",
        "pass",
        "tests/integration/test_sandbox.py",
    ),
    Guard(
        "signals stay inside",
        "indexer/extract/isolation/sandbox.py",
        "if version >= _SCOPE_SINCE else 0",
        "if False else 0",
        "tests/integration/test_sandbox.py",
    ),
    Guard(
        "shut system calls",
        "indexer/extract/isolation/syscalls.py",
        'then="refuse") for number in numbers',
        'then="allow") for number in numbers',
        "tests/integration/test_sandbox.py",
    ),
    Guard(
        "programs die with their child",
        "indexer/extract/isolation/forkserver.py",
        "os.killpg(pid, signal.SIGKILL)",
        "os.kill(pid, signal.SIGKILL)",
        "tests/integration/test_odd_readers.py",
    ),
    Guard(
        "memory of a child",
        "indexer/extract/isolation/child.py",
        "resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))",
        "pass",
        "tests/integration/test_extraction_pool.py",
    ),
    Guard(
        "answers have an end",
        "indexer/extract/isolation/wire.py",
        "    if length > most:\n        raise TooLongError\n",
        "",
        "tests/integration/test_odd_readers.py",
    ),
    Guard(
        "answers are a stranger's",
        "indexer/extract/isolation/wire.py",
        "    return clean_text(value)\n",
        "    return value\n",
        "tests/integration/test_odd_readers.py",
    ),
    Guard(
        "a first crash may be chance",
        "indexer/extract/isolation/pool.py",
        "if may_be_chance or not is_another or not goes_on:",
        "if not is_another or not goes_on:",
        "tests/integration/test_left_out_members.py",
    ),
    Guard(
        "readings come to an end",
        "indexer/extract/isolation/pool.py",
        "len(left_out) < _MOST_LEFT_OUT and time.monotonic() < until",
        "True",
        "tests/integration/test_left_out_members.py",
    ),
    Guard(
        "children share nothing with each other",
        "indexer/extract/isolation/forkserver.py",
        "            other.shared.close()\n",
        "            pass\n",
        "tests/integration/test_left_out_members.py",
    ),
    Guard(
        "what was left out is read again",
        "indexer/results.py",
        "self.incomplete_since is None or accepted_at <= self.incomplete_since",
        "True",
        "tests/integration/test_members_read_again.py",
    ),
    Guard(
        "result key: limits",
        "indexer/extract/extraction.py",
        "(*astuple(limits), *(astuple",
        "(limits.characters, *(astuple",
        "tests/unit/extract/test_samples.py",
    ),
    Guard(
        "result key: recognition",
        "indexer/extract/extraction.py",
        "astuple(request.ocr) if request.ocr else ()",
        "()",
        "tests/unit/extract/test_samples.py",
    ),
    Guard(
        "result key: encoding",
        "indexer/extract/extraction.py",
        "(kind.name, encoding, *more)",
        "(kind.name, *more)",
        "tests/unit/extract/test_samples.py",
    ),
    Guard(
        "result key: members",
        "indexer/results.py",
        "AND (string_to_array(r.extractor, '+'))[2:] <@ CAST(:inside AS text[])",
        "AND CAST(:inside AS text[]) IS NOT NULL",
        "tests/integration/test_result_reuse.py",
    ),
    Guard(
        "outdated by its settings",
        "ingest/outdated.py",
        '!= (row["extractor"], row["fingerprint"])]',
        '[:1] != (row["extractor"],)]',
        "tests/integration/test_result_reuse.py",
    ),
    Guard(
        "outdated by its reader",
        "ingest/outdated.py",
        '!= (row["extractor"], row["fingerprint"])]',
        '[1:] != (row["fingerprint"],)]',
        "tests/integration/test_result_reuse.py",
    ),
    Guard(
        "outdated but waiting",
        "ingest/outdated.py",
        'if not row["is_waiting"]]',
        "if row]",
        "tests/integration/test_result_reuse.py",
    ),
    Guard(
        "flaw of the published",
        "pipeline/queries/finish_if_held.sql",
        "text_flaw = CASE\n            WHEN f.state = 'succeeded'\n",
        "text_flaw = CASE\n            WHEN true\n",
        "tests/integration/front_door/test_reading.py",
    ),
    Guard(
        "number of members",
        "indexer/extract/archive.py",
        "        if count > left:\n",
        "        if count < 0:\n",
        "tests/unit/extract/test_members.py",
    ),
    Guard(
        "members of the whole",
        "indexer/extract/archive.py",
        "        self._spent.members += count\n",
        "",
        "tests/unit/extract/test_members.py",
    ),
    Guard(
        "bytes of the whole",
        "indexer/extract/archive.py",
        "self._spent.inflated_bytes += len(piece)",
        "pass",
        "tests/unit/extract/test_members.py",
    ),
    Guard(
        "bytes of a member",
        "indexer/extract/archive.py",
        "if size > self._limits.member_bytes:",
        "if size < 0:",
        "tests/unit/extract/test_zip_file.py",
    ),
    Guard(
        "bombs",
        "indexer/extract/archive.py",
        "if size > _SMALL and size > self._limits.ratio * info.compress_size:",
        "if size < 0:",
        "tests/unit/extract/test_docx.py",
    ),
    Guard(
        "members that overlap",
        "indexer/extract/archive.py",
        "        self._refuse_overlaps()\n",
        "",
        "tests/unit/extract/test_zip_file.py",
    ),
    Guard(
        "depth of members",
        "indexer/extract/members.py",
        "if request.depth > request.limits.depth:",
        "if request.depth > 90:",
        "tests/unit/extract/test_members.py",
    ),
    Guard(
        "the rest is named",
        "indexer/extract/members.py",
        "if request.time_is_up():",
        "if request.depth < 0:",
        "tests/unit/extract/test_members.py",
    ),
    Guard(
        "what fails is named",
        "indexer/extract/members.py",
        "            self.partial += failed\n",
        "            pass\n",
        "tests/unit/extract/test_members.py",
    ),
    Guard(
        "what fails harms no other",
        "indexer/extract/members.py",
        "except Exception as error:  # noqa: BLE001 - whatever it is, it is this member's",
        "except EOFError as error:",
        "tests/unit/extract/test_members.py",
    ),
    Guard(
        "names come to an end",
        "indexer/extract/extraction.py",
        "for name in reading.partial[:_NAMED]]",
        "for name in reading.partial]",
        "tests/unit/extract/test_members.py",
    ),
    Guard(
        "entities of XML",
        "indexer/extract/markup.py",
        "    parser.EntityDeclHandler = refuse\n",
        "",
        "tests/unit/extract",
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
