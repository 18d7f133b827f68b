"""What keeps strangers out, and collections apart."""

from tests.prove.guard import Guard

GUARDS = (
    Guard(
        "door",
        "fencepost/http/door.py",
        "        if caller is None:\n",
        "        caller = caller or ANYBODY\n        if caller is None:\n",
        "tests/integration/access/test_door.py::test_nobody_comes_in_without_a_usable_key",
    ),
    Guard(
        "scope",
        "pipeline/requests.py",
        "        caller.must(self.scope, everywhere=self.everywhere)\n",
        "",
        "tests/integration/access/test_door.py::test_a_smaller_scope_is_not_enough",
    ),
    Guard(
        "collections of a document",
        "pipeline/requests.py",
        "    if caller.visible is not None:\n",
        "    if False:\n",
        "tests/integration/access/test_two_collections.py::test_nothing_of_another_collection_is_seen_or_changed",
    ),
    Guard(
        "collections of an upload",
        "ingest/intake.py",
        "            self._caller.must_see(submission.collection)\n",
        "            pass\n",
        "tests/integration/access/test_two_collections.py::test_nothing_of_another_collection_is_seen_or_changed",
    ),
    Guard(
        "collections of a search",
        "indexer/search_routes.py",
        "    return caller.among(",
        "    return (",
        "tests/integration/access/test_two_collections.py::test_nothing_of_another_collection_is_seen_or_changed",
    ),
)
