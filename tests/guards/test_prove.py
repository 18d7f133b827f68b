"""The lists behind `make prove` follow the code."""

from collections import Counter
from pathlib import Path

import pytest

from tests.prove import GUARDS
from tests.prove.guard import Guard

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_a_guard_stands_where_the_list_says(guard: Guard) -> None:
    assert (ROOT / guard.file).read_text().count(guard.code) == 1
    file, _, name = guard.test.partition("::")
    assert f"def {name}(" in (ROOT / file).read_text(), "the named test exists"


def test_each_guard_has_a_name_of_its_own() -> None:
    assert not [name for name, count in Counter(guard.name for guard in GUARDS).items() if count > 1]
