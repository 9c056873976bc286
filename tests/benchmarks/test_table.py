"""Rows of `heddle bench`."""

from pathlib import Path

import pytest
from benchmarks.knobs import POLICIES, Cost

from benchmarks import table


@pytest.mark.parametrize(("knobs_ms", "tick_ms", "met"), [(40.0, 0.15, True), (60.0, 0.16, False)])
def test_what_knobs_cost_is_held_against_its_targets(
    knobs_ms: float, tick_ms: float, met: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "measure_knobs", lambda policy, repetitions: Cost(10.0, knobs_ms, 100, tick_ms))
    rows = list(table._knobs(table.QUICK, Path()))
    assert [row.met for row in rows] == [met] * 2 * len(POLICIES)


@pytest.mark.parametrize(("steps", "met"), [(300.0, True), (299.0, False)])
def test_steps_of_the_storm_are_held_against_their_target(
    steps: float, met: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "measure_storm", lambda repetitions: steps)
    assert [row.met for row in table._storm(table.QUICK, Path())] == [met]
    assert table._storm in table.PARTS
