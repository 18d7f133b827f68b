"""The list behind `make prove` follows the code."""

import pytest

from tests.prove import GUARDS, ROOT, Guard


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_a_guard_stands_where_the_list_says(guard: Guard) -> None:
    assert (ROOT / guard.file).read_text().count(guard.code) == 1
    assert list(ROOT.glob(guard.tests)), "the named test exists"
