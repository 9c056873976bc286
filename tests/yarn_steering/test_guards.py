"""The list of guards is about this code and these tests; whether tests notice is what without_guards.py finds out."""

from pathlib import Path

import pytest

from .guards import GUARDS, Guard

TOP = Path(__file__).parents[2]


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.fault)
def test_a_guard_is_where_the_list_says(guard: Guard) -> None:
    assert (TOP / guard.file).read_text().count(guard.has) == 1
    for test in guard.tests:
        file, _, name = test.partition("::")
        assert f"def {name.partition('[')[0]}(" in (TOP / file).read_text()


def test_the_page_lists_every_guard() -> None:
    page = (TOP / "docs" / "yarn-faults.md").read_text()
    for guard in GUARDS:
        assert guard.fault in page
        assert f"`{guard.where}`" in page
