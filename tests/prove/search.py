"""What keeps searches right and small."""

from tests.prove.guard import Guard

GUARDS = (
    Guard(
        "few rows",
        "indexer/search/rows.py",
        "mixed = members > MOST_ROWS // 2",
        "mixed = False",
        "tests/unit/search/test_rows.py::test_rows_are_few_however_members_and_text_are_spread",
    ),
    Guard(
        "collections",
        "indexer/search/scope.py",
        "None if request.collections is None else",
        "None if True else",
        "tests/integration/search/test_filters.py::test_another_collection_is_seen_in_no_part_of_the_answer",
    ),
    Guard(
        "collections in the engine",
        "indexer/search/opensearch/queries.py",
        "if scope.collection_ids is not None:",
        "if scope.collection_ids:",
        "tests/integration/search/test_filters.py::test_a_collection_that_is_not_there_has_no_documents",
    ),
    Guard(
        "all words first",
        "indexer/search/opensearch/queries.py",
        "COMPLETE_BOOST = 100",
        "COMPLETE_BOOST = 0",
        "tests/integration/search/test_queries.py::test_the_words_may_be_on_different_pages",
    ),
    Guard(
        "point in time",
        "indexer/search/opensearch/searching.py",
        "if cursor.point is not None:",
        "if cursor.point == cursor:",
        "tests/integration/search/test_paging.py::test_documents_added_meanwhile_disturb_no_order",
    ),
    Guard(
        "lost points in time",
        "indexer/search/opensearch/searching.py",
        "if not isinstance(error.status_code, int) or error.status_code in _FULL:",
        "if error is not None:",
        "tests/integration/search/opensearch/test_points.py::test_paging_goes_on_when_the_point_has_expired",
    ),
    Guard(
        "bounded points in time",
        "indexer/search/opensearch/points.py",
        "now - self._opened[0] < KEPT_SECONDS",
        "now < self._opened[0]",
        "tests/integration/search/opensearch/test_points.py::test_a_process_opens_a_bounded_number_of_points",
    ),
    Guard(
        "bounded exclusions",
        "indexer/search/query.py",
        "MOST_EXCLUDED = 100",
        "MOST_EXCLUDED = 650",
        "tests/integration/search/test_large_queries.py::test_a_query_at_the_limits_is_answered",
    ),
    Guard(
        "bounded alternatives",
        "indexer/search/terms.py",
        "[telling[0][:MOST_TERMS]]",
        "telling[:1]",
        "tests/integration/search/test_large_queries.py::test_a_query_at_the_limits_is_answered",
    ),
)
