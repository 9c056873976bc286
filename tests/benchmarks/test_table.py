"""Rows of `heddle bench`."""

from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.bridge_latency import Cost as BridgeCost
from benchmarks.bridge_latency import NamedAfter, PutCost
from benchmarks.knobs import POLICIES, Cost
from benchmarks.loaded_rm import Load, Updates

from benchmarks import table
from heddle.model.errors import RunRefused


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


@pytest.mark.parametrize(("us", "ratio", "met"), [(50.0, 1.5, True), (50.1, 1.51, False)])
def test_what_the_bridge_costs_is_held_against_its_targets(
    us: float, ratio: float, met: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cost(load: Load, seconds: float) -> BridgeCost:
        stock, bridged = Updates(1000, 100_000, 0, 0), Updates(1000, round(100_000 * ratio), 0, 0)
        return BridgeCost(load, stock, bridged, 1000, us, 64.0, 1000.0)

    monkeypatch.setattr(table, "measure_bridge", cost)
    monkeypatch.setattr(table, "measure_put", lambda: PutCost(4 << 20, 300.0, 100.0 if met else 101.0, 200.0))
    monkeypatch.setattr(table, "measure_long_poll", lambda seconds: NamedAfter(40, 30.0 if met else 31.0, 200.0))
    rows = list(table._bridge(replace(table.QUICK, bridge=(Load(10, 1), Load(100, 10)), bridge_s=1), Path()))
    assert [row.met for row in rows] == [None, met, met, met, True, met, met, True]
    assert list(table._bridge(table.QUICK, Path())) == []


def test_without_java_the_bridge_is_not_measured_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(load: Load, seconds: float) -> BridgeCost:
        raise RunRefused("no Java")

    monkeypatch.setattr(table, "measure_bridge", refuse)
    (row,) = table._bridge(replace(table.QUICK, bridge=(Load(10, 1),)), Path())
    assert (row.met, row.note) == (None, "not measured: no Java")
