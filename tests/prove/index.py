"""What keeps the index as the database says."""

from tests.prove.guard import Guard

GUARDS = (
    Guard(
        "version in the engine",
        "indexer/search/opensearch/bulk.py",
        """"_id":"{self.document_id}",'
            f'"version":{self.version},"version_type":"external_gte"}}}}'""",
        """"_id":"{self.document_id}"}}}}'""",
        "tests/integration/engine/test_node.py::test_a_repeat_is_written_and_an_older_version_is_refused",
    ),
    Guard(
        "no index by accident",
        "indexer/search/opensearch/bulk.py",
        "require_alias=True, ",
        "",
        "tests/integration/engine/test_node.py::test_an_index_that_was_wiped_is_not_made_anew",
    ),
    Guard(
        "removed meanwhile",
        "indexer/search/opensearch/reading.py",
        "id=document_id, **guard)",
        "id=document_id)",
        "tests/integration/engine/test_node.py::test_an_entry_that_changes_meanwhile_is_not_removed",
    ),
    Guard(
        "remembered deletes",
        "indexer/search/opensearch/bulk.py",
        "if found.get(document, 0) <= newest[document].version:",
        "if found.get(document, 0) < 0:",
        "tests/integration/engine/test_answers.py::test_a_conflict_with_an_entry_that_was_removed_is_tried_again_later",
    ),
    Guard(
        "giants",
        "indexer/search/opensearch/bulk.py",
        "return len(items) == 1 and",
        "return len(items) == 0 and",
        "tests/integration/engine/test_sizes.py::test_trouble_with_a_giant_alone_is_its_own",
    ),
    Guard(
        "read-only",
        "indexer/search/opensearch/verdicts.py",
        "if kind in _OF_THE_INDEX or",
        "if",
        "tests/integration/engine/test_answers.py::test_an_index_that_takes_nothing_pauses_publishing",
    ),
    Guard(
        "one layer of retries",
        "indexer/search/opensearch/connection.py",
        "max_retries=0,",
        "max_retries=2,",
        "tests/integration/engine/test_answers.py::test_a_call_without_answers_gives_back_what_it_did_not_answer",
    ),
    Guard(
        "generation of refills",
        "pipeline/queries/finish_refills_if_held.sql",
        "AND r.generation = e.generation AND e.state <> 'done'",
        "AND e.state <> 'done'",
        "tests/integration/index/test_rebuild.py::test_a_holder_that_lost_its_refill_ends_nothing",
    ),
    Guard(
        "attempts that do not know of a new index",
        "indexer/rebuilding.py",
        "        if not indexes.is_settled(connection, build.epoch):\n            return None\n        total",
        "        total",
        "tests/integration/index/test_rebuild.py::test_the_refill_waits_for_attempts_that_do_not_know_of_the_new_index",
    ),
    Guard(
        "drift is looked at twice",
        "indexer/verifying.py",
        "if before.get(one) != fact or _is_in_flight(fact, entry):",
        "if False:",
        "tests/integration/index/test_verify.py::test_what_is_published_but_not_finished_is_in_flight",
    ),
    Guard(
        "no purge beside a build",
        "pipeline/queries/purgeable_tombstones.sql",
        "  AND NOT EXISTS (SELECT FROM builds WHERE finished_at IS NULL)\n",
        "",
        "tests/integration/index/test_rebuild.py::test_a_tombstone_is_not_purged_while_it_is_being_refilled",
    ),
)
