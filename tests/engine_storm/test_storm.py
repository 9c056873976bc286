"""A short storm; and a storm tells what is wrong, goes on where it was, and outlives a run that kills its process."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from . import storm
from .policies import with_placement
from .runs import NETWORK_AWARE_FROM, storm_run
from .storm import Tally, some_runs, wrong_with

WITH_NETWORK_AWARE = range(NETWORK_AWARE_FROM, NETWORK_AWARE_FROM + 40)


@pytest.mark.parametrize(
    ("against", "numbers"), [("check", range(80)), ("reference", range(40)), ("reference", WITH_NETWORK_AWARE)]
)
def test_a_short_storm(against: str, numbers: range) -> None:
    tally = some_runs(against, numbers)
    assert tally.failures == {}
    assert tally.runs > 0.8 * len(numbers)


def test_some_of_it_is_network_aware() -> None:
    policies = [run.policy for number in WITH_NETWORK_AWARE if (run := storm_run(number, knows_reference=True))]
    assert 8 < sum("network-aware" in policy for policy in policies) < 32


@pytest.mark.parametrize("number", [1888, 2799, 3834, 4581, 6179, 6969, 6970, 9801, 10736, 13347, 21465, 31615])
def test_what_once_differed_from_the_reference(number: int) -> None:
    assert some_runs("reference", range(number, number + 1)).failures == {}


@pytest.mark.parametrize("number", [40046, 40287])
def test_early_binding_where_nodes_are_lost(number: int) -> None:
    """Once a task is bound anew it is the last one bound, and whatever runs already reads from there (40046)."""
    run = storm_run(number, knows_reference=True)
    assert run is not None
    policy = with_placement(run.policy, "network-aware(early=true,by=load)")
    assert wrong_with(replace(run, policy=policy), "reference")[1] == []


def test_the_same_number_is_the_same_run() -> None:
    one, other = (storm_run(7, knows_reference=False) for _ in range(2))
    assert one is not None
    assert other is not None
    assert (one.policy, one.cluster, one.seed) == (other.policy, other.cluster, other.seed)


def wrong_from_three_on(run: object, against: str) -> tuple[str, list[str]]:
    number = run.number  # type: ignore[attr-defined]
    if number == 5:
        os._exit(1)
    return "finished", ["two at once"] if number == 3 else []


def test_what_is_wrong_is_told_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storm, "AT_ONCE", 4)
    monkeypatch.setattr(storm, "wrong_with", wrong_from_three_on)
    state = tmp_path / "state.json"
    tally = storm._storm("check", 0, 10, state, 1)
    assert {number: found[-1] for number, found in tally.failures.items()} == {
        "3": "two at once",
        "5": "its process died",
    }
    assert Tally(**json.loads(state.read_text())) == tally
    again = storm._storm("check", 0, tally.runs + 1, state, 1)
    assert again.next_number > tally.next_number
    assert set(again.failures) == {"3", "5"}
