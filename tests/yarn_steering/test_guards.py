"""The list of guards is about this code and these tests; whether tests notice is what without_guards.py finds out."""

from pathlib import Path

import pytest

from .guards import GUARDS, Guard
from .storm_finds import BELOW, FOUND, MISSED, MOST_STEPS, NEEDS, in_words, is_below

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


def test_of_every_guard_it_is_known_whether_the_storm_finds_that_it_is_gone() -> None:
    faults = [guard.fault for guard in GUARDS]
    assert {*FOUND, *MISSED, *BELOW, *NEEDS} <= {*faults}
    for guard in GUARDS:
        assert [guard.fault in FOUND, guard.fault in MISSED, is_below(guard)].count(True) == 1, guard.fault


def test_steps_are_of_storms_that_end() -> None:
    """The last of them begins before MOST_STEPS."""
    assert min(FOUND.values()) > 0
    assert max(FOUND.values()) < MOST_STEPS + 1000


@pytest.mark.parametrize("guard", [one for one in GUARDS if one.fault in MISSED], ids=lambda guard: guard.fault)
def test_what_the_storm_misses_has_a_test_that_runs_everywhere(guard: Guard) -> None:
    assert any(not test.startswith("tests/yarn_real/") for test in guard.tests)


def test_the_page_says_what_the_storm_finds() -> None:
    """If it does not: python -m tests.yarn_steering.storm_finds"""
    assert in_words() in (TOP / "docs" / "yarn-faults.md").read_text()
