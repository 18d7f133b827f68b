"""A short run of `make fuzz`, always the same."""

from tests import fuzz


def test_broken_documents_end_as_text_or_as_a_refusal():
    run = fuzz.Run(seed=5, seconds=120, documents=100)  # it is the number that ends it
    run.run()
    assert run.violations == []
    assert sum(row.documents for row in run.rows.values()) == 100
    assert sum(row.text for row in run.rows.values()) > 0
    assert sum(row.refused for row in run.rows.values()) > 0
