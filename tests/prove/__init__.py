"""`make prove`: removes each guard in turn, in a copy of the tree, and sees the test that is named here go red.

A guard whose removal its test does not notice is not proven; the run then fails. tests/guards/test_prove.py keeps the
lists in step with the code, in every ordinary run.
"""

from tests.prove import access, index, isolation, jobs, reading, results, sandbox, search

GUARDS = (
    *jobs.GUARDS,
    *index.GUARDS,
    *access.GUARDS,
    *search.GUARDS,
    *sandbox.GUARDS,
    *isolation.GUARDS,
    *reading.GUARDS,
    *results.GUARDS,
)
